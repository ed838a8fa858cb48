"""The command `log`: the events of a run as they stand in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from rich.text import Text

from domain.events import encode
from domain.runs.cursor import Cursor, parse_cursor
from domain.runs.messages import told_with_messages
from domain.runs.recorded import Recorded, short, stamp
from domain.runs.timeline import Timeline
from legato.cli.console import Call, json_option, run_async
from legato.cli.screens.timeline import line_screen
from legato.live import Told, event_json, live, told_json
from legato.readings import find_run, read_run, read_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.connect import Ledger
    from legato.readings import Session


@click.command("log")
@click.argument("run")
@click.option("--follow", "-f", "following", is_flag=True, help="Go on until the run has ended.")
@click.option("--raw", is_flag=True, help="Every event with its whole body, not the timeline.")
@click.option("--text", is_flag=True, help="With --follow: the model's text too, as it comes.")
@click.option("--after", default="", metavar="CURSOR", help="Only what comes after this place.")
@json_option
@click.pass_obj
def log_command(call: Call, run: str, *, following: bool, raw: bool, text: bool, after: str) -> int:
    """Print the events of RUN, in order.

    With --json one document `{events: [...]}`; with --follow too, one JSON document a line
    as they come, each with the cursor that --after takes to go on from there. Ctrl-C ends
    the following, not the run.
    """
    start = parse_cursor(after)

    async def work() -> None:
        async with call.door(run) as door:
            run_id = await find_run(door.ledger, run)
            if following:
                await _follow(call, door.ledger, run_id, Following(start, raw=raw, text=text))
                return
            events = await read_run(door.ledger, run_id)
            session = await read_session(door.ledger, events)
            _all(call, run_id, events, session, after=start.version, raw=raw)

    run_async(work())
    return 0


@dataclass(frozen=True)
class Following:
    """How a run is followed: from where, with whole bodies, with the text as it comes."""

    start: Cursor
    raw: bool
    text: bool


async def _follow(call: Call, ledger: Ledger, run_id: str, how: Following) -> None:
    timeline = Timeline()
    for event in await read_run(ledger, run_id):
        if event.version > how.start.version:
            break
        timeline.tell(event)
    midway = False
    async for batch in live(ledger, run_id, how.start):
        for told in batch:
            if isinstance(told.what, Recorded):
                if midway:
                    call.out.print()
                midway = False
                _one(call, told, told.what, timeline, raw=how.raw)
            elif how.text:
                midway = not call.json
                _some_text(call, told, told.what.text)
    session = await read_session(ledger, await read_run(ledger, run_id))
    if session.following:
        call.progress(f"run {session.following} follows")


def _some_text(call: Call, told: Told, text: str) -> None:
    if call.json:
        call.write_json(told_json(told))
    else:
        call.out.print(Text(text), end="", soft_wrap=True)


def event_line(event: Recorded, *, whole: bool = False) -> Text:
    """Show one event with the beginning of its body, or with the whole of it."""
    body = encode(event.fact).decode()
    text = Text(f"{event.version:>5}  ", style="dim")
    text.append(f"{stamp(event.at)[11:23]}  ").append(event.fact.type, style="bold")
    return text.append(f"  {body if whole else short(body, 200)}", style="dim")


def _all(
    call: Call,
    run_id: str,
    events: Sequence[Recorded],
    session: Session,
    *,
    after: int,
    raw: bool,
) -> None:
    fresh = [event for event in events if event.version > after]
    if call.json:
        rows = [event_json(event) for event in fresh]
        call.write_json({"ok": True, "run_id": run_id, "events": rows}, indent=2)
        return
    if raw:
        for event in fresh:
            call.out.print(event_line(event, whole=True), soft_wrap=True)
        return
    before = max((stamp(event.at) for event in events if event.version <= after), default="")
    for line in told_with_messages(events, session.incoming, session.following):
        sent = line.type == "message.accepted"  # its version counts in another stream
        if line.at > before if sent else line.version > after:
            call.out.print(line_screen(line), soft_wrap=True)


def _one(call: Call, told: Told, event: Recorded, timeline: Timeline, *, raw: bool) -> None:
    if call.json:
        call.write_json(told_json(told))
        return
    line = timeline.tell(event)
    if raw:
        call.out.print(event_line(event, whole=True), soft_wrap=True)
    elif line is not None:
        call.out.print(line_screen(line), soft_wrap=True)
