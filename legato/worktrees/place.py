"""What is known of the tree that one run changes, and the file that keeps it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from legato.paths import make_private

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FILE = "tree.json"
_TOLD_APART = 18  # the time and twelve random bits


@dataclass(frozen=True, slots=True)
class Tree:
    """The working tree that one run changes: a git worktree, or in place the user's own.

    `repository` is the top of the user's working tree, `common` its git folder, `top` the
    top of the tree that is changed, `own_git` that tree's git folder, and `workspace` the
    folder in it that the run works in. `branch` is "" in place. `base` is what changes are
    shown against: the commit that a worktree began at, in place the tree object of how it
    stood. `config` is the digest of git's configuration then. `linked` names what stands in
    a worktree as a link into the repository and is never committed. `uncommitted` counts
    the user's own changes at the beginning.
    """

    run_id: str
    repository: str
    common: str
    top: str
    own_git: str
    workspace: str
    branch: str
    base: str
    config: str
    linked: tuple[str, ...] = ()
    uncommitted: int = 0


def branch_of(run_id: str) -> str:
    """Name the branch of a run by a beginning of its id that no other run shares."""
    return f"legato/{run_id[:_TOLD_APART]}"


def folder_of(home: Path, run_id: str) -> Path:
    """Tell where what belongs to a run's tree stands."""
    return home / "worktrees" / run_id


def load_tree(home: Path, run_id: str) -> Tree | None:
    """Read what is known of a run's tree; None where nothing is."""
    file = folder_of(home, run_id) / _FILE
    try:
        written: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Tree(linked=tuple(written.pop("linked")), **written)


def tree_after(home: Path, run_id: str, before: Sequence[str]) -> Tree | None:
    """Read what is known of a run's tree; one that goes on from others takes theirs over."""
    tree = load_tree(home, run_id)
    if tree is not None:
        return tree
    for earlier in before:
        found = load_tree(home, earlier)
        if found is not None:
            tree = replace(found, run_id=run_id)
            save_tree(home, tree)
            return tree
    return None


def save_tree(home: Path, tree: Tree) -> None:
    """Write down what is known of a run's tree, whole or not at all."""
    folder = folder_of(home, tree.run_id)
    make_private(folder)
    draft = folder / f"{_FILE}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(tree), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _FILE)
