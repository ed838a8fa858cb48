"""Small git repositories that system tests work on."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.support.interpreter import PYTHON

if TYPE_CHECKING:
    from pathlib import Path

CHECK = f"{PYTHON} check.py"
"""Passes where `value.txt` holds the word right; counts its runs in runs.log."""

_CHECK_PY = """\
with open("runs.log", "a") as log:
    log.write("ran\\n")
text = open("value.txt").read().strip()
raise SystemExit(0 if text == "right" else f"value.txt says {text}, not right")
"""
_FIX_PY = 'open("value.txt", "w").write("right\\n")\n'


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody; gives what it printed."""
    done = subprocess.run(
        ["git", "-c", "user.name=A Person", "-c", "user.email=a@person", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def repository(folder: Path, **files: str) -> Path:
    """Make a repository whose check fails; `__` in a name stands for a dot."""
    folder.mkdir()
    given = {"check__py": _CHECK_PY, "fix__py": _FIX_PY, "value__txt": "wrong\n"} | files
    given |= {"__gitignore": "runs.log\n"}
    for name, text in given.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder
