"""Tells whether git's configuration of a tree is still the one from before the run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import refused

if TYPE_CHECKING:
    from .place import Tree

_FILES = ("config", "config.worktree", "info/attributes")


def config_digest(tree: Tree) -> str:
    """Digest what git is told by files that commands of a run could have written."""
    digest = hashlib.sha256()
    for folder in (tree.common, tree.own_git):
        for name in _FILES:
            try:
                content = Path(folder, name).read_bytes()
            except OSError:
                content = b""
            digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def require_same_config(tree: Tree) -> None:
    """Refuse to run git on a configuration that may have been written by the run.

    Git starts programs that its configuration names; an agent's commands may write the
    git folder that a worktree shares.

    Raises:
        LegatoError: `git_config_changed`.

    """
    if tree.config and config_digest(tree) != tree.config:
        raise refused(
            "git_config_changed",
            f"The git configuration of {tree.repository} changed since the run began.",
            cause=f"config or info/attributes in {tree.common} differ; git runs what they name",
            next=(
                f"look at them; then commit by hand in {tree.top}, or run "
                f"`legato review-fix --finish {tree.run_id} --accept-config`"
            ),
        )
