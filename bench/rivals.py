"""The peers that do the same work: installed on their own, run as a process of their own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from bench.cluster import Cluster, progress
from bench.measured import Measured
from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.measured import Value

RIVALS: Mapping[str, str] = {
    "pydantic-ai": "pydantic_ai_turns.py",
    "openai-agents": "openai_agents_turns.py",
}
PACKAGES = ("pydantic-ai-slim[temporal]", "temporalio-openai-agents", "openai-agents")
SCRIPTS = Path(__file__).with_name("peers")
_SAID = 400


def folder(name: str) -> Path:
    """Name an environment of rivals, kept between benches; removing it renews them."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "legato-bench" / f"{name}-{sys.version_info[0]}.{sys.version_info[1]}"


async def installed(name: str = "peers", packages: Sequence[str] = PACKAGES) -> str:
    """Install rivals in an environment of theirs, where they are not yet; gives its interpreter.

    Raises:
        LegatoError: `rival_not_installed`, with what the installer said.

    """
    home = folder(name)
    python, ready = home / "bin" / "python", home / "ready"
    if ready.exists():
        return str(python)
    progress(f"installing {name} into {home}")
    if home.exists():
        shutil.rmtree(home)
    await _done(sys.executable, "-m", "venv", str(home))
    await _done(
        *(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *packages,
    )
    ready.touch()
    return str(python)


async def _done(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise LegatoError(
            "rival_not_installed",
            "the rivals could not be installed",
            cause=said.decode("utf-8", "replace").strip()[-_SAID:] or f"{command} failed",
            next="give pip access to its packages and run the bench again, "
            "or name the figures and engines without them",
        )


async def measure(name: str, python: str, cluster: Cluster, turns: int, runs: int) -> Measured:
    """Have a rival do the work on the cluster's Temporal; its own process is its worker."""
    stack = cluster.stack
    process = await asyncio.create_subprocess_exec(
        *(python, str(SCRIPTS / RIVALS[name])),
        *(stack.temporal_address, stack.temporal_namespace, str(turns), str(runs)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "OPENAI_API_KEY": "unused"},
        cwd=cluster.folder,
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _read(name, turns, runs, out, err)


def _read(name: str, turns: int, runs: int, out: bytes, err: bytes) -> Measured:
    """Read a rival's line; without one its last words are the error."""
    try:
        said = cast("dict[str, Value]", json.loads(out.decode().strip().splitlines()[-1]))
    except (IndexError, ValueError):
        last = err.decode("utf-8", "replace").strip()[-_SAID:]
        return Measured(name, turns, runs, 0.0, error=last or "it printed nothing")
    error = said.get("error")
    return Measured(
        name,
        turns,
        runs,
        seconds=cast("float", said["seconds"]),
        events=cast("int", said["events"]),
        kib=cast("float", said["kib"]),
        error=None if error is None else str(error),
        more={"version": said.get("version")},
    )
