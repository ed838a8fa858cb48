"""From recorded events to the rows that lists are read from."""
