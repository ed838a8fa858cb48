"""Tells whether git's configuration of a tree is still the one from before the run."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import refused

from .git import git

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .place import Tree

_PROGRAMS = re.compile(
    r"filter\..*\.(clean|smudge|process)|"
    r"lfs\.(standalonetransferagent|(.*\.)?customtransfer\..*|extension\..*)"
)
_LARGE_FILES = re.compile(r"git-lfs (clean -- %f|smudge (--skip )?-- %f|filter-process( --skip)?)")
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


def require_no_programs(folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Refuse a repository whose own configuration has git run programs that we cannot switch off.

    Those are filters and what git-lfs can be told to run; git-lfs itself is accepted, and so
    is all that the user's own configuration names.

    Raises:
        LegatoError: `git_config_runs_programs`.

    """
    listed = git(folder, "config", "--list", "--show-scope", "-z", environment=environment)
    words = listed.split("\0")
    found = sorted(
        {
            entry.partition("\n")[0]
            for scope, entry in zip(words[::2], words[1::2], strict=False)
            if scope in {"local", "worktree"} and _runs_a_program(*entry.partition("\n")[::2])
        }
    )
    if found:
        raise refused(
            "git_config_runs_programs",
            f"The git configuration of {folder} has git run programs: {', '.join(found)}.",
            cause="a repository's own configuration may have been written by a command of a run",
            next=(
                "look at them (git config --show-origin --get-regexp '^(filter|lfs)'); take away "
                "what you do not know, and move what is yours to your own with git config --global"
            ),
            details={"problems": found},
        )


def _runs_a_program(key: str, value: str) -> bool:
    return bool(value and _PROGRAMS.fullmatch(key) and not _LARGE_FILES.fullmatch(value))
