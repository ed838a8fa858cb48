"""The command `show`: one run on one screen, or exactly what one model request sent."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click
from rich.console import Group

from domain.runs.home import Absent, needs_home, status_at_home
from domain.runs.messages import told_with_messages
from domain.runs.recorded import Recorded
from legato.addresses import run_page
from legato.cli.console import Call, json_option, plain, run_async
from legato.cli.log import event_line
from legato.cli.screens.overview import run_screen
from legato.cli.screens.request import request_screen
from legato.homes import absent_homes, home_of
from legato.live import event_json
from legato.readings import (
    Session,
    answer_command,
    find_run,
    overview_of,
    profile_of,
    read_run,
    read_session,
)
from legato.requests import read_request

if TYPE_CHECKING:
    from rich.console import RenderableType

    from domain.runs.overview import Overview
    from domain.runs.sent import Sent
    from domain.runs.timeline import Line
    from legato.door import Door


@dataclass(frozen=True)
class Shown:
    """What was read of a run; `absent` is its home where no worker serves that now."""

    events: list[Recorded]
    page: str
    session: Session
    absent: Absent | None

    @property
    def seen(self) -> Overview:
        """Fold the events."""
        return overview_of(self.events)

    @property
    def told(self) -> tuple[Line, ...]:
        """Tell the run with the messages sent to it."""
        return told_with_messages(self.events, self.session.incoming, self.session.following)


@click.command("show")
@click.argument("run")
@click.option("--request", type=click.IntRange(1), metavar="N", help="What its request N sent.")
@click.option("--events", is_flag=True, help="Every event beneath it.")
@json_option
@click.pass_obj
def show_command(call: Call, run: str, *, request: int | None, events: bool) -> int:
    """Show RUN (its id or a beginning of it) on one screen.

    Status and why, what it does now, where it is in its sequence, what it waits for, what
    it changed, what it cost, and its timeline.

    With --request N the exact system text, messages and tools of its N-th model request.
    """
    if request is not None:
        sent = run_async(_request(call, run, request))
        call.show(_sent_json(sent), lambda: request_screen(sent))
        return 0
    shown = run_async(_read(call, run))
    value = _run_json(shown)
    if events:
        value["events"] = [event_json(event) for event in shown.events]
    call.show(value, lambda: _screen(shown, events=events))
    return 0


async def _read(call: Call, run: str) -> Shown:
    async with call.door(run) as door:
        run_id = await find_run(door.ledger, run)
        events = await read_run(door.ledger, run_id)
        what = overview_of(events).identity
        newest = what.temporal_runs[-1] if what.temporal_runs else ""
        stack = door.stack
        page = run_page(stack.ui_address, stack.temporal_namespace, what.workflow_id, newest)
        session = await read_session(door.ledger, events)
        return Shown(events, page, session, await _absent(door, overview_of(events)))


async def _absent(door: Door, seen: Overview) -> Absent | None:
    """Find out whether a run waits for its home at this moment."""
    if not needs_home(seen.state.status, seen.waits.waiting_on):
        return None
    run_id = seen.identity.run_id
    return home_of(await absent_homes(door.settings, door.stack, door.ledger, [run_id]), run_id)


async def _request(call: Call, run: str, number: int) -> Sent:
    async with call.door(run) as door:
        run_id = await find_run(door.ledger, run)
        return await read_request(door.ledger, await read_run(door.ledger, run_id), number)


def _screen(shown: Shown, *, events: bool) -> RenderableType:
    profile = profile_of(shown.events)
    screen = run_screen(shown.seen, profile, shown.told, shown.page, absent=shown.absent)
    if not events:
        return screen
    return Group(screen, *(event_line(event) for event in shown.events))


def _run_json(shown: Shown) -> dict[str, object]:
    seen = shown.seen
    run_id = seen.identity.run_id
    questions = [
        {**asdict(one), "command": answer_command(run_id, one.input_id, one.choices)}
        for one in seen.waits.open_questions
    ]
    return {
        "ok": True,
        **seen.flat(),
        **_home_json(shown),
        "open_questions": questions,
        "profile": profile_of(shown.events),
        "ui": shown.page,
        "following": shown.session.following,
        "timeline": plain(shown.told),
    }


def _home_json(shown: Shown) -> dict[str, object]:
    """Say what holds at this moment only, and what the ledger records where that differs."""
    seen, away = shown.seen, shown.absent
    if away is None:
        return {"home": None}
    status, waiting_on = status_at_home(seen.state.status, seen.waits.waiting_on)
    recorded = {"status": seen.state.status, "waiting_on": seen.waits.waiting_on}
    home = {**asdict(away), "recorded": recorded}
    del home["runs"]
    return {"status": status, "waiting_on": waiting_on, "home": home}


def _sent_json(sent: Sent) -> dict[str, object]:
    asked = sent.requested
    return {
        "ok": True,
        "request": sent.number,
        "of": sent.of,
        "turn": asked.turn,
        "step": asked.step,
        "n": asked.n,
        "model": asked.model,
        "system": sent.system,
        "messages": [
            {"role": type(one).__name__.removesuffix("Message").lower(), **one.model_dump()}
            for one in sent.messages
        ],
        "tools": [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in sent.tools
        ],
        "hidden": dict(sent.hidden),
        "view_digest": asked.view_digest,
        "request_digest": asked.request_digest,
        "view_same": sent.view_same,
        "request_same": sent.request_same,
    }
