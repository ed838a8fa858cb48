"""MCP servers: how they are declared, what was accepted of their tools, and what becomes of it."""
