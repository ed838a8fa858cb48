"""The commands `send` and `stop`: what people say to a run unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from domain.runs.closing import following_id
from domain.runs.messages import unread
from domain.runs.recorded import short
from domain.runs.run import Status
from domain.words import counted
from legato.cli.console import Call, json_option, run_async
from legato.door import new_id, send, stop
from legato.readings import Session, find_run, read_run, read_session

if TYPE_CHECKING:
    from ledger.accept import Accepted

RUN_HELP = "RUN is a run's id or a beginning of it with at least 8 characters."


@click.command("send", epilog=RUN_HELP)
@click.argument("run")
@click.argument("message")
@click.option("--later", is_flag=True, help="Do not steer this run: the session's next run.")
@json_option
@click.pass_obj
def send_command(call: Call, run: str, message: str, *, later: bool) -> int:
    """Send MESSAGE to an open run: delivered at its next step, or after its end for --later."""

    async def work() -> tuple[str, Accepted]:
        async with call.door(run) as door:
            run_id = await find_run(door.ledger, run)
            sent = await send(door, run_id, message, submission=new_id(), later=later)
            return run_id, sent

    run_id, accepted = run_async(work())
    said = f"accepted: {run_id} is given it at its next step, unless it is stopped before"
    more = dict[str, object]()
    if later:
        following = next_run(accepted)
        said = f"accepted: after the end of {run_id} it starts the session's next run, {following}"
        more = {"following": following}
    say_accepted(call, run_id, accepted, said, later=later, **more)
    return 0


@click.command("stop", epilog=RUN_HELP)
@click.argument("run")
@click.option("--reason", default="", help="Why, for those who look at the run later.")
@json_option
@click.pass_obj
def stop_command(call: Call, run: str, reason: str) -> int:
    """End a run now: what runs is cancelled, what was done stays. Accepted at once.

    A run whose Temporal workflow is closed or gone is ended in the ledger.
    """

    async def work() -> tuple[str, Accepted, Session, list[str]]:
        async with call.door(run) as door:
            run_id = await find_run(door.ledger, run)
            accepted = await stop(door, run_id, reason, submission=new_id())
            events = await read_run(door.ledger, run_id)
            session = await read_session(door.ledger, events)
            return run_id, accepted, session, unread(events, session.incoming)

    run_id, accepted, session, left = run_async(work())
    ended = accepted.run.ended
    said = f"accepted: {run_id} is being stopped"
    if ended is not None:
        said = f"ended: {run_id} is {ended.status} ({ended.reason})"
        said += ": it waited in line" if accepted.run.never_held else ""
        said += ": Temporal would not end it" if ended.status == Status.LOST.value else ""
    status = ended.status if ended is not None else "stopping"
    if left:
        said += f"\n{counted(len(left), 'message')} came too late and will not be read: "
        said += "; ".join(short(text) for text in left)
    if session.for_later:
        said += f"\nmessages for later wait: they start run {next_run(accepted)} after its end"
    say_accepted(call, run_id, accepted, said, reason=reason, status=status, undelivered=left)
    return 0


def next_run(accepted: Accepted) -> str:
    """Name the run that messages for later start once this one has ended."""
    asked = accepted.run.asked_for
    return "" if asked is None else following_id(asked)


def say_accepted(call: Call, run_id: str, accepted: Accepted, said: str, **more: object) -> None:
    """Say what was accepted, and where it stands in the ledger."""
    row: dict[str, object] = {"ok": True, "run_id": run_id, "event_id": accepted.event}
    row |= {"stream": accepted.stream, "version": accepted.version, **more}
    call.show(row, lambda: Text(said))
