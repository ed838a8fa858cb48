"""The HTTP door: what programs and pages on this machine read of runs."""
