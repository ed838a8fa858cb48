"""What several tests need: servers, builders and probes."""
