"""The command `replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from domain.words import counted
from legato.cli.console import Call, json_option, plain, run_async
from legato.readings import find_run
from legato.replay import replay

if TYPE_CHECKING:
    from legato.replay import Replayed


@click.command("replay")
@click.argument("run")
@json_option
@click.pass_obj
def replay_command(call: Call, run: str) -> int:
    """Replay RUN: its Temporal histories by this build's workflow, its events by its fold.

    The fold is compared with the row that lists show of the run.

    Exit status 0 where all hold, 1 with the first difference where one does not.
    """

    async def work() -> Replayed:
        async with call.door(run) as door:
            return await replay(door, await find_run(door.ledger, run))

    done = run_async(work())
    call.show({"ok": done.ok, **_fields(done)}, lambda: _screen(done))
    return 0 if done.ok else 1


def _fields(done: Replayed) -> dict[str, object]:
    return {
        "run_id": done.run_id,
        "workflow_id": done.workflow_id,
        "histories": plain(done.links),
        "fold": plain(done.fold),
        "rows": plain(done.rows),
    }


def _screen(done: Replayed) -> Text:
    text = Text()
    for link in done.links:
        _mark(text, ok=link.ok)
        text.append(f"  history {link.temporal_run}: {link.events} events, {link.bytes} bytes")
        text.append(f"\n      {link.problem}\n" if link.problem else "\n")
    fold = done.fold
    _mark(text, ok=fold.ok)
    text.append(f"  ledger: {fold.events} events fold to {fold.status}")
    text.append(f"\n      {fold.problem}\n" if fold.problem else "\n")
    _mark(text, ok=done.rows.ok)
    text.append(f"  lists: the row of the run tells of {counted(done.rows.version, 'event')}")
    return text.append(f"\n      {done.rows.problem}" if done.rows.problem else "")


def _mark(text: Text, *, ok: bool) -> None:
    text.append("ok    " if ok else "differs", style="green" if ok else "bold red")
