"""The front door: what commands and programs ask of runs, appended first, then handed over."""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import asyncpg

from domain.agents.refusals import request_problems, role_problems, sequence_problems
from domain.agents.request import AgentRequest, Sources
from domain.agents.roles import ROLES
from domain.agents.servers import server_problems
from domain.errors import LegatoError, problems, refused
from domain.events import Entry, MessageAccepted, OnCollision, StopRequested
from domain.ids import run_stream, workspace_slug
from domain.runs.attributes import KEYWORDS
from domain.runs.cursor import Cursor
from domain.runs.overview import PEOPLE
from domain.runs.recorded import Recorded
from domain.runs.run import Run, Status, evolve
from domain.tools.registry import build_registry
from ledger.accept import accept_answer, accept_message, accept_stop
from ledger.connect import OTHER_BUILD, UNREACHABLE, Ledger, close_ledger, open_ledger
from ledger.dispatch import Dispatched, Launch, dispatch
from ledger.encode import Author
from ledger.going_on import dispatch_resumed, resuming
from ledger.raising import accept_raise
from ledger.reads import read_event
from legato.embedded import Stack, ensure_up
from legato.kill_points import kill_points
from legato.live import LOOK, ledger_gone, live
from legato.off_limits import require_allowed
from legato.paths import absolute
from legato.plan_steps import with_saved
from legato.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

    from domain.events import Fact
    from domain.runs.raising import Wanted
    from ledger.accept import Accepted

T = TypeVar("T")

AGAIN = 10.0
"""Seconds for which a command is repeated while the ledger does not answer."""

_CLOSING = 2.0


@dataclass(frozen=True)
class Door:
    """An open door: the stack, its ledger, and who stands at it.

    `person` is the operating system's user, who is owner until there are accounts; `via`
    names the door (cli, api, mcp).
    """

    settings: Settings
    stack: Stack
    ledger: Ledger
    person: str
    via: str

    def author(self, run_id: str, submission: str) -> Author:
        """Sign what is appended for a run."""
        return Author(self.person, self.person, self.via, submission, run_id)


def search_attributes() -> dict[str, str]:
    """Give the search attributes of runs with their types, for a stack that is started."""
    return {name: "Keyword" for name in KEYWORDS}  # noqa: C420 - a dict of text, not of literals


@asynccontextmanager
async def open_door(
    settings: Settings, via: str, *, progress: Callable[[str], None]
) -> AsyncGenerator[Door]:
    """Open the door, starting the embedded stack where it does not run.

    Raises what `ensure_up` and `open_ledger` raise, and `ledger_unreachable` where the
    ledger stops answering meanwhile, `ledger_not_migrated` where its tables are those of
    another build.
    """
    stack = await ensure_up(settings, progress=progress, search_attributes=search_attributes())
    ledger = await open_ledger(stack.database_url, most=4)
    try:
        yield Door(settings, stack, ledger, f"person:{this_user()}", via)
    except BrokenPipeError:  # our reader has seen enough: that is not the ledger
        raise
    except UNREACHABLE as exc:
        raise ledger_gone(exc) from None
    except OTHER_BUILD as exc:
        raise _other_build(exc) from None
    finally:
        with suppress(TimeoutError, asyncpg.InterfaceError, OSError):
            await asyncio.wait_for(close_ledger(ledger), _CLOSING)


def _other_build(exc: BaseException) -> LegatoError:
    return LegatoError(
        "ledger_not_migrated",
        "the ledger's tables are those of another build",
        cause=type(exc).__name__,
        next="run `legato down` and then `legato up`, which brings them up to date",
    )


def this_user() -> str:
    """Name the operating system's user, whom no variable can change."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def new_id() -> str:
    """Make the id of a run or a submission (UUID version 7): once, kept over retries."""
    raw = bytearray((time.time_ns() // 1_000_000).to_bytes(6, "big") + secrets.token_bytes(10))
    raw[6] = (raw[6] & 0x0F) | 0x70
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def with_stores(settings: Settings, request: AgentRequest) -> AgentRequest:
    """Give a request the folder of its workspace's stores, outside the workspace."""
    if request.stores:
        return request
    stores = settings.home / "stores" / workspace_slug(request.workspace or "none")
    stores.mkdir(mode=0o700, parents=True, exist_ok=True)
    return request.model_copy(update={"stores": str(stores)})


