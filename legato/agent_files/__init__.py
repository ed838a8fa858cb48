"""Agent files from folders and from a remote source, and what is told about them."""
