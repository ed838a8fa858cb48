"""The rows under a projector's hands: those it needs, and those it has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeAlias

from domain.projections.rows import (
    CallRow,
    InputRow,
    ItemRow,
    RunRow,
    SessionRow,
    StepRow,
    UsageRow,
)

RunKey: TypeAlias = str
ItemKey: TypeAlias = tuple[str, int]
StepKey: TypeAlias = tuple[str, int, int]
CallKey: TypeAlias = tuple[str, int, int, int]
InputKey: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class Sequenced:
    """One event as the feed gives it: its stream's kind and the rest of the stream's name.

    `body` is its fields, empty for a type of which none are looked at. `damage` is the code
    of what keeps it from being read, "" for nothing; `worked` is for how many seconds the
    execution that recorded it had lived by then.
    """

    kind: str
    name: str
    version: int
    type: str
    at: datetime
    body: dict[str, Any]
    damage: str = ""
    worked: float = 0.0

    @property
    def stream(self) -> str:
        """Give the stream's name."""
        return f"{self.kind}/{self.name}"


@dataclass
class Changed:
    """The rows that a batch has changed, by key."""

    runs: dict[RunKey, RunRow] = field(default_factory=dict[RunKey, RunRow])
    items: dict[ItemKey, ItemRow] = field(default_factory=dict[ItemKey, ItemRow])
    steps: dict[StepKey, StepRow] = field(default_factory=dict[StepKey, StepRow])
    calls: dict[CallKey, CallRow] = field(default_factory=dict[CallKey, CallRow])
    inputs: dict[InputKey, InputRow] = field(default_factory=dict[InputKey, InputRow])
    sessions: dict[str, SessionRow] = field(default_factory=dict[str, SessionRow])


@dataclass
class Tables:
    """Rows by key, one mapping a table.

    Whoever calls the projector puts in the rows that `needs` names, as far as there are any;
    a row that is not there is made. `changed` are the rows to be written, by the same keys.
    `usage` holds what is to be added to the rows that are there.
    """

    runs: dict[RunKey, RunRow] = field(default_factory=dict[RunKey, RunRow])
    items: dict[ItemKey, ItemRow] = field(default_factory=dict[ItemKey, ItemRow])
    steps: dict[StepKey, StepRow] = field(default_factory=dict[StepKey, StepRow])
    calls: dict[CallKey, CallRow] = field(default_factory=dict[CallKey, CallRow])
    inputs: dict[InputKey, InputRow] = field(default_factory=dict[InputKey, InputRow])
    sessions: dict[str, SessionRow] = field(default_factory=dict[str, SessionRow])
    usage: dict[tuple[str, int, date], UsageRow] = field(
        default_factory=dict[tuple[str, int, "date"], UsageRow]
    )
    changed: Changed = field(default_factory=Changed)

    def begin(self) -> None:
        """Begin a batch: nothing is changed, nothing is to be added yet."""
        self.changed, self.usage = Changed(), {}

    def size(self) -> int:
        """Count the rows."""
        return (
            len(self.runs)
            + len(self.items)
            + len(self.steps)
            + len(self.calls)
            + len(self.inputs)
            + len(self.sessions)
        )

    def run(self, run_id: str) -> RunRow:
        """Give a run's row to be changed."""
        row = self.runs.get(run_id)
        if row is None:
            row = self.runs[run_id] = RunRow(run_id)
        self.changed.runs[run_id] = row
        return row

    def item(self, run_id: str, item: int) -> ItemRow:
        """Give an item's row to be changed."""
        key = (run_id, item)
        row = self.items.get(key)
        if row is None:
            row = self.items[key] = ItemRow(run_id, item)
        self.changed.items[key] = row
        return row

    def step(self, run_id: str, turn: int, step: int) -> StepRow:
        """Give a step's row to be changed."""
        key = (run_id, turn, step)
        row = self.steps.get(key)
        if row is None:
            row = self.steps[key] = StepRow(run_id, turn, step)
        self.changed.steps[key] = row
        return row

    def call(self, run_id: str, turn: int, step: int, position: int) -> CallRow:
        """Give a call's row to be changed."""
        key = (run_id, turn, step, position)
        row = self.calls.get(key)
        if row is None:
            row = self.calls[key] = CallRow(run_id, turn, step, position)
        self.changed.calls[key] = row
        return row

    def input(self, run_id: str, input_id: str) -> InputRow:
        """Give a question's row to be changed."""
        key = (run_id, input_id)
        row = self.inputs.get(key)
        if row is None:
            row = self.inputs[key] = InputRow(run_id, input_id)
        self.changed.inputs[key] = row
        return row

    def session(self, session: str) -> SessionRow:
        """Give a session's row to be changed."""
        row = self.sessions.get(session)
        if row is None:
            row = self.sessions[session] = SessionRow(session)
        self.changed.sessions[session] = row
        return row

    def used(self, run: RunRow, item: int, at: datetime) -> UsageRow:
        """Give what is to be added to an item's usage of a day."""
        key = (run.run_id, item, at.date())
        row = self.usage.get(key)
        if row is None:
            row = self.usage[key] = UsageRow(*key, run.agent or "")
        return row