def check_request(request: AgentRequest) -> None:
    """Refuse at once what no worker could build.

    Raises `agent_not_found`, `workspace_not_found`, `definition_refused`.
    """
    role = ROLES.get(request.role)
    if role is None:
        raise refused(
            "agent_not_found",
            f"there is no agent {request.role!r}",
            cause=f"the agents are {', '.join(ROLES)}",
            next="name one of them; `legato roles` says what each does",
        )
    if request.workspace and not os.path.isdir(request.workspace):  # noqa: PTH112 - never raises
        raise refused(
            "workspace_not_found",
            f"the workspace {request.workspace} is not a folder",
            next="name an existing folder with --workspace",
        )
    sources = Sources(registry=build_registry([]))
    items = request.items or role.items(request)
    found = [
        *request_problems(request, sources),
        *role_problems(role, request, sources),
        *sequence_problems(role, request, items),
        *server_problems(role, request, request.profile or role.default_profile, sources),
        *_script_problems(request.model),
    ]
    if found:
        raise problems(
            "definition_refused",
            "the agent cannot be built",
            list(dict.fromkeys(found)),
            next="mend every problem named, then start the run again",
        )


def _script_problems(model: str) -> list[str]:
    """Look whether a script can be read; names and keys are the worker's to judge."""
    path = model.removeprefix("script:")
    if path == model or not path.strip():
        return []
    try:
        with Path(path).open("rb") as file:
            file.read(1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        step = "name an existing YAML file after `script:`"
        return [f"script_unreadable: the script {path} cannot be read: {why}; {step}"]
    return []


@dataclass(frozen=True)
class Place:
    """Where a run belongs: the name of its slot, "" for one of its own, and its manners there."""

    scope: str = ""
    on_collision: OnCollision = OnCollision.QUEUE


async def launch(
    door: Door,
    request: AgentRequest,
    *,
    run_id: str,
    entry: Entry = Entry.HAND,
    place: Place = Place(),
) -> Dispatched:
    """Accept a run and have it started, or decide what becomes of it where its slot is taken.

    The same `run_id` again gives the first result. Raises what `with_saved`, `check_request` and
    `dispatch` raise, `workspace_refused` and `ledger_unreachable`.
    """
    from legato.client import home_queue  # noqa: PLC0415 - reading commands load no Temporal

    request = _checked(door, request)
    queue = home_queue(door.settings)
    scope, manners = place.scope, place.on_collision
    wanted = Launch(run_id, entry, request, queue, scope=scope, on_collision=manners)
    author = door.author(run_id, run_id)
    done = await _repeated(lambda: dispatch(door.ledger, author, wanted))
    return await _told(door, done)


async def resume(
    door: Door, run_id: str, wanted: Wanted, *, entry: Entry = Entry.HAND
) -> Dispatched:
    """Go on from an ended run in a new one, which waits in line where its slot is taken.

    The same again gives the first result. Raises what `launch` raises, `run_not_found`,
    `run_open`, `run_has_nothing_left`, `run_resumed` and `budget_refused`.
    """
    asked = await _repeated(lambda: resuming(door.ledger, run_id, wanted, entry))
    try:
        asked = replace(asked, request=_checked(door, asked.request))
    except LegatoError as exc:
        if exc.code != "workspace_not_found":
            raise
        next_step = "put the folder back as it was, or start a new run with `legato run`"
        raise LegatoError(exc.code, exc.message, kind=exc.kind, next=next_step) from None
    author = door.author(asked.run_id, asked.run_id)
    done = await _repeated(lambda: dispatch_resumed(door.ledger, author, asked))
    return await _told(door, done)


def _checked(door: Door, request: AgentRequest) -> AgentRequest:
    request = with_saved(request)
    check_request(request)
    if request.workspace:
        require_allowed(Path(absolute(request.workspace)), door.settings.home)
    return with_stores(door.settings, request)


async def _told(door: Door, done: Dispatched) -> Dispatched:
    if done.accepted is not None:
        await _tell(door, done.accepted, done.asked.run_id)
    if done.stop is not None:
        await _tell(door, done.stop, done.holder)
    return done


async def send(
    door: Door, run_id: str, text: str, *, submission: str, later: bool = False
) -> Accepted:
    """Give a message to an open run: at its next step, or as the next run for `later`.

    Raises `run_not_found`, `run_closed`, `message_empty`.
    """
    author = door.author(run_id, submission)
    accepted = await _repeated(
        lambda: accept_message(door.ledger, author, run_id, submission, text, later=later)
    )
    fact = MessageAccepted(submission=submission, text=text, later=later, run_id=run_id)
    await _tell(door, fact, run_id)
    return accepted


async def answer(door: Door, run_id: str, input_id: str, text: str, *, submission: str) -> Accepted:
    """Answer what a run asks; the first answer wins.

    Raises `run_not_found`, `input_not_found`, `answer_not_allowed`, `answer_unclear`,
    `run_again_too_early`, `input_settled`.
    """
    author = door.author(run_id, submission)
    accepted = await _repeated(
        lambda: accept_answer(door.ledger, author, run_id, submission, input_id, text, owner=True)
    )
    settled = await read_event(door.ledger, run_stream(run_id), accepted.event)
    if settled is not None:
        await _tell(door, settled.fact, run_id)
    return accepted


async def stop(door: Door, run_id: str, reason: str, *, submission: str) -> Accepted:
    """Ask an open run to end now; raises `run_not_found`, `run_closed`.

    A run whose workflow is closed or gone would never hear of it: it is ended here, which
    the run that is given back shows.
    """
    author = door.author(run_id, submission)
    accepted = await _repeated(lambda: accept_stop(door.ledger, author, run_id, submission, reason))
    fact = StopRequested(submission=submission, reason=reason, by=door.person)
    await _tell(door, fact, run_id)
    from legato.lost import end_if_lost  # noqa: PLC0415 - reading commands load no Temporal

    lost = None if accepted.run.ended else await end_if_lost(door, run_id, submission)
    return accepted if lost is None else replace(accepted, run=lost)


async def raise_budget(door: Door, run_id: str, wanted: Wanted, *, submission: str) -> Accepted:
    """Allow an open run to spend more, from its next decision on.

    Raises `run_not_found`, `run_closed`, `run_not_begun`, `budget_refused`.
    """
    author = door.author(run_id, submission)
    accepted = await _repeated(
        lambda: accept_raise(door.ledger, author, run_id, submission, wanted)
    )
    raised = await read_event(door.ledger, run_stream(run_id), accepted.event)
    if raised is not None:
        await _tell(door, raised.fact, run_id)
    return accepted


async def _repeated(command: Callable[[], Awaitable[T]]) -> T:
    """Repeat a command under its own ids while the ledger is away, for a while."""
    until = time.monotonic() + AGAIN
    while True:
        try:
            return await command()
        except LegatoError as exc:
            if exc.code != "ledger_unreachable" or time.monotonic() > until:
                raise
        except UNREACHABLE:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(LOOK)


async def _tell(door: Door, fact: Fact, run_id: str) -> None:
    settings = door.settings
    kill_points(settings.kill_points, settings.home / "kill_points")(f"before:tell:{fact.type}")
    from legato.tell import tell_at_once  # noqa: PLC0415 - reading commands load no Temporal

    await tell_at_once(door, fact, run_id)


async def follow(door: Door, run_id: str) -> AsyncIterator[list[Recorded]]:
    """Give a run's events as they come, in batches; the last batch holds its end.

    Raises what `live` raises.
    """
    async for batch in live(door.ledger, run_id, Cursor()):
        events = [told.what for told in batch if isinstance(told.what, Recorded)]
        if events:
            yield events


async def wait(door: Door, run_id: str, tell: Callable[[Recorded], None]) -> Run:
    """Follow a run until it has ended or only a person can move it on.

    `tell` is given each event as it comes. Raises what `follow` raises.
    """
    run = Run()
    async for batch in follow(door, run_id):
        for event in batch:
            run = evolve(run, event.fact)
            tell(event)
        if needs_person(run):
            break
    return run


def needs_person(run: Run) -> bool:
    """Tell whether a run stands still until a person answers."""
    return run.status is Status.WAITING and run.waiting is not None and run.waiting.on in PEOPLE
