"""Appends what an operator sent as a plain Temporal signal, through the same validation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from temporalio import activity

from activities.context import causation
from activities.record import refresh
from domain.errors import Kind, LegatoError, refused
from domain.runs.inputs import OPERATOR
from domain.runs.steps import SignalInput, SignalResult, Written
from ledger.accept import accept_answer, accept_message, accept_stop
from ledger.connect import reaching
from ledger.encode import Author

if TYPE_CHECKING:
    from activities.world import World

AcceptSignal = Callable[[SignalInput], Awaitable[SignalResult]]

MOST_BYTES = 64 * 1024


def make_accept_signal(world: World) -> AcceptSignal:
    """Bind the activity to its world."""

    @activity.defn(name="accept_signal")
    async def run(arg: SignalInput) -> SignalResult:
        author = Author(
            actor=OPERATOR,
            principal=OPERATOR,
            via="signal",
            causation=causation(),
            correlation=arg.run_id,
        )
        try:
            with reaching():
                await _accept(world, author, arg)
        except LegatoError as exc:
            if exc.kind is not Kind.REFUSED:
                raise
            return SignalResult(accepted=False, code=exc.code)
        record = await refresh(world.ledger, world.records, arg.run_id)
        last = record.run.version
        return SignalResult(accepted=True, written=Written(last, last, record.head))

    return run


async def _accept(world: World, author: Author, arg: SignalInput) -> None:
    if len(arg.text.encode()) > MOST_BYTES:
        raise refused("text_too_large", "a signal's text is at most 64 KiB", next="send less")
    submission = f"signal-{arg.run_id}-{arg.n}"
    match arg.kind:
        case "answer":
            await accept_answer(
                world.ledger, author, arg.run_id, submission, arg.ref, arg.text, owner=False
            )
        case "message":
            await accept_message(
                world.ledger, author, arg.run_id, submission, arg.text, later=False
            )
        case "stop":
            await accept_stop(world.ledger, author, arg.run_id, submission, arg.text)
