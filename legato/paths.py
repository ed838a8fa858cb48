"""Paths as they are found from everywhere, and folders that are ours alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.runs.model_name import Provider, parse_model

if TYPE_CHECKING:
    from pathlib import Path


def absolute(path: str) -> str:
    """Write a path as it is found from here, links resolved; "" stays ""."""
    return os.path.realpath(os.path.expanduser(path)) if path else ""  # noqa: PTH111 - text in, text out


def absolute_model(name: str) -> str:
    """Write a script's file as it is found from here; other names stay, "" too.

    Raises `model_unknown`.
    """
    if not name:
        return ""
    parsed = parse_model(name)
    return f"script:{absolute(parsed.model)}" if parsed.provider is Provider.SCRIPT else name


def make_private(folder: Path) -> None:
    """Make a folder in LEGATO_HOME, and whatever is missing above it, for this user alone.

    Raises `home_unusable`.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for one in reversed(missing):
            one.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise LegatoError(
            "home_unusable",
            f"The folder {folder} cannot be made.",
            cause=str(error),
            next="set LEGATO_HOME to a folder that you can write to",
        ) from None
