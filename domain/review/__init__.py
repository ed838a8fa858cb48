"""What is found wrong, who took it on, and what was done about it."""
