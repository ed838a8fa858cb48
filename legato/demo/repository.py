"""Lays down the small repository that the demo works on."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, cast

import yaml

from legato.worktrees.git import git

if TYPE_CHECKING:
    from pathlib import Path

_WHO = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost")


def demo_files() -> dict[str, str]:
    """Read the repository's files, by path."""
    text = files("legato.demo").joinpath("repository.yaml").read_text(encoding="utf-8")
    document = cast("dict[str, dict[str, str]]", yaml.safe_load(text))
    return document["files"]


def script_file() -> str:
    """Give the path of the scripted model."""
    return str(files("legato.demo").joinpath("script.yaml"))


def lay_down(folder: Path) -> None:
    """Write the repository into a new folder and commit it."""
    python = "python3" if shutil.which("python3") else shlex.quote(sys.executable)
    for name, text in demo_files().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{python}", python), encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, *_WHO, "commit", "--quiet", "--message", "Split bills, add tips, print receipts")
