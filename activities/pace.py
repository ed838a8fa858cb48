"""Keeps requests to the rate that an operator set for their model, over all workers."""

from __future__ import annotations

import asyncio
import hmac
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.models.load import ready
from domain.errors import LegatoError
from domain.runs.budget import tokens_of
from domain.runs.model_name import parse_model
from domain.runs.pace import rate_of
from ledger.connect import reaching
from ledger.pace import Wanted, give_back, take_turn

if TYPE_CHECKING:
    from activities.world import World
    from domain.runs.conversation import Usage

RATE_KEPT = "rate_kept"
"""Why a run waits whose next turn is far away."""

LONGEST_SLEEP = 30.0
"""Seconds that a request waits for its turn within its activity; a longer wait is the run's."""


@dataclass(frozen=True)
class Paced:
    """What became of wanting a turn: slept for so many seconds, or far by so many."""

    slept: float = 0.0
    far: float = 0.0


def wanted(world: World, model: str, workspace: str, reserved: Usage) -> Wanted | None:
    """Say which turn a request wants; None where no rate is set for its model."""
    if not world.paces.rates or not model:
        return None
    name = parse_model(model)
    rate = rate_of(world.paces.rates, name)
    if rate is None:
        return None
    weight = world.paces.weight(workspace)
    key = f"{name.key} {_credential(world, model)}"
    return Wanted(key, workspace, weight, rate.requests, rate.tokens, tokens_of(reserved))


def _credential(world: World, model: str) -> str:
    """Tell keys apart without a way back to them."""
    key = world.model_key(model)
    return hmac.digest(world.ledger.secret, key.encode(), "sha256").hex()[:16] if key else "none"


async def await_turn(world: World, model: str, want: Wanted | None) -> Paced:
    """Take a request's turn and wait until it comes, unless it is far away.

    What takes seconds the first time is done before: a turn is for now.
    """
    if want is None:
        return Paced()
    await ready(parse_model(model))
    with reaching():
        turn = await take_turn(world.ledger, want, LONGEST_SLEEP)
    if not turn.taken:
        return Paced(far=turn.wait)
    if turn.wait > 0:
        await asyncio.sleep(turn.wait)
    return Paced(slept=turn.wait)


async def settle_turn(world: World, want: Wanted | None, used: Usage) -> None:
    """Give back what a request did not use of its tokens; without the ledger it stays taken."""
    if want is None or used.input_tokens is None:
        return
    with suppress(LegatoError), reaching():
        await give_back(world.ledger, want, tokens_of(used))
