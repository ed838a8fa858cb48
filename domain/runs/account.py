"""The sums of a run's model requests: reserved when sent, settled once, unknown counts as spent."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from domain.replace import replace
from domain.runs.budget import Spent, counted, tokens_of
from domain.runs.conversation import Usage

MAYBE_BILLED = frozenset(
    {
        "bad_response",
        "content_filtered",
        "empty_answer",
        "half_stream",
        "model_raised",
        "model_timeout",
        "output_limit_reached",
        "over_budget",
        "stopped",
    }
)
"""Failures after which nobody can tell what the provider counted: the reservation counts.

All others were refused by the provider, or never reached it; before any text they cost nothing.
"""


NOTHING = Usage(input_tokens=0, output_tokens=0, cost="0")
"""What a request counts that its provider has certainly counted nothing of."""

What: TypeAlias = Literal["step", "summary"]
"""What a model is asked for: the step's answer, or a summary that makes room for it."""

Place: TypeAlias = tuple[int, int, int, What]
"""Which request: turn, step, number among those of the step, and what it asks for."""


@dataclass(frozen=True)
class Held:
    """One request and what it reserved."""

    turn: int
    step: int
    n: int
    reserved: Usage
    what: What = "step"

    @property
    def at(self) -> Place:
        """Give its place."""
        return self.turn, self.step, self.n, self.what


@dataclass(frozen=True)
class Account:
    """What was spent, which requests are under way, and which count at their reservation.

    `reserved` requests have no outcome yet and are not in `spent`; `guessed` ones are in
    `spent` at their reservation until somebody tells what they used.
    """

    spent: Spent = Spent()
    reserved: tuple[Held, ...] = ()
    guessed: tuple[Held, ...] = ()


def reserve(account: Account, held: Held) -> Account:
    """Take in a request that is about to be sent."""
    spent = account.spent.model_copy(update={"steps": account.spent.steps + 1})
    return replace(account, spent=spent, reserved=(*account.reserved, held))


def settle(account: Account, at: Place, used: Usage) -> Account:
    """Count what a request used, instead of its reservation where it counted at that."""
    held = _of(account.reserved, at) or _of(account.guessed, at)
    reserved = held.reserved if held is not None else Usage()
    spent = account.spent
    if held is not None and held in account.guessed:
        spent = _add(spent, tokens_of(reserved), reserved.cost, -1, unknown=-1)
    tokens, cost = counted(
        used.input_tokens, used.output_tokens, used.cost, tokens_of(reserved), reserved.cost
    )
    unknown = int(used.input_tokens is None or used.output_tokens is None)
    return _without(replace(account, spent=_add(spent, tokens, cost, 1, unknown=unknown)), at)


def give_up(account: Account, at: Place) -> Account:
    """Count a request whose outcome nobody knows at its reservation, once."""
    held = _of(account.reserved, at)
    if held is None:
        return account
    reserved = held.reserved
    spent = _add(account.spent, tokens_of(reserved), reserved.cost, 1, unknown=1)
    account = _without(replace(account, spent=spent), at)
    return replace(account, guessed=(*account.guessed, held))


def fail(account: Account, at: Place, code: str, partial: str) -> Account:
    """Count a request that failed: nothing where its provider has certainly counted nothing."""
    if partial or code in MAYBE_BILLED:
        return give_up(account, at)
    known = _of((*account.reserved, *account.guessed), at)
    return account if known is None else settle(account, at, NOTHING)


def used_by_failed(code: str, partial: str) -> Usage:
    """Tell what a request that failed used: nothing, or what nobody can tell."""
    return Usage() if partial or code in MAYBE_BILLED else NOTHING


def total(held: tuple[Held, ...], more: Usage | None = None) -> Usage:
    """Add reservations up, with one more; a price that is unknown makes the sum's unknown."""
    usages = [one.reserved for one in held]
    if more is not None:
        usages.append(more)
    cost = Decimal(0)
    known = True
    for one in usages:
        known = known and one.cost is not None
        cost += Decimal(one.cost or "0")
    return Usage(
        input_tokens=sum(one.input_tokens or 0 for one in usages),
        output_tokens=sum(one.output_tokens or 0 for one in usages),
        cost=format(cost, "f") if known else None,
    )


def _of(held: tuple[Held, ...], at: Place) -> Held | None:
    return next((one for one in held if one.at == at), None)


def _without(account: Account, at: Place) -> Account:
    return replace(
        account,
        reserved=tuple(one for one in account.reserved if one.at != at),
        guessed=tuple(one for one in account.guessed if one.at != at),
    )


def _add(spent: Spent, tokens: int, cost: str | None, sign: int, *, unknown: int) -> Spent:
    total = Decimal(spent.cost) + sign * Decimal(cost or "0")
    return spent.model_copy(
        update={
            "tokens": spent.tokens + sign * tokens,
            "cost": format(total, "f"),
            "cost_unknown": spent.cost_unknown + sign * (cost is None),
            "tokens_unknown": spent.tokens_unknown + unknown,
        }
    )
