"""How long `legato run` takes from nothing running to the run's first step."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

from bench.cluster import progress
from domain.events import ModelRequested
from domain.ids import run_stream
from ledger.connect import close_ledger, open_ledger
from ledger.reads import read_stream
from legato.embedded import down, ensure_up
from legato.embedded.parts import CODE_ROOT
from legato.settings import load_settings

if TYPE_CHECKING:
    from bench.measured import Value
    from legato.settings import Settings

MOST_SECONDS = 15.0
ROUNDS = 3


async def measure(rounds: int) -> dict[str, Value]:
    """Start from an empty home so many times."""
    taken = [await _once() for _ in range(rounds)]
    median = statistics.median(taken)
    return {
        "figure": "start",
        "engine": "legato",
        "median": round(median, 2),
        "rounds": [round(seconds, 2) for seconds in taken],
        "limit": f"< {MOST_SECONDS:g} s",
        "holds": median < MOST_SECONDS,
        "error": None,
    }


async def _once() -> float:
    with tempfile.TemporaryDirectory(
        prefix="legato-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary)
        (folder / "workspace").mkdir()
        (folder / "answers.yaml").write_text("steps: [{text: hello}]")
        settings = load_settings({"LEGATO_HOME": str(folder / "home")})
        try:
            began = time.time()
            run_id = await _run(settings, folder)
            return await _first_step(settings, run_id) - began
        finally:
            await down(settings)


async def _run(settings: Settings, folder: Path) -> str:
    """Run the command to its end; gives the run's id."""
    outer = {k: v for k, v in os.environ.items() if k not in ("TEMPORAL_ADDRESS", "DATABASE_URL")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "legato.cli", "--json", "run", "generic", "say hello"),
        *("--workspace", str(folder / "workspace")),
        *("--model", f"script:{folder / 'answers.yaml'}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=CODE_ROOT,
        env={**outer, "LEGATO_HOME": str(settings.home)},
    )
    out, _ = await process.communicate()
    return cast("str", json.loads(out)["run_id"])


async def _first_step(settings: Settings, run_id: str) -> float:
    """Give the time at which the run's first request was recorded, by this machine's clock."""
    stack = await ensure_up(settings, progress=progress)
    ledger = await open_ledger(stack.database_url)
    try:
        for stored in await read_stream(ledger, run_stream(run_id)):
            if isinstance(stored.fact, ModelRequested):
                return stored.recorded_at.timestamp()
    finally:
        await close_ledger(ledger)
    message = f"run {run_id} took no step"
    raise RuntimeError(message)
