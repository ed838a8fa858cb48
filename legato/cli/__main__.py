"""Starts the program where its script is not installed: `python -m legato.cli`."""

from legato.cli import main

if __name__ == "__main__":
    main()
