"""The command line: `main` is the program."""

from __future__ import annotations

from .program import main

__all__ = ["main"]
