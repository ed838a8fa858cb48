"""What of a workspace would have programs run later, outside, and so is no command's to write.

Git runs what its configuration and hooks name, for the user and for Legato; `.legato` says
what Legato does here. A command that could write them would be out of its confinement
at the next `git status`. They are read-only to a writer, and what is missing of them stands
there empty for as long as it runs, so that it cannot be made. Not covered: a repository that a
command makes in a sub-folder or in a workspace that has none (git runs what its
configuration names for whoever goes there), files that the configuration names inside
the working tree (hooks under a `core.hooksPath` of the repository), what stands
behind a symbolic link in the place of one of these, and an unfinished rebase's list of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDERS = ("hooks", "info", "modules", "worktrees")
_OF_COMMON = ("config", "config.worktree", "commondir", *_FOLDERS)
_OF_LINKED = ("config.worktree", "commondir", "gitdir")
_ITSELF = ".\n"  # what `commondir` says where git finds everything in its own folder


@dataclass(frozen=True)
class GitFolders:
    """The git folder of a workspace: `own` stands in `common` where it is a linked worktree."""

    common: str
    own: str

    @property
    def linked(self) -> bool:
        """Whether the workspace is a linked worktree."""
        return self.common != self.own


@dataclass(frozen=True)
class Missing:
    """A path that is to stand while a command runs: a file with a text, or (None) a folder."""

    path: str
    text: str | None


def git_folders(workspace: str) -> GitFolders | None:
    """Find the git folder of a workspace; None where it is not the top of a working tree.

    The `.git` file of a linked worktree may have been written by anyone, so it alone opens
    nothing: the folder it names must stand in the shared one's `worktrees` and name this
    worktree back.
    """
    place = Path(workspace, ".git")
    if place.is_dir():
        return None if place.is_symlink() else GitFolders(str(place), str(place))
    try:
        text = place.read_text()
        own = Path(workspace, text.removeprefix("gitdir:").strip()).resolve(strict=True)
        back = Path(own, (own / "gitdir").read_text().strip()).resolve(strict=True)
    except (OSError, ValueError):
        return None
    if own.parent.name != "worktrees" or back != place:
        return None
    return GitFolders(str(own.parent.parent), str(own))


def sealed(workspace: str, git: GitFolders | None) -> tuple[str, ...]:
    """List what a writer must not write in a workspace, whether it exists or not."""
    found = [Path(workspace, ".legato")]
    if Path(workspace, ".git").is_file():
        found.append(Path(workspace, ".git"))
    if git:
        found += [Path(git.common, name) for name in _OF_COMMON]
        if git.linked:
            found += [Path(git.own, name) for name in _OF_LINKED]
    return tuple(map(str, found))


def missing(workspace: str, git: GitFolders | None) -> tuple[Missing, ...]:
    """List what must be there to be read-only, in a shape that says nothing to git."""
    found = [Missing(str(Path(workspace, ".legato")), None)]
    if git:
        found += [Missing(str(Path(git.common, name)), None) for name in _FOLDERS]
        found.append(Missing(str(Path(git.common, "commondir")), _ITSELF))
        folders = dict.fromkeys((git.common, git.own))
        found += [Missing(str(Path(folder, "config.worktree")), "") for folder in folders]
    return tuple(found)
