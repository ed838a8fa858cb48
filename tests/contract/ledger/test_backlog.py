"""Ended runs are compared each in its turn: a pass is bounded, and none is left out."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.events import RunReconciled
from ledger.feed import read_feed_head, read_mark
from ledger.sequence import sequence_once
from ledger.watch import RECONCILER, say_reconciled
from tests.support import facts
from tests.support.ledger import begin_run, connected, put
from workers.backlog import Backlog, next_ended

if TYPE_CHECKING:
    import pytest

    from ledger.connect import Ledger

NOW = timedelta(0)
LONG = timedelta(hours=1)
MANY = 60
MOST = 7
CHECKED = RunReconciled(result="checked", digest="", links=0, results=0, where="")


async def end_runs(ledger: Ledger, *names: str) -> None:
    """Begin and end runs, and leave one open beside each."""
    for name in names:
        await begin_run(ledger, f"{name}-open")
        await begin_run(ledger, name, facts.run_ended())
    while await sequence_once(ledger.pool):
        continue


async def passes(ledger: Ledger, backlog: Backlog, *, broken: frozenset[str]) -> list[str]:
    """Pass as often as it takes to see every run twice; compare all but those that break."""
    seen: list[str] = []
    for _ in range(2 * MANY // MOST + 2):
        given = await next_ended(ledger, backlog, NOW, MOST)
        assert len(given) <= MOST
        seen += given
        for run_id in set(given) - broken:
            await say_reconciled(ledger, run_id, CHECKED)
    return seen


async def test_every_ended_run_is_given_until_it_is_compared_whatever_others_do(
    ledger: Ledger,
) -> None:
    names = [f"run-{n:02}" for n in range(MANY)]
    broken = frozenset(names[:: MANY // 10])
    await end_runs(ledger, *names)

    backlog = Backlog()
    seen = await passes(ledger, backlog, broken=broken)

    assert set(seen) == set(names)
    assert all(seen.count(name) == 1 for name in set(names) - broken), "compared once"
    assert all(seen.count(name) > 1 for name in broken), "given again"
    assert set(backlog.runs) == broken


async def test_a_pass_reads_what_is_new_and_another_process_begins_where_all_is_compared(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.backlog.WINDOW", 10)
    await end_runs(ledger, "a", "b", "c")
    backlog = Backlog()
    assert await next_ended(ledger, backlog, LONG, MOST) == [], "they ended just now"
    assert await next_ended(ledger, backlog, NOW, MOST) == ["a", "b", "c"]
    for run_id in ("a", "c"):
        await say_reconciled(ledger, run_id, CHECKED)
    assert await next_ended(ledger, backlog, NOW, MOST) == ["b"]
    mark = await read_mark(ledger, RECONCILER)

    await end_runs(ledger, "d")
    other = Backlog()
    assert await next_ended(ledger, other, NOW, MOST) == ["b", "d"]
    assert mark == other.mark == other.runs["b"] - 1
    for run_id in ("b", "d"):
        await say_reconciled(ledger, run_id, CHECKED)
    assert await next_ended(ledger, other, NOW, MOST) == []
    assert await next_ended(ledger, backlog, NOW, MOST) == []
    assert await read_mark(ledger, RECONCILER) == backlog.at


async def test_a_feed_that_was_put_back_is_looked_at_anew(url: str, ledger: Ledger) -> None:
    await end_runs(ledger, "a")
    backlog = Backlog()
    await next_ended(ledger, backlog, NOW, MOST)
    await put(ledger, "run/late", facts.accepted("late"), facts.run_ended())
    async with connected(url) as connection:
        await connection.execute("update ledger.feed_head set epoch = epoch + 1")
    while await sequence_once(ledger.pool):
        continue

    assert set(await next_ended(ledger, backlog, NOW, MOST)) == {"a", "late"}
    assert backlog.epoch == (await read_feed_head(ledger)).epoch
