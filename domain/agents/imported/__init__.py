"""What other programs saved of their agents: read as it is, with a report of what was lost."""
