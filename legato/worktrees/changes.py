"""What a run changed in its tree: shown, and on a worktree's branch committed."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import refused

from .config import require_no_programs, require_same_config
from .git import GitError, git, git_failed
from .objects import index_file, places, tree_object
from .place import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN_TRAILER = "Legato-Run"
_NOBODY = {"NAME": "Legato", "EMAIL": "legato@localhost"}


@dataclass(frozen=True, slots=True)
class File:
    """One changed file; `added` and `removed` count lines, None for a binary one."""

    path: str
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """What a run changed. `commit` is "" where nothing was committed."""

    tree: Tree
    commit: str
    files: tuple[File, ...]
    diff: str

    @property
    def stat(self) -> str:
        """Sum it up in one line."""
        added = sum(file.added or 0 for file in self.files)
        removed = sum(file.removed or 0 for file in self.files)
        many = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
        return f"{many} changed, {added} lines added, {removed} removed"

    @property
    def merge(self) -> str:
        """Give the command that takes the changes over; "" where there is nothing to merge."""
        if not self.commit:
            return ""
        return shlex.join(("git", "-C", self.tree.repository, "merge", self.tree.branch))

    @property
    def drop(self) -> str:
        """Give the command that removes worktree and branch again; "" in place."""
        if not self.tree.branch:
            return ""
        start = ("git", "-C", self.tree.repository)
        remove = shlex.join((*start, "worktree", "remove", "--force", self.tree.top))
        return f"{remove} && {shlex.join((*start, 'branch', '-D', self.tree.branch))}"


def commit_changes(
    home: Path, tree: Tree, message: str, trailers: Sequence[str], *, trust_config: bool = False
) -> Change:
    """Commit what a run changed in its worktree to its branch; a second time changes nothing.

    The commit is made without hooks and signatures. The run's own commits are kept before it.

    Raises:
        LegatoError: `git_failed`, `git_config_changed`, `git_config_runs_programs`,
            `worktree_gone`.

    """
    if not trust_config:
        require_same_config(tree)
        require_no_programs(Path(tree.repository))
    try:
        tip = _tip(tree)
        if not _is_ours(tree, tip):
            _require_there(tree)
            tip = _commit(home, tree, tip, "\n\n".join((message, "\n".join(trailers))))
        return _change(tree, tip if tip != tree.base else "", tip)
    except GitError as error:
        raise git_failed(
            error,
            f"What the run changed in {tree.top} could not be committed",
            f"mend what git says, then run `legato review-fix --finish {tree.run_id}`",
        ) from None


def show_changes(home: Path, tree: Tree) -> Change:
    """Show what changed in a tree since the run began; nothing is committed.

    Raises:
        LegatoError: `git_failed`, `git_config_changed`, `git_config_runs_programs`,
            `worktree_gone`.

    """
    require_same_config(tree)
    _require_there(tree)
    require_no_programs(Path(tree.top), places(tree))
    try:
        return _change(tree, "", tree_object(home, tree))
    except GitError as error:
        raise git_failed(
            error, f"The tree {tree.top} cannot be read", "look at it with git yourself"
        ) from None


def _require_there(tree: Tree) -> None:
    if not Path(tree.top).is_dir():
        raise refused(
            "worktree_gone",
            f"The worktree {tree.top} is no longer there.",
            cause="it was removed before what the run changed was committed",
            next=f"look at the branch {tree.branch}, or start a new run",
        )


def _tip(tree: Tree) -> str:
    named = git(
        Path(tree.repository),
        *("for-each-ref", "--format=%(objectname)", f"refs/heads/{tree.branch}"),
    )
    return named or tree.base


def _is_ours(tree: Tree, tip: str) -> bool:
    """Tell whether an earlier call made its commit: the tip, or one that others stand on."""
    form = f"--format=%(trailers:key={RUN_TRAILER},valueonly)"
    made = git(Path(tree.repository), "log", form, f"{tree.base}..{tip}")
    return tree.run_id in made.split()


def _commit(home: Path, tree: Tree, tip: str, message: str) -> str:
    """Commit the tree as it stands, whatever its own index and HEAD say."""
    written = tree_object(home, tree)
    repository = Path(tree.repository)
    if written == git(repository, "rev-parse", f"{tip}^{{tree}}") and tip == tree.base:
        return tip
    arguments = ("commit-tree", written, "-p", tip, "-m", message)
    commit = git(repository, *arguments, environment=_author(repository))
    if _on_branch(tree):
        _show_as_committed(home, tree)
    git(repository, "update-ref", f"refs/heads/{tree.branch}", commit)
    return commit


def _on_branch(tree: Tree) -> bool:
    try:
        head = git(Path(tree.top), "symbolic-ref", "HEAD", environment=places(tree))
    except GitError:
        return False
    return head == f"refs/heads/{tree.branch}"


def _show_as_committed(home: Path, tree: Tree) -> None:
    """Give the worktree our index, so that it has no changes against the commit."""
    draft = Path(tree.own_git, "index.legato")
    shutil.copyfile(index_file(home, tree), draft)
    draft.replace(Path(tree.own_git, "index"))


def _author(repository: Path) -> dict[str, str]:
    """Name whom git would name; where it knows nobody, ourselves."""
    values: dict[str, str] = {}
    for who in ("AUTHOR", "COMMITTER"):
        try:
            git(repository, "var", f"GIT_{who}_IDENT")
        except GitError:
            values |= {f"GIT_{who}_{what}": value for what, value in _NOBODY.items()}
    return values


def _change(tree: Tree, commit: str, end: str) -> Change:
    repository = Path(tree.repository)
    plain = ("diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")
    counts = git(repository, *plain, "--numstat", "-z", tree.base, end)
    files = tuple(_file(row) for row in counts.split("\0") if row)
    return Change(tree, commit, files, git(repository, *plain, tree.base, end))


def _file(row: str) -> File:
    added, removed, path = row.split("\t", 2)
    binary = added == "-"
    return File(path, None if binary else int(added), None if binary else int(removed))
