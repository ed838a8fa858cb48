"""The rows of the table of roles, one file a concern."""
