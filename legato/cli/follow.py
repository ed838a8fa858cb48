"""Starts a run and tells it as it happens, until it ends or only a person can move it on."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from rich.console import Console
from rich.status import Status as Spinner
from rich.text import Text

from domain.errors import LegatoError
from domain.events import Decision
from domain.runs.overview import doing
from domain.runs.run import Run, evolve
from domain.runs.timeline import Timeline
from legato.addresses import run_page
from legato.cli.console import run_async
from legato.cli.decided import decided_json, decided_text, say_dropped
from legato.cli.ending import ended, ending_json
from legato.cli.screens.ending import ending_screen
from legato.cli.screens.timeline import line_screen
from legato.cli.spelling import spelled
from legato.door import Place, check_request, launch, wait
from legato.drained import drained_since
from legato.readings import read_run, read_session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from contextlib import AbstractContextManager

    from domain.agents.request import AgentRequest
    from domain.runs.recorded import Recorded
    from ledger.dispatch import Dispatched
    from legato.cli.console import Call
    from legato.cli.ending import Ended
    from legato.door import Door

INTERRUPTED = 130


@dataclass
class Teller:
    """Prints each event's line, and on a terminal what the run is doing below them."""

    console: Console
    spinner: Spinner | None
    timeline: Timeline = field(default_factory=Timeline)
    run: Run = field(default_factory=Run)

    def tell(self, event: Recorded) -> None:
        """Take one event."""
        self.run = evolve(self.run, event.fact)
        line = self.timeline.tell(event)
        if line is not None:
            self.console.print(line_screen(line), soft_wrap=True)
        if self.spinner is not None:
            self.spinner.update(Text(doing(self.run)))


Ending: TypeAlias = "Callable[[Call, Door, str], Awaitable[int]]"
"""Follows a run that was started, shows its end, gives the exit status."""


def start(
    call: Call,
    request: AgentRequest,
    *,
    run_id: str,
    place: Place | None = None,
    ending: Ending | None = None,
    detach: bool = False,
) -> int:
    """Start a run and follow it to its end unless `detach`; gives the exit status.

    Where it becomes part of another run that one is followed; one that is dropped is not
    carried out. Ctrl-C ends the following, not the run: it is said how to stop that, exit
    status 130.
    """
    check_request(request)

    async def begin(door: Door) -> Dispatched:
        return await launch(door, request, run_id=run_id, place=place or Place())

    return begin_and_follow(call, begin, run_id, ending=ending, detach=detach)


def begin_and_follow(
    call: Call,
    begin: Callable[[Door], Awaitable[Dispatched]],
    run_id: str,
    *,
    ending: Ending | None = None,
    detach: bool = False,
    known: str | None = None,
) -> int:
    """Begin a run through the door and follow it to its end, as `start` does.

    `run_id` names it until that is accepted; `known` is a run that must be findable first.
    """
    accepted: list[str] = []
    to_end = None if detach else ending or follow_to_end
    try:
        return run_async(_start(call, begin, accepted, to_end, known))
    except KeyboardInterrupt:
        at = accepted[0] if accepted else run_id
        call.fail(interruption(at, accepted=bool(accepted)))
        return INTERRUPTED


async def _start(
    call: Call,
    begin: Callable[[Door], Awaitable[Dispatched]],
    accepted: list[str],
    to_end: Ending | None,
    known: str | None,
) -> int:
    async with call.door(known) as door:
        done = await begin(door)
        if done.decision is Decision.DROPPED:
            return say_dropped(call, done)
        accepted.append(done.run_id)
        if since := drained_since(door.settings.home):
            call.progress(spelled(f"it waits: this home is drained since {since}; `legato up`"))
        if to_end is None:
            page = page_of(door, done.workflow_id, ())
            call.show(decided_json(done, page), lambda: Text(spelled(decided_text(done))))
            return 0
        call.tell(decided_text(done).splitlines()[0] if done.holder else f"run {done.run_id}")
        return await to_end(call, door, done.run_id)


async def follow_to_end(call: Call, door: Door, run_id: str) -> int:
    """Tell a run as it happens, then how it ended; gives the exit status."""
    end = await followed(call, door, run_id)
    call.show(ending_json(end), lambda: ending_screen(end))
    return end.exit


async def followed(call: Call, door: Door, run_id: str) -> Ended:
    """Tell a run as it happens; gives how it stands once that is over."""
    with _spinning(call.telling) as spinner:
        teller = Teller(call.telling, spinner)
        await wait(door, run_id, teller.tell)
    events = await read_run(door.ledger, run_id)
    accepted = teller.run.accepted
    workflow = accepted.workflow_id if accepted is not None else ""
    session = await read_session(door.ledger, events)
    return ended(events, page_of(door, workflow, teller.run.temporal_runs), session)


def page_of(door: Door, workflow_id: str, temporal_runs: Sequence[str]) -> str:
    """Give a run's address in the Temporal UI; "" where the UI's is not known."""
    newest = temporal_runs[-1] if temporal_runs else ""
    return run_page(door.stack.ui_address, door.stack.temporal_namespace, workflow_id, newest)


def _spinning(console: Console) -> AbstractContextManager[Spinner | None]:
    """Show what is being done where a person looks; elsewhere nothing moves."""
    if not console.is_terminal:
        return nullcontext()
    return console.status(Text("waiting for the run to begin"))


def interruption(run_id: str, *, accepted: bool) -> LegatoError:
    """Say what Ctrl-C left behind."""
    if not accepted:
        return LegatoError(
            "interrupted",
            "interrupted before the run was known to be accepted",
            next=f"`legato show {run_id}` tells whether it was",
            details={"run_id": run_id},
        )
    return LegatoError(
        "interrupted",
        f"no longer followed; run {run_id} goes on",
        next=f"`legato log {run_id} --follow` follows it, `legato stop {run_id}` ends it",
        details={"run_id": run_id},
    )
