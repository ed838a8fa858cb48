"""Checks of a run: which cannot run at all, and what a stop leaves of one whose worker died."""

from __future__ import annotations

import asyncio

import pytest

from activities.tools.commands import Running, find_command
from domain.events import CheckCompleted, TurnStarted
from domain.runs.sequence import CommandCheck, Item
from ledger.accept import accept_stop
from tests.support.rig import PERSON, Rig

WORK = Item(kind="message", name="work", text="do it")
HEARTBEAT = 11.0
"""Seconds after which Temporal gives up an activity whose worker is gone, and a little."""


def checked(command: str) -> tuple[Item, Item]:
    """Work that is checked by a command."""
    return WORK, Item(kind="prevalidation", name="check", checks=(CommandCheck(command=command),))


@pytest.mark.parametrize(
    ("command", "status"),
    [("no-such-program-anywhere --version", 127), ("./not-executable", 126)],
)
async def test_a_check_that_cannot_run_ends_the_run_without_a_repair(
    served: Rig, command: str, status: int
) -> None:
    (served.workspace / "not-executable").write_text("text\n")
    script = served.script("{steps: [{text: done}], repeat: true}")

    run_id = await served.launch(model=script, items=checked(command))
    run = await served.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("failed", "check_cannot_run")
    assert f"exit status {status}" in run.ended.message
    (check,) = await served.of(run_id, CheckCompleted)
    assert check.terminal
    assert [turn.origin for turn in await served.of(run_id, TurnStarted)] == ["item"]


@pytest.mark.slow
async def test_a_stop_ends_a_check_whose_worker_died(rig: Rig) -> None:
    worker = rig.start_worker()
    run_id = await rig.launch(
        model=rig.script("steps: [{text: done}]"), items=checked("sleep 63.5")
    )
    await rig.until_running("sleep 63.5")
    worker.kill()
    await rig.beat(HEARTBEAT)
    assert rig.is_running("sleep 63.5"), "a command outlives the worker that started it"

    await accept_stop(rig.ledger, PERSON, run_id, "stop-1", "enough")
    rig.start_worker()
    run = await rig.ended(run_id)

    assert run.status == "stopped"
    assert not rig.is_running("sleep 63.5")
    (folder,) = (rig.home / "calls" / run_id).glob("check-1-0-*")
    assert not isinstance(await asyncio.to_thread(find_command, str(folder)), Running)
