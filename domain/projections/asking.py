"""What questions do to their rows, and messages and sessions to theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.codec import canonical
from domain.runs.inputs import InputKind

if TYPE_CHECKING:
    from domain.projections.rows import RunRow
    from domain.projections.tables import Sequenced, Tables


def asked(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Put a question to people."""
    body, question = event.body, event.body["question"]
    row = tables.input(run.run_id, body["input_id"])
    row.kind, row.text = question["kind"], question["text"]
    row.choices = canonical(question["choices"]).decode()
    row.who = canonical(question["who"]).decode()
    row.turn, row.step, row.position = body["turn"], body["step"], body["position"]
    row.expires_at, row.asked_at = body.get("expires_at"), event.at
    unknown = row.kind == InputKind.UNKNOWN
    run.open_unknown += unknown
    if unknown or run.ended_at is None:
        run.open_questions += 1


def settled(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Close a question, once."""
    body = event.body
    row = tables.input(run.run_id, body["input_id"])
    if row.asked_at is None or row.settled_at is not None:
        return
    row.how, row.by, row.settled_at = body["how"], body["by"], event.at
    unknown = row.kind == InputKind.UNKNOWN
    run.open_unknown -= unknown
    if unknown or run.ended_at is None:
        run.open_questions -= 1


def late(tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Count an answer that lost."""
    tables.input(run.run_id, event.body["input_id"]).late += 1


def taken(tables: Tables, event: Sequenced, session: str) -> None:
    """Let a run hold its session."""
    row = tables.session(session)
    row.version, row.taken_at = event.version, event.at
    row.run_id = row.last_run = event.body["run_id"]
    row.runs += 1


def released(tables: Tables, event: Sequenced, session: str) -> None:
    """Take the session back from the run that held it."""
    row = tables.session(session)
    row.version, row.released_at = event.version, event.at
    if row.run_id == event.body["run_id"]:
        row.run_id = None


def accepted(tables: Tables, event: Sequenced, session: str) -> None:
    """Count a message of a session."""
    row = tables.session(session)
    row.incoming, row.message_at = event.version, event.at
    row.messages += 1
    row.later += bool(event.body["later"])
