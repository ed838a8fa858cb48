"""The facts of a summary: a model is asked for it, and it takes a conversation's beginning over."""

from __future__ import annotations

from typing import ClassVar, Literal

from domain.event import AtRequest, AtStep
from domain.runs.conversation import Text, Usage


class SummaryRequested(AtRequest):
    """A model is about to be asked to sum up the beginning of a conversation that is too long.

    `turn` and `step` are the ones that are being taken, `n` counts the step's summaries.
    """

    type: Literal["summary.requested"] = "summary.requested"
    owner: str
    model: str
    reserved: Usage


class SummarySettled(AtRequest):
    """A requested summary took no place: `code` says why, `usage` what it counts as.

    What `usage` does not tell counts as reserved. `lost` is one of another execution that was
    given up, `discarded` one that was written when there was a summary, or an end, already.
    """

    after_end: ClassVar[bool] = True
    type: Literal["summary.settled"] = "summary.settled"
    code: str
    usage: Usage


class ContextCompacted(AtStep):
    """A summary took the place of the conversation up to a step, which was too long.

    `turn` and `step` are the ones that were being taken. `through_turn` and `through_step` name
    the last step that is summed up, 0 and 0 where only earlier runs of the session are; `kept`
    names what of it stays word for word: `turn.started:TURN`, `incoming:VERSION`, or a result's
    id. `model` wrote the summary, as the answer to request `n`; "" and 0 where it was taken from
    the record. `usage` is what that used. The facts that are summed up stay where they are.
    """

    keys: ClassVar[tuple[str, ...]] = ("turn", "step")
    type: Literal["context.compacted"] = "context.compacted"
    through_turn: int
    through_step: int
    summary: Text
    kept: tuple[str, ...]
    model: str
    usage: Usage
    n: int = 0
