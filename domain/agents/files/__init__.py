"""Agent files: named specialists as their authors write them, read without trusting the author."""
