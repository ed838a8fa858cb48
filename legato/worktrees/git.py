"""Runs git, with nothing around it that could change what a command means."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from domain.errors import Kind, LegatoError, refused
from legato.settings import child_environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LIMIT = 120.0
_SAID = 1500
_UNTRUSTED = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "safe.bareRepository=explicit", "-c", "credential.helper=", "-c", "core.askPass="),
    *("-c", "commit.gpgSign=false", "-c", "log.showSignature=false"),
)
"""No hook, monitor, helper or signature: they run programs that an agent may have named.

Filters cannot be switched off without harm; `config` refuses those of a repository.
"""

_QUIET = ("-c", "advice.detachedHead=false", "-c", "core.pager=cat")
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_SSH_COMMAND": "ssh"}
"""Nothing is fetched, as fetching runs what remotes name."""


class GitError(LegatoError):
    """A git command failed; `said` is what it printed."""

    def __init__(self, arguments: tuple[str, ...], said: str) -> None:
        super().__init__(
            "git_failed",
            f"`git {shlex.join(arguments[:1])}` failed.",
            kind=Kind.REFUSED,
            cause=said,
            next="mend what git says and run the command again",
        )
        self.arguments = arguments
        self.said = said


def git(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a git command in a folder and return what it printed, without the last line end.

    Raises:
        GitError: where it fails.
        LegatoError: `git_missing`.

    """
    program = shutil.which("git")
    if program is None:
        raise LegatoError(
            "git_missing",
            "The program `git` is not installed.",
            cause="there is no git on the PATH",
            next="install git and run the command again",
        )
    try:
        done = subprocess.run(
            (program, *_UNTRUSTED, *_QUIET, *arguments),
            cwd=folder,
            env={**_clean(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise GitError(arguments, f"it did not end within {_LIMIT:.0f} s") from None
    except OSError as problem:
        raise GitError(arguments, f"it cannot be started in {folder}: {problem.strerror}") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise GitError(arguments, said[-_SAID:])
    return done.stdout.decode("utf-8", "replace").removesuffix("\n")


def git_failed(error: GitError, what: str, next_step: str) -> LegatoError:
    """Say in our words that git failed, with its own words as the cause."""
    return refused(
        "git_failed",
        f"{what}: `git {error.arguments[0]}` failed.",
        cause=error.said,
        next=next_step,
    )


def _clean() -> dict[str, str]:
    """Drop what would point git elsewhere or have it ask a question."""
    own = {k: v for k, v in child_environment().items() if not k.startswith("GIT_")}
    own |= _NO_TRANSPORT
    return {**own, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
