"""What a person asks a budget to become: limits anew or on top, and what is wrong with them."""

from __future__ import annotations

from decimal import Decimal

from domain.errors import problems
from domain.runs.budget import LIMITS, Budget, Limit, Limits, raised, written
from domain.runs.conversation import Frozen


class Wanted(Frozen):
    """Limits as they are asked for: `total` as they shall be, `more` on top of what is there."""

    total: Limits = Limits()
    more: Limits = Limits()

    def named(self) -> tuple[Limit, ...]:
        """Name every limit that is asked for."""
        return tuple(
            limit
            for limit in LIMITS
            if self.total.amount(limit) is not None or self.more.amount(limit) is not None
        )


def added_by(budget: Budget, wanted: Wanted) -> Limits:
    """Give what comes on top of each limit of an open run.

    Raises `budget_refused` with everything that is wrong: a limit that the run does not have,
    one that would not be higher than it is, nothing named at all.
    """
    found, added = list[str](), dict[str, object]()
    for limit in wanted.named():
        at = budget.amount(limit)
        if at is None:
            found.append(f"limit_not_set: the run has no limit of {limit}, and needs none raised")
            continue
        total, more = wanted.total.amount(limit), wanted.more.amount(limit)
        step = (total - at if total is not None else Decimal(0)) + (more or Decimal(0))
        if step <= 0:
            found.append(f"limit_not_raised: {limit} would not be more than {written(limit, at)}")
        added[limit] = written(limit, step)
    if not wanted.named():
        found.append("nothing_named: no limit is named")
    if found:
        raise problems(
            "budget_refused",
            "the budget cannot be raised so",
            found,
            next="name limits that `legato show RUN` lists, each higher than it is or as +N",
        )
    return Limits.model_validate(added)


def budget_with(budget: Budget, wanted: Wanted) -> Budget:
    """Give the budget of a run that goes on from another: changed in any direction.

    A soft limit that was given moves with its hard one. Raises `budget_refused` for more of
    a limit that is not there.
    """
    found, fresh, added = list[str](), dict[str, object](), dict[str, object]()
    for limit in wanted.named():
        at, total = budget.amount(limit), wanted.total.amount(limit)
        if at is None and total is None:
            found.append(f"limit_not_set: the run has no limit of {limit} to add to")
        elif at is None and total is not None:
            fresh[limit] = written(limit, total)
        elif at is not None:
            step = total - at if total is not None else wanted.more.amount(limit) or Decimal(0)
            added[limit] = written(limit, step)
    if found:
        mend = "write N without a plus for a limit that the run does not have"
        raise problems("budget_refused", "the run cannot have this budget", found, next=mend)
    grown = raised(budget, Limits.model_validate(added))
    return grown.model_copy(update=fresh)
