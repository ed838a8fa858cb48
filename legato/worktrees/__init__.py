"""Git trees for runs: made before a run, committed after it, each step repeatable."""

from __future__ import annotations

from .changes import RUN_TRAILER, Change, File, commit_changes, show_changes
from .make import (
    Repository,
    find_repository,
    forget_snapshot,
    make_snapshot,
    make_worktree,
    remove_worktree,
)
from .place import Tree, branch_of, load_tree, tree_after
from .removal import removal_command, standing

__all__ = [
    "RUN_TRAILER",
    "Change",
    "File",
    "Repository",
    "Tree",
    "branch_of",
    "commit_changes",
    "find_repository",
    "forget_snapshot",
    "load_tree",
    "make_snapshot",
    "make_worktree",
    "removal_command",
    "remove_worktree",
    "show_changes",
    "standing",
    "tree_after",
]
