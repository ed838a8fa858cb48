"""Import directions, packaging, sizes, names and purity."""
