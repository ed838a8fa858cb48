"""The command `log`: the events of a run as they stand in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from domain.codec import decode_object
from domain.events import encode
from domain.runs.messages import told_with_messages
from domain.runs.recorded import short, stamp
from domain.runs.timeline import Timeline
from legato.cli.console import Call, json_option, run_async
from legato.cli.screens.timeline import line_screen
from legato.door import follow
from legato.readings import find_run, read_run, read_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.recorded import Recorded
    from legato.readings import Session


@click.command("log")
@click.argument("run")
@click.option("--follow", "-f", "following", is_flag=True, help="Go on until the run has ended.")
@click.option("--raw", is_flag=True, help="Every event with its whole body, not the timeline.")
@json_option
@click.pass_obj
def log_command(call: Call, run: str, *, following: bool, raw: bool) -> int:
    """Print the events of RUN, in order.

    With --json one document `{events: [...]}`; with --follow too, one JSON document a line
    as they come. Ctrl-C ends the following, not the run.
    """

    async def work() -> None:
        async with call.door(run) as door:
            run_id = await find_run(door.ledger, run)
            timeline = Timeline()
            if not following:
                events = await read_run(door.ledger, run_id)
                _all(call, run_id, events, await read_session(door.ledger, events), raw=raw)
                return
            async for batch in follow(door, run_id):
                for event in batch:
                    _one(call, event, timeline, raw=raw)
            session = await read_session(door.ledger, await read_run(door.ledger, run_id))
            if session.following:
                call.progress(f"run {session.following} follows")

    run_async(work())
    return 0


def event_json(event: Recorded) -> dict[str, object]:
    """Give one event for programs: where it stands, who caused it, and its body."""
    return {
        "version": event.version,
        "event_id": event.event_id,
        "type": event.fact.type,
        "recorded_at": stamp(event.at),
        "actor": event.actor,
        "body": decode_object(encode(event.fact)),
    }


def event_line(event: Recorded, *, whole: bool = False) -> Text:
    """Show one event with the beginning of its body, or with the whole of it."""
    body = encode(event.fact).decode()
    text = Text(f"{event.version:>5}  ", style="dim")
    text.append(f"{stamp(event.at)[11:23]}  ").append(event.fact.type, style="bold")
    return text.append(f"  {body if whole else short(body, 200)}", style="dim")


def _all(
    call: Call, run_id: str, events: Sequence[Recorded], session: Session, *, raw: bool
) -> None:
    if call.json:
        rows = [event_json(event) for event in events]
        call.write_json({"ok": True, "run_id": run_id, "events": rows}, indent=2)
        return
    if raw:
        for event in events:
            call.out.print(event_line(event, whole=True), soft_wrap=True)
        return
    for line in told_with_messages(events, session.incoming, session.following):
        call.out.print(line_screen(line), soft_wrap=True)


def _one(call: Call, event: Recorded, timeline: Timeline, *, raw: bool) -> None:
    if call.json:
        call.write_json(event_json(event))
        return
    line = timeline.tell(event)
    if raw:
        call.out.print(event_line(event, whole=True), soft_wrap=True)
    elif line is not None:
        call.out.print(line_screen(line), soft_wrap=True)
