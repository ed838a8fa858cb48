"""What a tool is: registry, effective view, argument schemas and results."""
