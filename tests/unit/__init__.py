"""Pure logic: given, when, then."""
