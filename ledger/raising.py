"""Accepts that a person raises the budget of an open run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from domain.errors import LegatoError, refused
from domain.events import BudgetRaised, event_id
from domain.ids import run_stream
from domain.runs.raising import added_by
from domain.runs.run import evolve, fold
from ledger.accept import Accepted, check_submission, load_run
from ledger.append import Part, TakenError, VersionConflictError, append

if TYPE_CHECKING:
    from domain.events import Fact
    from domain.runs.raising import Wanted
    from domain.runs.run import Run
    from ledger.connect import Ledger
    from ledger.encode import Author


async def accept_raise(
    ledger: Ledger, author: Author, run_id: str, submission: str, wanted: Wanted
) -> Accepted:
    """Accept a raised budget: from the run's next decision on it may spend so much.

    What is added is told by the budget as it stands where the event is appended. Raises
    `run_not_found`, `submission_invalid`, `budget_refused`, `idempotency_mismatch`,
    `run_not_begun` of a run in its slot's line, and `run_closed` where the run has ended or
    is being ended. A repeated submission gives the first result even then.
    """
    check_submission(submission)
    stream = run_stream(run_id)
    while True:
        run, facts = await load_run(ledger, run_id)
        earlier = _earlier(author, submission, wanted, facts)
        if earlier is not None:
            return Accepted(run, stream, event_id(facts[earlier - 1]), earlier)
        _require_open(run, run_id)
        fact = BudgetRaised(
            submission=submission, added=added_by(run.budget, wanted), by=author.actor
        )
        try:
            with suppress(VersionConflictError, TakenError):
                await append(ledger, author, Part(stream, (fact,), run.version))
                raised = evolve(run, fact)
                return Accepted(raised, stream, event_id(fact), raised.version)
        except LegatoError as exc:  # it ended meanwhile: told with the way on
            if exc.code != "run_closed":
                raise


def _earlier(author: Author, submission: str, wanted: Wanted, facts: list[Fact]) -> int | None:
    """Give the version at which this very submission stands, None where it is new."""
    for version, fact in enumerate(facts, start=1):
        if not isinstance(fact, BudgetRaised) or fact.submission != submission:
            continue
        before = fold(facts[: version - 1]).budget
        if fact.by == author.actor and fact.added == added_by(before, wanted):
            return version
        raise refused(
            "idempotency_mismatch",
            f"{submission} raised the budget before by something else",
            next="use a new submission id for a new command",
        )
    return None


def _require_open(run: Run, run_id: str) -> None:
    """Refuse a run whose budget nothing can be done with any more, or not yet."""
    if run.ended is not None or run.halted:
        how = "has ended" if run.ended is not None else "is being ended"
        raise refused(
            "run_closed",
            f"the run {run_id} {how} and spends nothing more",
            next=f"go on in a new run with `legato resume {run_id}` once it has ended",
        )
    if run.accepted is None:
        raise refused(
            "run_not_begun",
            f"the run {run_id} waits in its slot's line and has spent nothing",
            next="raise its budget once it has begun, or stop it and ask anew",
        )
