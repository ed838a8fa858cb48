"""One run that cannot be read keeps no list from the others, and is named with what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger.projections.check import check_rows
from ledger.projections.lists import Wanted
from ledger.projections.rebuild import rebuild
from ledger.sequence import sequence_once
from legato.lists import Listed, list_questions, list_runs, list_usage
from tests.support import facts
from tests.support.ledger import LIVED_IN, connected, live_in, put
from tests.support.projections import all_rows, project_to_the_end

if TYPE_CHECKING:
    from ledger.connect import Ledger

BROKEN = LIVED_IN[1]
DAMAGE = {
    "no JSON": ("update ledger.event set body = '{', codec = 0", 3, "body_damaged"),
    "a list": ("update ledger.event set body = '[]', codec = 0", 3, "body_damaged"),
    "other fields": ("update ledger.event set body = '{}', codec = 0", 5, "event_unreadable"),
    "the first": ("update ledger.event set body = '{}', codec = 0", 1, "event_unreadable"),
    "a blob's name": ("update ledger.event set codec = 2", 3, "body_damaged"),
    "no event": ("delete from ledger.event", 4, "event_missing"),
}


@pytest.fixture(params=DAMAGE)
async def damaged(url: str, ledger: Ledger, request: pytest.FixtureRequest) -> tuple[int, str]:
    """Damage one event of one run; gives its version and the code of what is wrong."""
    statement, version, code = DAMAGE[str(request.param)]
    await live_in(ledger)
    await put(ledger, f"run/{BROKEN}", facts.asked(), facts.run_ended())
    await put(ledger, f"run/{LIVED_IN[2]}", facts.asked())
    while await sequence_once(ledger.pool):
        continue
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        await connection.execute(
            f"{statement} where stream_id = $1 and version = $2", f"run/{BROKEN}", version
        )
    return version, code


async def all_lists(ledger: Ledger) -> tuple[Listed, Listed, Listed]:
    return (
        await list_runs(ledger, Wanted(), within=20),
        await list_questions(ledger, Wanted()),
        await list_usage(ledger, "run", Wanted()),
    )


async def test_lists_tell_of_all_other_runs_and_name_the_one(
    ledger: Ledger, damaged: tuple[int, str]
) -> None:
    version, code = damaged

    runs, questions, usage = await all_lists(ledger)

    assert (runs.lag.behind, runs.lag.stands) == (0, None)
    assert {row["run_id"]: row["damaged"] for row in runs.rows} == {
        **dict.fromkeys(LIVED_IN, ""),
        BROKEN: code,
    }
    assert {row["run_id"]: row["status"] for row in runs.rows}[BROKEN] == "completed"
    assert LIVED_IN[2] in {row["run_id"] for row in questions.rows}
    assert {LIVED_IN[0], LIVED_IN[2]} <= {row["run_id"] for row in usage.rows}
    for listed in (runs, questions, usage):
        (named,) = listed.unreadable
        assert (named["run_id"], named["code"]) == (BROKEN, code)
        assert f"event {version} " in str(named["message"])
        assert "legato ledger verify" in str(named["next"])


async def test_rows_are_the_same_in_whatever_batches_they_are_made(
    ledger: Ledger, damaged: tuple[int, str]
) -> None:
    del damaged
    await project_to_the_end(ledger, limit=2)
    before = await all_rows(ledger)

    done = await rebuild(ledger)

    assert (done.identical, done.differing) == (True, ())
    assert await all_rows(ledger) == before
    async with (
        ledger.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        assert (await check_rows(connection)).differences == 0


async def test_a_list_of_another_agent_names_no_run_that_is_not_its(
    ledger: Ledger, damaged: tuple[int, str]
) -> None:
    version, _ = damaged

    listed = await list_runs(ledger, Wanted(agent="check-and-fix"), within=20)

    assert listed.rows == ()
    known = version > 1
    assert (listed.unreadable == ()) is known, "whose it is may not be known"
