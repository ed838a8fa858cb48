"""Makes a run's tree before the run, and removes one that came to nothing."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import refused
from legato.paths import make_private

from .config import config_digest, require_no_programs
from .git import GitError, git, git_failed
from .objects import WITHOUT_CACHES, tree_object
from .place import Tree, branch_of, folder_of, load_tree, save_tree

if TYPE_CHECKING:
    from domain.errors import LegatoError

_DEPENDENCIES = (".venv", "venv", "node_modules")
"""What git ignores and commands need: linked into a worktree, never committed."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as a run finds it; `prefix` is the workspace's place in it, "" for its top."""

    top: str
    common: str
    own_git: str
    prefix: str
    head: str
    uncommitted: int


def find_repository(folder: Path) -> Repository:
    """Look at the repository that a folder stands in.

    Raises:
        LegatoError: `not_a_repository`, `repository_not_trusted`, `no_commits`, `git_missing`,
            `git_config_runs_programs`, `git_failed`.

    """
    try:
        top = git(folder, "rev-parse", "--show-toplevel")
        common = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
        own_git = git(folder, "rev-parse", "--absolute-git-dir")
    except GitError as error:
        raise _no_repository(folder, error) from None
    require_no_programs(folder)
    try:
        head = git(folder, "rev-parse", "--verify", "HEAD^{commit}")
    except GitError:
        raise refused(
            "no_commits",
            f"The repository {top} has no commit yet, so there is nothing to branch from.",
            cause="HEAD names no commit",
            next="commit what you have (git add -A && git commit), or use --in-place",
        ) from None
    return Repository(
        top=top,
        common=common,
        own_git=own_git,
        prefix="" if str(folder) == top else os.path.relpath(folder, top),
        head=head,
        uncommitted=_uncommitted(folder),
    )


def _uncommitted(folder: Path) -> int:
    """Count what is not committed; caches that git does not track are nobody's changes."""
    status = ("status", "--porcelain", "--ignore-submodules=dirty")
    tracked = git(folder, *status, "--untracked-files=no").splitlines()
    others = git(folder, *status, "--untracked-files=normal", "--", *WITHOUT_CACHES).splitlines()
    return len(tracked) + sum(line.startswith("??") for line in others)


def _no_repository(folder: Path, error: GitError) -> LegatoError:
    if "dubious ownership" in error.said:
        return refused(
            "repository_not_trusted",
            f"git does not trust the repository in {folder}: another user owns it.",
            cause=error.said,
            next="run it as the owner, or add the folder to git's safe.directory",
        )
    return refused(
        "not_a_repository",
        f"{folder} is not in the working tree of a git repository.",
        cause=error.said,
        next="make it one (git init && git add -A && git commit), or use --in-place",
    )


def make_worktree(home: Path, run_id: str, repository: Repository) -> Tree:
    """Make a run's worktree on a branch of its own; again under the same run, give the first.

    Raises:
        LegatoError: `git_failed`.

    """
    tree = load_tree(home, run_id)
    if tree is None:
        tree = _planned(home, run_id, repository)
        save_tree(home, tree)
    if not tree.own_git:
        try:
            tree = _made(tree)
        except GitError as error:
            raise git_failed(
                error,
                f"No worktree could be made of {repository.top}",
                "mend what git says and run the command again, or use --in-place",
            ) from None
        save_tree(home, tree)
    return tree


def make_snapshot(home: Path, run_id: str, repository: Repository, folder: Path) -> Tree:
    """Remember how the user's own tree stands, to show afterwards what a run changed in it.

    Raises:
        LegatoError: `git_failed`.

    """
    tree = replace(
        _planned(home, run_id, repository),
        top=repository.top,
        own_git=repository.own_git,
        workspace=str(folder),
        branch="",
    )
    make_private(folder_of(home, run_id))
    try:
        tree = replace(tree, base=tree_object(home, tree))
    except GitError as error:
        raise git_failed(
            error, f"The tree {repository.top} cannot be read", "mend what git says, then run again"
        ) from None
    save_tree(home, tree)
    return tree


def forget_snapshot(home: Path, tree: Tree) -> None:
    """Remove what was remembered of a user's own tree; the tree itself stays, again is nothing."""
    shutil.rmtree(folder_of(home, tree.run_id), ignore_errors=True)


def remove_worktree(home: Path, tree: Tree) -> None:
    """Remove a worktree and its branch, where neither holds anything; again is nothing.

    Raises:
        LegatoError: `git_failed`.

    """
    repository = Path(tree.repository)
    try:
        if Path(tree.top).exists():
            git(repository, "worktree", "remove", "--force", tree.top)
        if git(repository, "for-each-ref", f"refs/heads/{tree.branch}"):
            git(repository, "branch", "--delete", "--force", tree.branch)
    except GitError as error:
        raise git_failed(
            error, f"The worktree {tree.top} could not be removed", "remove it with git yourself"
        ) from None
    shutil.rmtree(folder_of(home, tree.run_id))


def _planned(home: Path, run_id: str, repository: Repository) -> Tree:
    top = folder_of(home, run_id) / Path(repository.top).name
    return Tree(
        run_id=run_id,
        repository=repository.top,
        common=repository.common,
        top=str(top),
        own_git="",
        workspace=str(top / repository.prefix),
        branch=branch_of(run_id),
        base=repository.head,
        config="",
        uncommitted=repository.uncommitted,
    )


def _made(tree: Tree) -> Tree:
    """Make branch and worktree, whichever of them is not there yet."""
    repository = Path(tree.repository)
    if not git(repository, "for-each-ref", f"refs/heads/{tree.branch}"):
        git(repository, "branch", "--no-track", tree.branch, tree.base)
    if not Path(tree.top, ".git").exists():
        git(repository, "worktree", "add", "--force", tree.top, tree.branch)
    own_git = git(Path(tree.top), "rev-parse", "--absolute-git-dir")
    linked = _link_dependencies(tree)
    tree = replace(tree, own_git=own_git, linked=linked)
    return replace(tree, config=config_digest(tree))


def _link_dependencies(tree: Tree) -> tuple[str, ...]:
    top, repository = Path(tree.top), Path(tree.repository)
    prefixes = dict.fromkeys((Path(), Path(tree.workspace).relative_to(top)))
    names = [str(prefix / name) for prefix in prefixes for name in _DEPENDENCIES]
    linked: list[str] = []
    for name in names:
        target = top / name
        if target.is_symlink() and target.readlink() == repository / name:
            linked.append(name)  # by an earlier attempt
        elif (repository / name).is_dir() and target.parent.is_dir() and not target.exists():
            target.symlink_to(repository / name)
            linked.append(name)
    return tuple(linked)
