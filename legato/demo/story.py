"""Tells the demo's story: a repository laid down, a run on it killed twice, its claims proved."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from domain.errors import refused
from domain.runs.budget import Budget
from domain.runs.recorded import Recorded
from domain.runs.script import parse_script
from legato.door import launch
from legato.paths import make_private
from legato.readings import read_run
from legato.review_fix import Asked, Finished, begin, finish, prepare

from .kills import Kill
from .proofs import Proof, prove
from .repository import lay_down, script_file
from .watch import Heard, Watch, watch_run

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest
    from legato.door import Door
    from legato.settings import Settings

_SLOW = 3.0
_COUNTER = "test-runs.log"


@dataclass(frozen=True, slots=True)
class Story:
    """The whole demo: its run, what was killed, and each claim with its proof.

    `seconds` counts from the laying down of the repository to the last proof.
    """

    run_id: str
    repository: str
    events: Sequence[Recorded]
    kills: tuple[Kill, ...]
    proofs: tuple[Proof, ...]
    finished: Finished
    seconds: float

    @property
    def holds(self) -> bool:
        """Tell whether everything really happened."""
        return all(proof.holds for proof in self.proofs)


async def tell_story(door: Door, run_id: str, heard: Heard) -> Story:
    """Run the demo to its end; proofs that do not hold are part of the story.

    Raises:
        LegatoError: `demo_needs_embedded`, `demo_too_slow`, `worker_missing`, or what
            launching and finishing a run raise.

    """
    began = time.monotonic()
    require_embedded(door.settings)
    request, repository = await asyncio.to_thread(_set_up, door.settings, run_id)
    heard.say(f"laid down a small git repository whose tests fail: {repository}")
    await launch(door, request, run_id=run_id)
    counter = Path(request.workspace, _COUNTER)
    watch = Watch(door, heard, counter, slow_steps())
    await watch_run(watch, run_id)
    counted = await asyncio.to_thread(_lines, counter)
    events = await read_run(door.ledger, run_id)
    finished = await finish(door, run_id)
    proofs = prove(events, watch.kills, counted, finished.change)
    return Story(
        run_id,
        str(repository),
        events,
        tuple(watch.kills),
        proofs,
        finished,
        time.monotonic() - began,
    )


def require_embedded(settings: Settings) -> None:
    """Refuse to kill workers that are not this home's own; raises `demo_needs_embedded`."""
    if settings.temporal_address is not None or settings.database_url is not None:
        raise refused(
            "demo_needs_embedded",
            "The demo kills its worker, so it runs on the embedded stack only.",
            cause="TEMPORAL_ADDRESS or DATABASE_URL names a server of your own",
            next="unset both and run the demo again",
        )


def _set_up(settings: Settings, run_id: str) -> tuple[AgentRequest, Path]:
    repository = settings.home / "demo" / run_id / "till"
    make_private(repository)
    lay_down(repository)
    asked = Asked(path=str(repository), model=f"script:{script_file()}", budget=Budget())
    request, _ = begin(settings.home, run_id, prepare(settings, asked))
    return request, repository


def slow_steps() -> frozenset[int]:
    """Name the steps of the script that last long enough to be killed in."""
    source = script_file()
    script = parse_script(yaml.safe_load(Path(source).read_text(encoding="utf-8")), source)
    return frozenset(n for n, step in enumerate(script.steps) if step.delay_seconds > _SLOW)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
