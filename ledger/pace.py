"""Turns at a model's rate, shared by all workers: coordination, and no fact of any run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.connect import Ledger

_TAKE = "select * from coordination.take($1, $2, $3, $4, $5, $6, $7)"
_GIVE_BACK = "select coordination.give_back($1, $2, $3)"


@dataclass(frozen=True)
class Wanted:
    """One request that wants its turn: `key` names provider, credential and model.

    `requests` and `tokens` are the rates in a minute (0: none), `cost` the tokens that this
    request may use, `weight` the share of `workspace` beside others that want turns too.
    """

    key: str
    workspace: str
    weight: int
    requests: int
    tokens: int
    cost: int


@dataclass(frozen=True)
class Turn:
    """How many seconds from now the turn comes; `taken` tells that it is this request's."""

    wait: float
    taken: bool


async def take_turn(ledger: Ledger, wanted: Wanted, longest: float) -> Turn:
    """Take the next turn, unless it is more than `longest` seconds away."""
    row = await ledger.pool.fetchrow(
        _TAKE,
        wanted.key,
        wanted.workspace,
        wanted.weight,
        wanted.requests,
        wanted.tokens,
        wanted.cost,
        longest,
    )
    if row is None:
        return Turn(0.0, taken=True)
    return Turn(float(row["wait"]), bool(row["taken"]))


async def give_back(ledger: Ledger, wanted: Wanted, used: int) -> None:
    """Give back the tokens that a request had reserved and did not use."""
    if wanted.tokens and used < wanted.cost:
        seconds = (wanted.cost - used) * 60 / wanted.tokens
        await ledger.pool.execute(_GIVE_BACK, wanted.key, wanted.workspace, seconds)


async def shares(ledger: Ledger, key: str) -> dict[str, dict[str, float]]:
    """Read the shares of a key: for each workspace its weight and when its next turn may be."""
    found = await ledger.pool.fetchval(
        "select shares::text from coordination.pace where key = $1", key
    )
    return json.loads(found) if found is not None else {}
