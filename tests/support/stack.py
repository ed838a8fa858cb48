"""One real stack for a whole test session, and the real program as a process against it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from ledger.connect import close_ledger, open_ledger
from ledger.projections.lists import Wanted
from legato.cli.program import run_program
from legato.embedded import down
from legato.lists import list_runs
from legato.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60.0
_OURS = ("LEGATO_", "TEMPORAL_")
_LOOK = 0.1
_PATIENCE = 10.0
"""Seconds given to the rows to come up to date: a busy machine takes long."""


@dataclass(frozen=True)
class Result:
    """How one call of the program ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Read the one JSON document on stdout; anything else there is an error."""
        return cast("dict[str, Any]", json.loads(self.out))

    @property
    def error(self) -> dict[str, Any]:
        """Give the error of the document on stdout."""
        return cast("dict[str, Any]", self.json["error"])


@dataclass(frozen=True)
class LiveStack:
    """A stack that runs: where it is, and how programs are pointed at it.

    `files` is a folder for scripts and workspaces of tests; each test names its own.
    """

    settings: Settings
    environment: Mapping[str, str]
    files: Path
    temporal_address: str
    ui_address: str
    database_url: str

    @property
    def home(self) -> Path:
        """Give LEGATO_HOME."""
        return self.settings.home

    def cli(self, *arguments: str, limit: float = LIMIT, cwd: Path = ROOT) -> Result:
        """Run the program to its end, without `--json` unless it is among the arguments."""
        return call_program(self.environment, *arguments, limit=limit, cwd=cwd)

    def inside(self, *arguments: str) -> Result:
        """Run the program's own entry point in this process: the same, without its start."""
        return call_inside(self.environment, *arguments)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the program and go on; whoever starts it ends it."""
        return subprocess.Popen(
            program(*arguments),
            cwd=ROOT,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rows(self) -> list[dict[str, object]]:
        """Read the rows of all runs, without a process."""
        return asyncio.run(_rows(self.database_url))

    def row(self, model: str) -> dict[str, object]:
        """Read the row of the run that was given a model; empty where there is none."""
        return next((row for row in self.rows() if row["model"] == model), dict[str, object]())

    def reaches(self, model: str, status: str) -> bool:
        """Wait until the run that was given a model has a status."""
        return until(lambda: self.row(model).get("status") == status)

    def script(self, name: str, *steps: Mapping[str, object], repeat: bool = False) -> str:
        """Write a script of a model; gives the model's name."""
        path = self.files / f"{name}.yaml"
        steps_and_more = {"steps": list(steps), "repeat": repeat}  # JSON is YAML too
        path.write_text(json.dumps(steps_and_more), encoding="utf-8")
        return f"script:{path}"

    def workspace(self, name: str, **files: str) -> Path:
        """Make a folder with files; `__` in a name stands for a dot."""
        folder = self.files / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file.replace("__", ".")).write_text(text, encoding="utf-8")
        return folder


async def _rows(database_url: str) -> list[dict[str, object]]:
    ledger = await open_ledger(database_url, most=2)
    try:
        return list((await list_runs(ledger, Wanted(), within=_PATIENCE)).rows)
    finally:
        await close_ledger(ledger)


def program(*arguments: str) -> list[str]:
    """Write the command line of the program as this checkout has it."""
    return [sys.executable, "-m", "legato.cli", *arguments]


def call_program(
    environment: Mapping[str, str], *arguments: str, limit: float = LIMIT, cwd: Path = ROOT
) -> Result:
    """Run the program to its end in an environment."""
    ran = subprocess.run(
        program(*arguments),
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    return Result(ran.returncode, ran.stdout, ran.stderr)


def call_inside(environment: Mapping[str, str], *arguments: str) -> Result:
    """Run the program in this process, in an environment, with its output caught."""
    out, err = io.StringIO(), io.StringIO()
    ours = patch.dict(os.environ, dict(environment), clear=True)
    with ours, redirect_stdout(out), redirect_stderr(err):
        code = run_program(arguments)
    return Result(code, out.getvalue(), err.getvalue())


def clean_environment(home: Path) -> dict[str, str]:
    """Give this process's environment with one home, without other settings or any key."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OURS) and not name.endswith("_API_KEY") and name != "DATABASE_URL"
    }
    return kept | {"LEGATO_HOME": str(home), "PYTHONPATH": str(ROOT)}


@contextmanager
def live_stack(home: Path, files: Path, **environment: str) -> Generator[LiveStack]:
    """Bring a stack up by the program, and down by it at the end."""
    variables = clean_environment(home) | environment
    up = call_program(variables, "--json", "up", limit=90)
    assert up.code == 0, up.out + up.err
    addresses = up.json
    try:
        yield LiveStack(
            settings=load_settings(variables),
            environment=variables,
            files=files,
            temporal_address=addresses["temporal_address"],
            ui_address=addresses["ui_address"],
            database_url=addresses["database_url"],
        )
    finally:
        asyncio.run(down(load_settings(variables)))


def until(fact: Callable[[], bool], *, seconds: float = 60.0) -> bool:
    """Wait until a fact holds; False where it does not in time."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK)
    return True


def text(words: str, **more: object) -> dict[str, object]:
    """Write a step of a script that answers in text."""
    return {"text": words, **more}


def calls(*each: tuple[str, Mapping[str, object]], **more: object) -> dict[str, object]:
    """Write a step of a script that asks for calls: name and arguments of each."""
    listed: Sequence[object] = [{"tool": name, "arguments": dict(args)} for name, args in each]
    return {"calls": listed, **more}
