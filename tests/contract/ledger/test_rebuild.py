"""Rows can be made anew from the first event, and come out the same, whatever happened."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import LegatoError
from domain.ids import run_stream
from ledger.append import Part, append
from ledger.projections.catch_up import catch_up
from ledger.projections.check import check_rows
from ledger.projections.rebuild import rebuild
from ledger.sequence import sequence_once
from ledger.verify import verify
from tests.support.histories import runs
from tests.support.ledger import PERSON, Server, connected, live_in, opened, wipe
from tests.support.projections import all_rows, project_to_the_end, told_anew

if TYPE_CHECKING:
    import random

    from domain.events import Fact
    from ledger.connect import Ledger
    from ledger.projections.check import Checked

TAMPERED = {
    "run": "update projection.run set tokens = tokens + 1 where run_id = 'run-one-aaaa1111'",
    "call": "delete from projection.call where run_id = 'run-one-aaaa1111' and position = 1",
    "usage": "insert into projection.usage select 'nobody', item, day, agent, 1, 1, 1, 1, 0,"
    " null, null, null, 0 from projection.usage limit 1",
    "session": "update projection.session set run_id = null where session = 'run-two-bbbb2222'",
    "input": "update projection.input set choices = '[\"yes\"]'",
}

WITHOUT_BUDGETS = """alter table projection.run drop column budget, drop column reserved_tokens,
  drop column reserved_cost, drop column reserved_unpriced, drop column worked,
  drop column work_at, drop column work_gaps"""


async def check(ledger: Ledger) -> Checked:
    """Check all rows in a snapshot."""
    async with (
        ledger.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        return await check_rows(connection)


async def test_a_rebuild_gives_the_rows_that_stand(ledger: Ledger) -> None:
    await live_in(ledger)
    await catch_up(ledger, within=10)
    before = await all_rows(ledger)

    done = await rebuild(ledger)

    assert (done.identical, done.differences) == (True, 0)
    assert done.events == done.global_seq == done.compared_at > 30
    assert await all_rows(ledger) == before
    assert (await check(ledger)).differences == 0


async def test_rows_of_an_older_schema_are_made_anew_with_what_it_lacks(
    url: str, ledger: Ledger
) -> None:
    """As an upgrade does it, and a rebuild where the upgrade did not come to it."""
    await live_in(ledger)
    await catch_up(ledger, within=10)
    before = await all_rows(ledger)
    async with connected(url) as connection:
        await connection.execute(WITHOUT_BUDGETS)

    done = await rebuild(ledger)

    assert (done.identical, done.compared_at) == (None, 0)
    assert await all_rows(ledger) == before
    assert (await check(ledger)).differences == 0


@pytest.mark.parametrize("table", TAMPERED)
async def test_a_rebuild_names_what_was_tampered_with_and_mends_it(
    url: str, ledger: Ledger, table: str
) -> None:
    await live_in(ledger)
    await catch_up(ledger, within=10)
    async with connected(url) as connection:
        await connection.execute(TAMPERED[table])
    checked = await check(ledger)

    done = await rebuild(ledger)

    assert (done.identical, done.differences) == (False, 1)
    assert [one.table for one in done.differing] == [table]
    assert checked.differing == done.differing
    assert await all_rows(ledger) == await told_anew(ledger)
    assert (await check(ledger)).differences == 0


async def test_verification_names_a_row_that_was_changed_until_it_is_rebuilt(
    url: str, ledger: Ledger
) -> None:
    await live_in(ledger)
    await catch_up(ledger, within=10)
    sound = await verify(ledger)
    async with connected(url) as connection:
        await connection.execute(TAMPERED["run"])
    tampered = await verify(ledger)

    await rebuild(ledger)

    assert sound.ok, sound.problems
    assert sound.checked["rows"] >= 20
    assert [(one.stream, one.what) for one in tampered.problems] == [
        ("projection.run", "row run (run-one-aaaa1111) differs in tokens")
    ]
    assert tampered.problems[0].version == sound.checked["numbers"]
    assert "ledger rebuild" in tampered.problems[0].next
    assert (await verify(ledger)).ok


async def test_rows_that_were_dropped_are_made_anew(url: str, ledger: Ledger) -> None:
    await live_in(ledger)
    await catch_up(ledger, within=10)
    before = await all_rows(ledger)
    async with connected(url) as connection:
        await connection.execute("drop schema projection cascade")

    done = await rebuild(ledger)

    assert (done.identical, done.events) == (None, done.global_seq)
    assert await all_rows(ledger) == before


async def test_a_checkpoint_beyond_the_feed_is_found_and_mended(url: str, ledger: Ledger) -> None:
    await live_in(ledger)
    await catch_up(ledger, within=10)
    async with connected(url) as connection:
        await connection.execute("update projection.checkpoint set global_seq = 1000000")
    checked = await check(ledger)

    done = await rebuild(ledger)

    assert [one.table for one in checked.differing] == ["checkpoint"]
    assert done.identical is False
    assert (await check(ledger)).differences == 0


async def test_two_rebuilds_at_once_are_one(url: str, ledger: Ledger) -> None:
    await live_in(ledger)
    await catch_up(ledger, within=10)
    async with opened(url) as other:
        done = await asyncio.gather(rebuild(ledger), rebuild(other), return_exceptions=True)

    codes = [one.code for one in done if isinstance(one, LegatoError)]
    assert codes in ([], ["rebuild_running"])
    assert await all_rows(ledger) == await told_anew(ledger)


@settings(
    deadline=None,
    max_examples=8,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(runs(), min_size=1, max_size=3), st.randoms(use_true_random=False), st.integers(1, 9)
)
def test_a_rebuild_is_identical_after_any_history(
    postgres: Server, told: list[list[Fact]], chance: random.Random, limit: int
) -> None:
    """Runs that were written in between one another, and projected in batches of any size."""
    asyncio.run(_after_any_history(postgres.empty, told, chance, limit))


async def _after_any_history(
    url: str, told: list[list[Fact]], chance: random.Random, limit: int
) -> None:
    await wipe(url)
    async with opened(url, most=6) as ledger:
        left: dict[str, list[Fact]] = {f"r{n}": list(one) for n, one in enumerate(told)}
        while left:
            run_id = chance.choice(sorted(left))
            fact = left[run_id].pop(0)
            if fact.type == "run.accepted":
                fact = fact.model_copy(update={"run_id": run_id})
            await append(ledger, PERSON, Part(run_stream(run_id), (fact,)))
            left = {name: one for name, one in left.items() if one}
            if chance.random() < 0.1:
                await sequence_once(ledger.pool)
                await project_to_the_end(ledger, limit=limit)
        while await sequence_once(ledger.pool):
            continue
        await project_to_the_end(ledger, limit=limit)

        done = await rebuild(ledger)

        assert done.identical is True, done.differing
        assert (await check(ledger)).differing == ()
