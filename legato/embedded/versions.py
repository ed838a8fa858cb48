"""The versions of what runs, for the state file and for reports."""

from __future__ import annotations

import importlib.metadata
import platform


def own_versions() -> dict[str, str]:
    """Name the versions of Legato and of the interpreter; "" where Legato is not installed."""
    try:
        legato = importlib.metadata.version("legato")
    except importlib.metadata.PackageNotFoundError:
        legato = ""
    return {"legato": legato, "python": platform.python_version()}
