"""Examines this machine: interpreter, platform, disk, git, confinement, keys by name."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
from typing import TYPE_CHECKING

from domain.codec import decode_object
from domain.runs.model_name import KEYS
from legato.embedded.parts import CODE_ROOT
from legato.examine.finding import Finding, fail, ok, warn
from legato.settings import secret

if TYPE_CHECKING:
    from pathlib import Path

    from legato.settings import Settings

_GIB = 1024**3
_LITTLE, _TOO_LITTLE = 2 * _GIB, _GIB // 4
_LEAST = (3, 11)
_PROBE = 60.0


async def examine_machine(settings: Settings) -> list[Finding]:
    """Look at everything that needs no stack."""
    confinement = asyncio.create_task(_confinement())
    return [
        _python(),
        _platform(),
        *_home(settings.home),
        await _git(),
        await confinement,
        _keys(),
    ]


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < _LEAST:
        return fail("python", version, "install Python 3.11 or newer and run `make setup` again")
    return ok("python", f"{version} at {sys.executable}")


def _platform() -> Finding:
    system = platform.system()
    name = f"{system} {platform.release()}"
    if system == "Linux":
        return ok("platform", f"{name}: everything is supported")
    if system == "Darwin":
        step = "use Linux where commands of agents must be confined"
        return warn("platform", f"{name}: best effort, commands cannot be confined", step)
    return fail("platform", f"{name} is not supported", "use Linux, or macOS with less")


def _home(home: Path) -> list[Finding]:
    there = next(one for one in (home, *home.parents) if one.exists())
    found: list[Finding] = []
    if os.access(there, os.W_OK):
        found.append(ok("home", f"{home} can be written"))
    else:
        step = "set LEGATO_HOME to a folder that you can write to"
        found.append(fail("home", f"{home} cannot be written", step))
    free = shutil.disk_usage(there).free
    text = f"{free / _GIB:.1f} GiB are free where {home} is"
    if free < _TOO_LITTLE:
        found.append(fail("disk", text, "free some space: Postgres stops when it is full"))
    elif free < _LITTLE:
        found.append(warn("disk", text, "free some space before long runs"))
    else:
        found.append(ok("disk", text))
    return found


async def _git() -> Finding:
    if shutil.which("git") is None:
        step = "install git: review-fix works in a worktree of your repository"
        return warn("git", "git is not installed", step)
    _, said = await _output("git", "--version")
    return ok("git", said)


async def _confinement() -> Finding:
    """Ask the worker's side, in a process of its own, what commands get here."""
    status, said = await _output(sys.executable, "-m", "workers.confinement")
    try:
        found = decode_object(said) if status == 0 else {}
        level, reason = str(found["level"]), str(found["reason"])
    except (ValueError, KeyError):
        step = "run `python -m workers.confinement` and report what it says"
        return warn("confinement", "the level could not be found out", step)
    if level == "none":
        step = "install bubblewrap; until then the shell tool is hidden from every agent, "
        step += "and check-and-fix is refused: it cannot work without"
        return warn("confinement", f"none: {reason}", step)
    return ok("confinement", f"{level}: {reason}")


def _keys() -> Finding:
    names = [name for names in KEYS.values() for name in names if secret(name)]
    if names:
        return ok("model keys", f"set here: {', '.join(names)} (the worker reads its own)")
    return warn(
        "model keys",
        "none is set: script:, ollama: and check-and-fix work without",
        "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another, then `legato down` and `legato up`",
    )


async def _output(*command: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=CODE_ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _PROBE)
    except TimeoutError:
        process.kill()
        await process.wait()
        return 1, ""
    return process.returncode or 0, out.decode(errors="replace").strip()
