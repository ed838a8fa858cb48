"""Pure decisions and data: no I/O, clock, randomness, Temporal or SQL."""
