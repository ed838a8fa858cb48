"""Test kits for whoever implements a port of Legato. They need no test framework."""
