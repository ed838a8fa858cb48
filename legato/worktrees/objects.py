"""Reads a working tree into git objects through an index of our own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .git import git
from .place import folder_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .place import Tree


_CACHES = (
    *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"),
    *("node_modules", ".venv"),
)
"""What well-known tools write beside the files they work on, whether git ignores it or not."""

WITHOUT_CACHES = (":(top)", *(f":(exclude,top,glob)**/{name}/**" for name in _CACHES))
"""The paths of a whole tree without such caches: for what git does not track yet."""


def places(tree: Tree) -> dict[str, str]:
    """Tell git where things are; the worktree's `.git`, which commands can write, is not asked."""
    return {
        "GIT_DIR": tree.own_git,
        "GIT_COMMON_DIR": tree.common,
        "GIT_WORK_TREE": tree.top,
    }


def index_file(home: Path, tree: Tree) -> Path:
    """Tell where our index is: locks and marks in the tree's own have no effect on it."""
    return folder_of(home, tree.run_id) / "index"


def tree_object(home: Path, tree: Tree) -> str:
    """Write the tree as it stands; gives the object.

    Left out are ignored files, our links, caches that the tree did not track before, and
    what is in submodules: to look at one, git would run what that one's configuration names.
    """
    index = index_file(home, tree)
    index.unlink(missing_ok=True)
    with_index: Mapping[str, str] = {**places(tree), "GIT_INDEX_FILE": os.fspath(index)}
    top = Path(tree.top)
    git(top, "read-tree", tree.base or "HEAD", environment=with_index)
    without = [f":(exclude,top,literal){name}" for name in tree.linked]
    without += _submodules(top, with_index)
    git(top, "add", "--all", "--", *WITHOUT_CACHES, *without, environment=with_index)
    without += _submodules(top, with_index)  # those that are new
    git(top, "add", "--update", "--", ":(top)", *without, environment=with_index)
    return git(top, "write-tree", environment=with_index)


def _submodules(top: Path, environment: Mapping[str, str]) -> list[str]:
    """Leave out what the index holds as a repository of its own."""
    rows = git(top, "ls-files", "--stage", "-z", "--full-name", environment=environment)
    links = [row for row in rows.split("\0") if row.startswith("160000 ")]
    return [f":(exclude,top,literal){row.partition(chr(9))[2]}" for row in links]
