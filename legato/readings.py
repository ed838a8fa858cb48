"""What is read out of the ledger to be shown of one run: its events, folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.roles import ROLES
from domain.errors import bug, refused
from domain.events import Asked, MessageAccepted
from domain.ids import incoming_stream, run_stream
from domain.runs.closing import following_id
from domain.runs.overview import overview
from domain.runs.recorded import Recorded, facts_of
from domain.runs.run import fold
from ledger.reads import find_streams, read_head, read_stream
from legato.embedded import has_ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.errors import LegatoError
    from domain.runs.overview import Overview
    from ledger.connect import Ledger
    from ledger.reads import Stored
    from legato.settings import Settings

LEAST_PREFIX = 8
_ROW = (
    *("run_id", "workflow_id", "agent", "workspace", "workspace_path", "entry", "session"),
    *("status", "stuck", "reason", "by", "waiting_on"),
    *("accepted_at", "started_at", "ended_at", "model", "fingerprint"),
    *("items_done", "turn", "step", "steps", "calls", "tokens", "cost", "cost_unknown"),
    "tokens_unknown",
)


def recorded(stored: Stored) -> Recorded:
    """Turn what stands in the ledger into what views are folded from."""
    return Recorded(
        version=stored.version,
        event_id=str(stored.envelope["event_id"]),
        at=stored.recorded_at,
        actor=str(stored.envelope["actor"]),
        fact=stored.fact,
        worked=stored.worked,
    )


async def find_run(ledger: Ledger, written: str) -> str:
    """Find a run by its id or a unique beginning of it.

    Raises `run_not_found`, and `run_ambiguous` with all that it could be.
    """
    wanted = _wanted(written)
    found = await find_streams(ledger, run_stream(wanted))
    if len(found) == 1:
        return found[0].removeprefix("run/")
    if found:
        ids = [stream.removeprefix("run/") for stream in found]
        raise refused(
            "run_ambiguous",
            f"{written!r} is the beginning of more than one run: {', '.join(ids)}",
            next="write more of the run's id",
            details={"runs": ids},
        )
    raise _no_run(written)


def require_findable(settings: Settings, written: str) -> None:
    """Refuse, without starting anything, an id that no run can have.

    Raises `run_not_found` where it is too short, and where this home never had a ledger.
    """
    _wanted(written)
    if not has_ledger(settings):
        raise _no_run(written, f"nothing was ever started in {settings.home}")


def _wanted(written: str) -> str:
    wanted = written.strip().lower()
    if len(wanted) < LEAST_PREFIX:
        raise _no_run(written, f"a beginning needs at least {LEAST_PREFIX} characters")
    return wanted


def _no_run(written: str, cause: str = "") -> LegatoError:
    said, step = f"there is no run {written!r}", "list the runs with `legato runs`"
    return refused("run_not_found", said, cause=cause, next=step)


async def read_run(ledger: Ledger, run_id: str) -> list[Recorded]:
    """Read a run's events; raises `run_not_found`."""
    events = [recorded(one) for one in await read_stream(ledger, run_stream(run_id))]
    if not events:
        raise _no_run(run_id)
    return events


@dataclass(frozen=True)
class Session:
    """What a run's session knows of it: messages, and the run that follows ("" for none).

    `for_later` tells whether messages wait that start a run after its end.
    """

    incoming: tuple[Recorded, ...] = ()
    following: str = ""
    for_later: bool = False


async def read_session(ledger: Ledger, events: Sequence[Recorded]) -> Session:
    """Read the messages of a run's session, and which run has followed it."""
    asked = fold(facts_of(events)).asked_for
    if asked is None:
        return Session()
    incoming = await read_stream(ledger, incoming_stream(asked.session))
    after = following_id(asked)
    following = after if (await read_head(ledger, run_stream(after))).version else ""
    fresh = [one.fact for one in incoming if one.version > asked.incoming]
    later = any(isinstance(fact, MessageAccepted) and fact.later for fact in fresh)
    return Session(tuple(recorded(one) for one in incoming), following, later)


def overview_of(events: Sequence[Recorded]) -> Overview:
    """Fold a run's events; raises `run_without_beginning` where the stream is damaged."""
    seen = overview(events)
    if seen is None:
        raise bug("run_without_beginning", "a run's stream does not begin with its acceptance")
    return seen


def profile_of(events: Sequence[Recorded]) -> str:
    """Name the run's profile: the one asked for, or its role's own."""
    request = next((f.request for f in facts_of(events) if isinstance(f, Asked)), None)
    if request is None:
        return ""
    return profile_named(request.profile, request.role)


def profile_named(asked: str | None, role: str) -> str:
    """Name a profile: the one asked for, or the role's own."""
    known = ROLES.get(role)
    return str(asked or ("" if known is None else known.default_profile.value))


def row_of(events: Sequence[Recorded]) -> dict[str, object]:
    """Give a run's row in a list: nothing in it depends on now."""
    seen = overview_of(events)
    flat = seen.flat()
    row = {name: flat[name] for name in _ROW}
    row["items"] = len(seen.place.items)
    row["unknown_effects"] = len(seen.waits.unknown_effects)
    row["open_questions"] = len(seen.waits.open_questions)
    row["profile"] = profile_of(events)
    return row


def answer_command(run_id: str, input_id: str, choices: Sequence[str]) -> str:
    """Write the command that answers a question, its first choice filled in."""
    answer = f'"{choices[0]}"' if choices else '"..."'
    return f"legato answer {run_id} {input_id} {answer}"
