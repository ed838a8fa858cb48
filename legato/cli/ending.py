"""How a run stands when its following ends: the exit status, and the result for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import LegatoError, to_json
from domain.runs.budget import LIMITS
from domain.runs.messages import sent_to, undelivered
from domain.runs.overview import Overview
from domain.runs.recorded import facts_of
from domain.runs.run import Status
from legato.cli.refusal import MEND, next_step
from legato.readings import Session, answer_command, overview_of, profile_of
from legato.settings import secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.recorded import Recorded

REFUSED = 3
EXITS = {
    Status.COMPLETED: 0,
    Status.WAITING: 5,
    Status.ESCALATED: 5,
    Status.STOPPED: 6,
    Status.SUPERSEDED: 6,
}
"""The exit status of `run` by the run's status; every other status is 1."""


@dataclass(frozen=True)
class Ended:
    """What following came to: `error` says what is left to do where it is not `completed`.

    `following` is the run that follows, `left` the messages that were not delivered.
    """

    seen: Overview
    profile: str
    page: str
    exit: int
    error: LegatoError | None
    following: str = ""
    left: tuple[str, ...] = ()


def ended(events: Sequence[Recorded], page: str, session: Session | None = None) -> Ended:
    """Judge a run by its events; `page` is its address in the Temporal UI."""
    seen = overview_of(events)
    status = Status(seen.state.status)
    refusal = any(fact.type == "run.refused" for fact in facts_of(events))
    exit_status = REFUSED if refusal else EXITS.get(status, 1)
    error = _error(seen, status)
    if error is not None and refusal:
        error.details = {**error.details, "problems": _problems(events)}
    session = session or Session()
    closed = bool(events) and events[-1].fact.closes
    left = undelivered(events, sent_to(events, session.incoming)) if closed else []
    profile = profile_of(events)
    return Ended(seen, profile, page, exit_status, error, session.following, tuple(left))


def ending_json(end: Ended) -> dict[str, object]:
    """Give the run with all its figures, and the error beside it where there is one."""
    found: dict[str, object] = {"ok": end.error is None, **end.seen.flat()}
    found |= {"profile": end.profile, "ui": end.page, "exit": end.exit}
    found |= {"following": end.following, "undelivered": list(end.left)}
    return found if end.error is None else {**found, "error": to_json(end.error)["error"]}


def _problems(events: Sequence[Recorded]) -> list[str]:
    return [one for fact in facts_of(events) if fact.type == "run.refused" for one in fact.problems]


def _error(seen: Overview, status: Status) -> LegatoError | None:
    run_id, state = seen.identity.run_id, seen.state
    details: dict[str, object] = {"run_id": run_id, "status": status.value}
    show = f"see `legato show {run_id}`"
    match status:
        case Status.COMPLETED:
            return None
        case Status.WAITING:
            return _waits(seen, details)
        case Status.STOPPED:
            said = f"the run was stopped by {state.by}"
            return LegatoError("run_stopped", said, cause=state.message, next=show, details=details)
        case _:
            code = state.reason or f"run_{status.value}"
            said = state.message or f"the run ended as {status.value}"
            step = next_step(f"{code} {said}", seen.identity.model, _here)
            if (limit := code.removeprefix("budget_")) in LIMITS:
                more = f"--max-{limit} +N"
                step = f"`legato resume {run_id} {more}` goes on with N more; {show}"
            step = step or (f"{MEND}; {show}" if code == "definition_refused" else show)
            return LegatoError(code, said, cause=code, next=step, details=details)


def _here(name: str) -> bool:
    """Tell whether this command's own environment holds a variable."""
    return bool(secret(name))


def _waits(seen: Overview, details: dict[str, object]) -> LegatoError:
    run_id, asked = seen.identity.run_id, seen.waits.open_questions
    commands = [answer_command(run_id, one.input_id, one.choices) for one in asked]
    return LegatoError(
        "waits_for_person",
        asked[0].text if asked else f"the run waits for {seen.waits.waiting_on}",
        cause="the run goes on once this is answered",
        next=commands[0] if commands else f"see `legato show {run_id}`",
        details={**details, "commands": commands},
    )
