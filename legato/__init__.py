"""What a person or a program touches: settings, client, commands, the embedded stack."""
