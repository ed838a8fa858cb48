"""Finds the checks and fixers that a workspace is already set up for; runs none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .found import Found, joined
from .makefile import find_in_makefile
from .node import find_in_node
from .python import find_in_python

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Found", "detect"]


def detect(folder: Path, search_path: str) -> Found:
    """Look a workspace through; `search_path` is the PATH that its commands will have.

    Test commands of Python and of Node are both taken; a Makefile's only where neither
    is set up for any, for it would run the same tests again. It comes before a guess.
    """
    python, node = find_in_python(folder, search_path), find_in_node(folder, search_path)
    made = find_in_makefile(folder, search_path)
    if made.tests and python.guessed:
        python = python.without_tests()
    elif python.tests or node.tests:
        made = made.without_tests()
    return joined(python, node, made)
