"""The client of MCP servers: what goes over the wire, what is asked, how a call is run."""
