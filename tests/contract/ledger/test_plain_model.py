"""The real append beside the plain model: random runs, writers at once, commits in doubt."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import TYPE_CHECKING, cast

import pytest

from domain.errors import LegatoError
from domain.events import event_id
from ledger.append import Appended, append
from ledger.connect import Ledger
from ledger.reads import read_stream
from ledger.verify import verify
from tests.support.ledger import PERSON
from tests.support.plain_ledger import Done, Refused
from tests.support.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    import asyncpg

    from domain.events import Fact
    from domain.runs.run import Run
    from ledger.connections import Connections
    from tests.support.plain_ledger import PlainLedger, Result
    from tests.support.walk import Pending

SEQUENCES = 100
ROUNDS = 10
AT_ONCE = 3
ABSENT = Refused(frozenset({"ledger_unreachable"}))
DOUBT = 0.25
"""How many appends lose their connection: half of them before they were made, half after."""
_BY_ID = "as w(s, i)"
"""What is asked to resolve a doubt: the answer comes."""


class _Doubtful:
    """The ledger's connections; each may fail once, before a statement is made or after."""

    def __init__(self, real: Connections, chance: Random) -> None:
        self._real, self._roll = real, chance.random()
        self.failed = False

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]:
        """Make a statement that writes, and lose what came of it."""
        fails = not self.failed and self._roll < DOUBT and _BY_ID not in query
        if fails and self._roll < DOUBT / 2:
            self.failed = True
            raise ConnectionResetError
        rows = await self._real.fetch(query, *args)
        if fails:
            self.failed = True
            raise ConnectionResetError
        return rows

    def __getattr__(self, name: str) -> object:
        """Give whatever else connections can do."""
        return getattr(self._real, name)


async def made(ledger: Ledger, chance: Random, pending: Pending) -> tuple[Appended | str, bool]:
    """Append for real; gives what came of it or its code, and whether it was in doubt."""
    doubtful = _Doubtful(ledger.pool, chance)
    through = Ledger(cast("Connections", doubtful), ledger.secret, ledger.together)
    try:
        return await append(through, PERSON, *pending.parts), doubtful.failed
    except LegatoError as exc:
        return exc.code, doubtful.failed


def explains(result: Result, real: Appended | str, *, doubted: bool) -> bool:
    """Tell whether the plain model's result and the real one are the same."""
    match result, real:
        case Refused(), str():
            return real in result.codes
        case Done(), Appended():
            heads = {stream: real.heads[stream][0] for stream in result.heads}
            return heads == result.heads and (real.repeated == result.repeated or doubted)
        case _:
            return False


def ordered(
    plain: PlainLedger, given: Sequence[tuple[Pending, Appended | str, bool]]
) -> list[tuple[Pending, Result]] | None:
    """Find an order, one after the other, in which the plain model gives the same results."""
    for order in permutations(given):
        trial = plain.copy()
        results: list[tuple[Pending, Result]] = []
        for pending, real, doubted in order:
            absent = doubted and real == "ledger_unreachable"
            result = ABSENT if absent else trial.append(*pending.parts)
            if not absent and not explains(result, real, doubted=doubted):
                break
            results.append((pending, result))
        else:
            return results
    return None


async def all_the_same(ledger: Ledger, walk: Walk) -> None:
    """See that the real streams hold what the plain ones do."""
    for stream in (walk.stream, walk.incoming):
        stored = await read_stream(ledger, stream)
        assert [event.fact for event in stored] == list(walk.ledger.of(stream)), walk.seed


def told(_: Walk, before: Run, fact: Fact) -> None:
    """The model of a run is looked at elsewhere; here it only goes on."""
    assert before.ended is None or fact.after_end


async def one_round(ledger: Ledger, walk: Walk, writers: Sequence[Pending]) -> int:
    """Let writers append at once; gives how many of them were in doubt."""
    real = await asyncio.gather(*(made(ledger, walk.chance, one) for one in writers))
    doubts = sum(doubted for _, doubted in real)
    given = [(one, came, doubts > 0) for one, (came, _) in zip(writers, real, strict=True)]
    order = ordered(walk.ledger, given)
    shown = [([event_id(f) for p in one.parts for f in p.facts], came) for one, came, _ in given]
    assert order is not None, f"seed {walk.seed}: no order explains {shown}"
    for pending, result in order:
        if result != ABSENT:
            assert walk.ledger.append(*pending.parts) == result
        walk.take(pending, result)
    walk.wake()
    return doubts


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_hundred_random_runs_on_the_real_ledger_are_as_the_plain_model_says(
    ledger: Ledger, say: Callable[[str], None]
) -> None:
    """With writers at once there is always an order of theirs that explains all results."""
    appends = doubts = 0
    for seed in range(SEQUENCES):
        walk = Walk(seed, f"r{seed}", told)
        while not walk.run.version:
            await one_round(ledger, walk, [walk.begin()])
        for _ in range(ROUNDS):
            writers = walk.some(AT_ONCE)
            appends += len(writers)
            doubts += await one_round(ledger, walk, writers)
        await all_the_same(ledger, walk)

    report = await verify(ledger)
    assert report.ok, report.problems
    assert doubts > SEQUENCES
    counts = f"{appends} appends, {doubts} of them in doubt"
    say(f"{SEQUENCES} runs, seeds from 0 on, {counts}")
