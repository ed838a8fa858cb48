"""The trees that stand in a home, and the command with which a person removes one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from .git import GitError, git
from .place import folder_of, load_tree

if TYPE_CHECKING:
    from .place import Tree


def standing(home: Path, most: int) -> dict[str, float]:
    """List at most so many runs whose trees stand here, with when each was last written.

    The youngest come first; times are seconds since 1970, UTC.
    """
    found = dict[str, float]()
    for folder in folder_of(home, "x").parent.glob("*-*"):
        try:
            found[folder.name] = folder.stat().st_mtime
        except OSError:
            continue
    return dict(sorted(found.items(), key=lambda one: -one[1])[:most])


def removal_command(home: Path, run_id: str) -> str:
    """Write the command that removes whatever there is of a run's tree, its branch too."""
    tree = load_tree(home, run_id)
    steps = [] if tree is None or not tree.branch else _in_git(tree)
    steps.append(shlex.join(("rm", "-r", str(folder_of(home, run_id)))))
    return " && ".join(steps)


def _in_git(tree: Tree) -> list[str]:
    start = ("git", "-C", tree.repository)
    steps: list[str] = []
    if Path(tree.top, ".git").exists():
        steps.append(shlex.join((*start, "worktree", "remove", "--force", tree.top)))
    if _has_branch(tree):
        steps.append(shlex.join((*start, "branch", "-D", tree.branch)))
    return steps


def _has_branch(tree: Tree) -> bool:
    try:
        return bool(git(Path(tree.repository), "for-each-ref", f"refs/heads/{tree.branch}"))
    except GitError:  # the repository is gone, and the branch with it
        return False
