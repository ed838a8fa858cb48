"""What the built-in roles are told, one file a concern."""
