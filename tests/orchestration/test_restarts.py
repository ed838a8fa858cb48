"""Parts of the embedded stack killed in the middle of a run: the run completes, nothing twice."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from domain.events import CallIntended, CallSettled, InputAsked, ModelResponded, StopRequested
from domain.tools.results import Tag
from legato.client import host_of
from legato.door import search_attributes
from legato.embedded import Stack, ensure_up
from tests.support.canaries import CANARY
from tests.support.embedded_stack import (
    ended_after,
    kill,
    process_of,
    settings_of,
    state_of,
    until,
)
from tests.support.rig import PLUGIN, ROOT, Rig, rig_of
from tests.support.trust import all_holds

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

    from domain.runs.run import Run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

LONG = 240.0
"""Seconds that a run may take on a machine that others use too."""

SCRIPT = """
steps:
  - calls:
      - {{tool: read_file, arguments: {{path: a.txt}}}}
      - {{tool: count_once, arguments: {{path: "{counter}", text: first}}}}
  - text: one after another the words of this answer arrive {canary}
    delay_seconds: 6
    calls: [{{tool: list_files, arguments: {{}}}}]
  - calls:
      - tool: shell
        arguments: {{command: "echo begun >> counted.txt; sleep 6; echo {canary}"}}
  - calls:
      - tool: count_once
        arguments: {{path: "{counter}", text: last, sleep_seconds: {sleeping}}}
  - text: done
"""


def in_model(run: Run) -> bool:
    """The second step's request is open."""
    return run.step is not None and run.step.open is not None and run.ordinal == 1


def in_command(run: Run) -> bool:
    """The third step's command has been begun."""
    return run.ordinal == 3 and run.step is not None and run.step.calls[0].round == 1


def in_effect(run: Run) -> bool:
    """The fourth step's call of class `once` has been begun."""
    return run.ordinal == 4 and run.step is not None and run.step.calls[0].round == 1


MOMENTS = {"model call": in_model, "command": in_command, "effect": in_effect}
anywhere = pytest.mark.parametrize("moment", MOMENTS)
where_a_worker_may_die = pytest.mark.parametrize("moment", ["model call", "command"])


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two homes; whatever runs in them is ended, and their workers know the test's tools."""
    folder = tmp_path_factory.mktemp("homes")
    pair = (folder / "one", folder / "two")
    with pytest.MonkeyPatch.context() as patch, ended_after(*pair):
        patch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(PLUGIN))))
        yield pair


@pytest.fixture
def home(homes: tuple[Path, Path]) -> Path:
    """The home of a test that needs one."""
    return homes[0]


async def up(home: Path) -> Stack:
    """Do what every command does first."""
    return await ensure_up(
        settings_of(home),
        progress=lambda _: None,
        search_attributes=search_attributes(),
        deadline=LONG,
    )


@asynccontextmanager
async def rig_on(home: Path, folder: Path) -> AsyncGenerator[Rig]:
    """Open a rig on a home's own stack and worker."""
    stack = await up(home)
    async with rig_of(stack, folder, host=host_of(settings_of(home)), home=home) as rig:
        (rig.workspace / "a.txt").write_text(f"hello {CANARY}\n")
        yield rig


async def launched(rig: Rig, *, sleeping: float = 6.0) -> str:
    """Start the run that is interrupted."""
    counter = rig.folder / "outside.txt"
    script = SCRIPT.format(counter=counter, sleeping=sleeping, canary=CANARY)
    return await rig.launch(model=rig.script(script))


async def ended_once(rig: Rig, run_id: str) -> str:
    """Check that nothing happened or was recorded twice; gives what the run ended as."""
    run = await rig.ended(run_id, seconds=LONG)
    assert (run.ended and run.ended.message) == ""
    assert await rig.of(run_id, InputAsked) == [], "nobody is asked"
    assert await rig.of(run_id, StopRequested) == []
    assert len(await rig.of(run_id, ModelResponded)) == 5
    settled = await rig.of(run_id, CallSettled)
    assert [(call.step, call.position) for call in settled] == [
        (1, 0), (1, 1), (2, 0), (3, 0), (4, 0),
    ]  # fmt: skip
    assert {call.outcome.tag for call in settled} == {Tag.OK}
    assert len(await rig.of(run_id, CallIntended)) == 3
    assert (rig.folder / "outside.txt").read_text() == "first\nlast\n"
    assert (rig.workspace / "counted.txt").read_text() == "begun\n"
    await all_holds(rig)
    return run.status


async def restarted(home: Path, part: str, before: int) -> None:
    """Wait until the supervisor has started a part once more and all parts serve."""
    assert await until(lambda: state_of(home).part(part).restarts > before, seconds=60)
    await up(home)


@anywhere
@pytest.mark.parametrize("part", ["temporal", "postgres"])
async def test_a_server_is_killed_and_the_run_completes(
    home: Path, tmp_path: Path, part: str, moment: str
) -> None:
    async with rig_on(home, tmp_path) as rig:
        run_id = await launched(rig)
        await rig.until(run_id, MOMENTS[moment], seconds=LONG)
        before = state_of(home).part(part).restarts

        kill(process_of(home, part))
        await restarted(home, part, before)

        assert await ended_once(rig, run_id) == "completed"


@where_a_worker_may_die
async def test_the_supervisor_is_killed_and_the_run_completes_after_the_next_command(
    home: Path, tmp_path: Path, moment: str
) -> None:
    async with rig_on(home, tmp_path) as rig:
        run_id = await launched(rig)
        await rig.until(run_id, MOMENTS[moment], seconds=LONG)
        kill(state_of(home).supervisor)

    async with rig_on(home, tmp_path) as rig:
        assert await ended_once(rig, run_id) == "completed"


@where_a_worker_may_die
async def test_a_worker_is_told_to_end_and_the_next_one_completes_the_run(
    home: Path, tmp_path: Path, moment: str
) -> None:
    async with rig_on(home, tmp_path) as rig:
        run_id = await launched(rig)
        await rig.until(run_id, MOMENTS[moment], seconds=LONG)
        before = state_of(home).part("worker").restarts

        os.kill(process_of(home, "worker").pid, signal.SIGTERM)
        await restarted(home, "worker", before)

        assert await ended_once(rig, run_id) == "completed"


async def test_two_homes_side_by_side_each_complete_their_runs(
    homes: tuple[Path, Path], tmp_path: Path
) -> None:
    async with (
        rig_on(homes[0], tmp_path / "one") as one,
        rig_on(homes[1], tmp_path / "two") as two,
    ):
        assert one.stack.temporal_address != two.stack.temporal_address
        assert one.host != two.host
        rigs = (one, two)
        run_ids = [await launched(rig, sleeping=0) for rig in rigs]

        pairs = zip(rigs, run_ids, strict=True)
        ended = await asyncio.gather(*(ended_once(rig, run_id) for rig, run_id in pairs))
        assert ended == ["completed", "completed"]
        assert await two.facts(run_ids[0]) == []
