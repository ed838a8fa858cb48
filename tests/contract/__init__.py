"""One suite per port, run against each implementation."""
