"""Turns at a model's rate: kept over several workers, shared by weight, given back."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from ledger.pace import Turn, Wanted, give_back, shares, take_turn
from tests.support.ledger import opened

if TYPE_CHECKING:
    from ledger.connect import Ledger

LONG = 1e6


def want(key: str, workspace: str = "a", weight: int = 1, *, cost: int = 0, tpm: int = 0) -> Wanted:
    """One request at 600 a minute."""
    return Wanted(key, workspace, weight, 600, tpm, cost)


async def turns(ledger: Ledger, *wanted: Wanted, longest: float = LONG) -> list[float]:
    """Take turns one after another; gives how far they were, in seconds from the first."""
    begun = time.monotonic()
    found: list[float] = []
    for one in wanted:
        turn = await take_turn(ledger, one, longest)
        found.append(turn.wait + time.monotonic() - begun)
    return found


async def test_two_pools_together_keep_one_rate(url: str) -> None:
    async with opened(url) as one, opened(url) as other:
        both = await asyncio.gather(
            turns(one, *[want("shared")] * 40), turns(other, *[want("shared")] * 40)
        )

    at = sorted(moment for moments in both for moment in moments)
    assert at[-1] - at[0] > (80 - 1) * 0.1 - 1.0 - 0.5
    assert sum(moment < at[0] + 3.0 for moment in at) <= 30 + 10 + 5


async def test_a_turn_that_is_too_far_is_not_taken(url: str) -> None:
    async with opened(url) as ledger:
        await turns(ledger, *[want("far")] * 60)
        refused = [await take_turn(ledger, want("far"), 2.0) for _ in range(3)]

    assert all(not turn.taken for turn in refused)
    assert all(3.0 < turn.wait < 5.2 for turn in refused)


async def test_tokens_are_a_rate_of_their_own_and_what_is_not_used_is_given_back(
    url: str,
) -> None:
    large = want("tokens", cost=10_000, tpm=60_000)
    async with opened(url) as ledger:
        first, second = await turns(ledger, large, large)
        await give_back(ledger, large, 1000)
        (third,) = await turns(ledger, large)

    assert first < 1
    assert 8 < second < 10
    assert 9 < third < 11


async def test_beside_others_a_workspace_has_its_share_by_weight_and_alone_everything(
    url: str,
) -> None:
    heavy, light = want("shares", "heavy", 3), want("shares", "light")
    got = {"heavy": 0, "light": 0}
    async with opened(url) as ledger:
        alone = await turns(ledger, *[want("alone", "light")] * 30)
        for _ in range(200):
            for name, one in (("heavy", heavy), ("light", light)):
                turn = await take_turn(ledger, one, 5.0)
                got[name] += turn.taken
        known = await shares(ledger, "shares")

    assert alone[-1] < 3
    assert {name: share["weight"] for name, share in known.items()} == {"heavy": 3, "light": 1}
    assert got["heavy"] > 2 * got["light"] > 0


async def test_a_first_turn_is_now(url: str) -> None:
    async with opened(url) as ledger:
        assert await take_turn(ledger, want("new"), 0.0) == Turn(0.0, taken=True)
