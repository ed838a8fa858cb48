"""The facts of a run's budget: told to wrap up, raised by a person, spent."""

from __future__ import annotations

from typing import ClassVar, Literal

from domain.event import AtStep, Event, Use
from domain.runs.budget import Limit, Limits


class BudgetWarned(AtStep):
    """The agent is told to wrap up, in the request beside it; `n` counts from 1.

    `limits` names the soft limits that were reached, `text` is what the agent is told.
    """

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["budget.warned"] = "budget.warned"
    n: int
    limits: tuple[Limit, ...]
    text: str


class BudgetRaised(Event):
    """A person allowed an open run more; `added` holds what comes on top of each limit."""

    keys: ClassVar[tuple[str, ...]] = ("submission",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["budget.raised"] = "budget.raised"
    submission: str
    added: Limits
    by: str


class BudgetSpent(Event):
    """A hard limit is reached: nothing more is begun, and the run ends as `over_budget`.

    `reason` is the code of it; `spent` and `hard` are in the limit's own unit, `needed` is
    what the next request would have reserved of it, "" where that is not what passes it.
    """

    type: Literal["budget.spent"] = "budget.spent"
    reason: str
    limit: Limit
    spent: str
    hard: str
    needed: str = ""
