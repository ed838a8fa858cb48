"""The rows of the projections: a class a table, a field a column, in the table's order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

JsonText: TypeAlias = str
"""Canonical JSON as text: a column of type jsonb."""


@dataclass(slots=True)
class RunRow:
    """One run. None is what has not happened or nobody knows, 0 is none.

    `version` is that of the run's stream, which the row tells up to. `item`, `turn`, `step`
    are where it is, counting from 1. `steps` counts model requests, those for a summary
    included, `answered` those with a response; `tokens` and `cost` (US dollars) are what counts
    against the budget, the three kinds of tokens what providers said; `cost_unknown` and
    `tokens_unknown` count requests.
    `open_unknown` are the open questions about effects that nobody can tell. `damaged` is the
    code of what is wrong with event `damaged_at` of its stream: all else is what was known
    before it, and the run's end.

    `budget` is what it may spend with all that was added; `reserved_tokens`, `reserved_cost`
    and `reserved_unpriced` (a count) are of the requests that nothing came of yet. `worked` is
    its working time in microseconds up to `work_at` (microseconds since 1970), `work_gaps` what
    no execution has vouched for.
    """

    run_id: str
    version: int = 0
    status: str = "queued"
    workflow_id: str | None = None
    agent: str | None = None
    entry: str | None = None
    workspace: str | None = None
    workspace_path: str | None = None
    session: str | None = None
    slot: str | None = None
    slot_n: int | None = None
    resumes: str | None = None
    principal: str | None = None
    profile: str | None = None
    attended: bool | None = None
    model: str | None = None
    fingerprint: str | None = None
    confinement: str | None = None
    epoch: int = 0
    temporal_run: str | None = None
    items: int | None = None
    items_done: int = 0
    item: int = 0
    turn: int = 0
    turns_done: int = 0
    step: int = 0
    steps: int = 0
    answered: int = 0
    calls: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    cost_unknown: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    tokens_unknown: int = 0
    waits: int = 0
    waiting_on: str | None = None
    waiting_ref: str | None = None
    waiting_until: str | None = None
    stuck: str | None = None
    stop_by: str | None = None
    stop_reason: str | None = None
    refusal: str | None = None
    end_reason: str | None = None
    end_by: str | None = None
    end_message: str | None = None
    unknown_effects: int = 0
    open_questions: int = 0
    open_unknown: int = 0
    accepted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    changed_at: datetime | None = None
    damaged: str | None = None
    damaged_at: int | None = None
    budget: JsonText = "{}"
    reserved_tokens: int = 0
    reserved_cost: Decimal = Decimal(0)
    reserved_unpriced: int = 0
    worked: int = 0
    work_at: int | None = None
    work_gaps: JsonText = "[]"


@dataclass(slots=True)
class ItemRow:
    """One item of a run's sequence, counting from 1; `check_ok` is how its last checks went."""

    run_id: str
    item: int
    name: str | None = None
    kind: str | None = None
    turns: int = 0
    repairs: int = 0
    checks: int = 0
    check_ok: bool | None = None
    started_at: datetime | None = None
    done_at: datetime | None = None


@dataclass(slots=True)
class StepRow:
    """One model step: its requests, for summaries too, and the response that one of them got.

    `last_n` is the last request's number and `reserved_tokens` and `reserved_cost` what it
    reserved, `reserved_before` the same of all that are not settled, by number, with an `s`
    before the number of one for a summary. `open_n` is the request that nothing came of yet,
    `answered_n` the one that the response answers; `failed` is the code of the failure that
    stands, `calls` how many the response asks for.
    """

    run_id: str
    turn: int
    step: int
    item: int = 0
    requests: int = 0
    open_n: int | None = None
    answered_n: int | None = None
    failures: int = 0
    failed: str | None = None
    model: str | None = None
    finish: str | None = None
    calls: int | None = None
    tokens: int = 0
    cost: Decimal | None = None
    cost_unknown: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    last_n: int = 0
    reserved_tokens: int = 0
    reserved_cost: str | None = None
    reserved_before: JsonText = "{}"
    requested_at: datetime | None = None
    answered_at: datetime | None = None


@dataclass(slots=True)
class CallRow:
    """One call: `round` counts its executions, `unknown` how often nobody could tell and can."""

    run_id: str
    turn: int
    step: int
    position: int
    item: int = 0
    name: str | None = None
    round: int = 0
    unknown: int = 0
    tag: str | None = None
    code: str | None = None
    by: str | None = None
    changed: int | None = None
    asked_at: datetime | None = None
    intended_at: datetime | None = None
    settled_at: datetime | None = None


@dataclass(slots=True)
class InputRow:
    """One question to people; `expires_at` as it was recorded, `late` counts answers that lost."""

    run_id: str
    input_id: str
    kind: str | None = None
    text: str | None = None
    choices: JsonText = "[]"
    who: JsonText = "[]"
    turn: int = 0
    step: int = 0
    position: int = 0
    expires_at: str | None = None
    how: str | None = None
    by: str | None = None
    late: int = 0
    asked_at: datetime | None = None
    settled_at: datetime | None = None


@dataclass(slots=True)
class SessionRow:
    """One session: the run that holds it, and the messages that were accepted for it.

    `version` is that of the session's stream, `incoming` that of its messages.
    """

    session: str
    version: int = 0
    incoming: int = 0
    run_id: str | None = None
    last_run: str | None = None
    runs: int = 0
    messages: int = 0
    later: int = 0
    taken_at: datetime | None = None
    released_at: datetime | None = None
    message_at: datetime | None = None


@dataclass(slots=True)
class UsageRow:
    """What one item of one run used on one day (UTC); 0 is the item of a run before its first.

    The columns as in `RunRow`, but that `cost` is None where no request had a price. The
    rows of a batch are added to those that are there: every figure is a sum.
    """

    run_id: str
    item: int
    day: date
    agent: str
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: Decimal | None = None
    cost_unknown: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    tokens_unknown: int = 0
