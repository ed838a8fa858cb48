"""Paths as a person writes them here, made such that a process elsewhere finds them."""

from __future__ import annotations

import os

from domain.runs.model_name import Provider, parse_model


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
