"""What an agent is: definition, roles, profile, skills and their sources."""
