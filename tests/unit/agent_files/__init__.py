"""Agent files: the parser, the sources, the program."""
