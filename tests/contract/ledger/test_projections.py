"""Rows follow the feed: each event once, whoever projects, whenever it dies."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from domain.events import SessionReleased, SessionTaken
from domain.ids import incoming_stream, run_stream, session_stream
from domain.runs.conversation import Usage
from ledger.append import Part, append
from ledger.projections.catch_up import Mark, catch_up, fresh
from ledger.projections.lists import Wanted, runs, usage
from ledger.projections.project import Projector, prepare, project_once, standing, write
from ledger.projections.tables import TABLES
from ledger.sequence import sequence_once
from tests.support import facts
from tests.support.ledger import PERSON, begin_run, connected, live_in, opened, put
from tests.support.projections import all_rows, project_to_the_end, told_anew

if TYPE_CHECKING:
    from ledger.connect import Ledger
    from ledger.projections.catch_up import Connection


async def number(ledger: Ledger) -> None:
    """Give every event its number."""
    while await sequence_once(ledger.pool):
        continue


async def rows_at(ledger: Ledger, seq: int) -> None:
    """Wait until the rows tell up to a number."""
    async with asyncio.timeout(30):
        while True:
            if (await standing(ledger.pool)).rows >= seq:
                return
            await asyncio.sleep(0)


async def nothing(_connection: Connection) -> None:
    """Read nothing."""


async def test_the_tables_are_the_rows_with_no_default_in_them(ledger: Ledger) -> None:
    found = await ledger.pool.fetch(
        "select table_name, column_name, is_nullable, column_default, is_identity"
        " from information_schema.columns where table_schema = 'projection'"
        " order by table_name, ordinal_position"
    )

    for table in TABLES:
        mine = [row for row in found if row["table_name"] == table.name]
        assert [row["column_name"] for row in mine] == list(table.columns)
        nullable = [row["is_nullable"] == "YES" for row in mine]
        assert nullable == ["None" in str(one.type) for one in fields(table.row)]
    assert all(row["column_default"] is None for row in found)
    assert all(row["is_identity"] == "NO" for row in found)


async def test_rows_are_those_that_each_stream_folds_to(ledger: Ledger) -> None:
    """Large bodies, blobs, repeats and refusals among them."""
    await live_in(ledger)
    await number(ledger)

    await project_to_the_end(ledger, limit=7)

    rows = await all_rows(ledger)
    assert rows == await told_anew(ledger)
    assert {len(rows[name]) for name in ("run", "session")} == {3}
    assert all(rows.values())


async def test_a_projector_that_dies_before_it_writes_leaves_nothing(ledger: Ledger) -> None:
    await live_in(ledger)
    await number(ledger)
    dead = Projector()
    dead.forget(0)

    await prepare(ledger.pool, dead, 9)
    await project_to_the_end(ledger, limit=5)

    assert await all_rows(ledger) == await told_anew(ledger)


async def test_a_projector_that_dies_after_it_wrote_is_not_counted_twice(ledger: Ledger) -> None:
    """Its batch, written again by the one that was left with it, changes nothing."""
    await live_in(ledger)
    await number(ledger)
    dead = Projector()
    dead.forget(0)
    batch = await prepare(ledger.pool, dead, 9)

    first = await write(ledger.pool, dead, batch)
    again = await write(ledger.pool, dead, batch)
    await project_to_the_end(ledger, limit=5)

    assert (first, again) == (True, False)
    assert await all_rows(ledger) == await told_anew(ledger)


async def test_a_write_that_is_cut_off_is_whole_or_not_there(url: str, ledger: Ledger) -> None:
    """The server's process is killed in the middle of it, at whatever place."""
    await live_in(ledger)
    await number(ledger)
    async with opened(url, most=1) as doomed, connected(url) as killer:
        pid = await doomed.pool.fetchval("select pg_backend_pid()")
        writing = asyncio.create_task(project_to_the_end(doomed, limit=1))
        await rows_at(ledger, 6)
        await killer.execute("select pg_terminate_backend($1)", pid)
        ended = await asyncio.gather(writing, return_exceptions=True)

    await project_to_the_end(ledger, limit=5)

    assert isinstance(ended[0], Exception)
    assert await all_rows(ledger) == await told_anew(ledger)


async def test_projectors_at_once_write_each_event_once(url: str, ledger: Ledger) -> None:
    await live_in(ledger)
    await number(ledger)
    async with opened(url, most=2) as one, opened(url, most=2) as other:
        await asyncio.gather(
            project_to_the_end(one, limit=1),
            project_to_the_end(other, limit=2),
            project_to_the_end(ledger, limit=3),
        )

    assert await all_rows(ledger) == await told_anew(ledger)


async def test_a_projector_goes_on_from_rows_that_another_has_moved_on(ledger: Ledger) -> None:
    """What it kept is dropped once the checkpoint is not where it left it."""
    stream = await begin_run(ledger, "r", facts.attached(), facts.defined())
    await number(ledger)
    mine, other = Projector(), Projector()
    await project_once(ledger.pool, mine)
    await put(ledger, stream, facts.turn_started(), facts.requested(), facts.responded())
    await number(ledger)
    await project_once(ledger.pool, other)
    await put(ledger, stream, facts.requested(step=2), facts.responded(step=2), facts.run_ended())
    await number(ledger)

    await project_once(ledger.pool, mine)

    assert await all_rows(ledger) == await told_anew(ledger)
    assert (await all_rows(ledger))["run"][("r",)][2] == "completed"


async def test_a_session_tells_who_holds_it_and_what_waits_in_it(ledger: Ledger) -> None:
    await begin_run(ledger, "r")
    later = facts.message("m2").model_copy(update={"later": True})
    await put(ledger, incoming_stream("r"), facts.message("m1"), later)
    await append(ledger, PERSON, Part(session_stream("r"), (SessionReleased(run_id="r"),)))
    await append(ledger, PERSON, Part(session_stream("r"), (SessionTaken(run_id="next"),)))
    await number(ledger)
    await project_to_the_end(ledger)

    row = await ledger.pool.fetchrow("select * from projection.session")

    assert row is not None
    assert (row["run_id"], row["runs"], row["messages"], row["later"]) == ("next", 2, 2, 1)
    assert (row["version"], row["incoming"]) == (3, 2)


async def test_text_that_no_column_holds_is_listed_with_a_mark_in_its_place(ledger: Ledger) -> None:
    """A model may write any character: rows go on."""
    asked = facts.asked(text="which\0?", choices=("a\0", "\\u0000"))
    await begin_run(ledger, "r", facts.attached(), asked)
    await catch_up(ledger, within=10)

    row = await ledger.pool.fetchrow("select text, choices::text from projection.input")

    assert row is not None
    assert (row["text"], json.loads(row["choices"])) == ("which\ufffd?", ["a\ufffd", "\\u0000"])


async def test_a_figure_that_no_column_holds_stops_the_rows_and_is_said(ledger: Ledger) -> None:
    many = Usage(input_tokens=2**70)
    await begin_run(ledger, "r", facts.attached())
    await catch_up(ledger, within=10)
    answer = facts.responded().model_copy(update={"usage": many})
    await put(ledger, run_stream("r"), facts.requested(), answer)

    found, lag = await fresh(ledger, lambda c: runs(c, Wanted()), within=10)

    assert [row.version for row in found] == [2]
    assert lag.stands is not None
    assert lag.behind == 2


async def test_a_list_holds_what_was_committed_before_it(ledger: Ledger) -> None:
    """Without any worker: whoever lists numbers and projects first."""
    await begin_run(ledger, "r", facts.attached())

    found, lag = await fresh(ledger, lambda c: runs(c, Wanted()), within=10)

    assert [(row.run_id, row.status, row.version) for row in found] == [("r", "running", 2)]
    assert (lag.behind, lag.stands, lag.reached) == (0, None, None)


async def test_what_is_held_back_is_said_and_waited_for_in_vain(url: str, ledger: Ledger) -> None:
    """A transaction that is open elsewhere keeps numbers from all that came after it began."""
    await begin_run(ledger, "before")
    await catch_up(ledger, within=10)
    async with connected(url) as connection, connection.transaction():
        await connection.execute("select pg_current_xact_id()")
        await begin_run(ledger, "during")

        found, lag = await fresh(ledger, lambda c: runs(c, Wanted()))

    assert [row.run_id for row in found] == ["before"]
    assert (lag.behind, lag.unnumbered) == (3, 3)
    _, free = await fresh(ledger, nothing, after=Mark("run/during", 1))
    assert (free.behind, free.reached) == (0, True)


async def test_a_list_that_comes_too_early_says_so(
    url: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.projections.catch_up.AFTER_WITHIN", 0.3)
    async with connected(url) as connection, connection.transaction():
        await connection.execute("select pg_current_xact_id()")
        await begin_run(ledger, "r")

        _, lag = await fresh(ledger, nothing, after=Mark("run/r", 1))

    assert lag.reached is False


@pytest.mark.parametrize("mark", [Mark("run/r", 2), Mark("run/nobody", 1)])
async def test_what_was_never_written_is_not_waited_for(ledger: Ledger, mark: Mark) -> None:
    await begin_run(ledger, "r")

    with pytest.raises(LegatoError) as caught:
        await fresh(ledger, nothing, after=mark)

    assert caught.value.code == "not_found"


async def test_an_event_of_a_later_build_stops_the_rows_there_and_lists_say_why(
    url: str, ledger: Ledger
) -> None:
    """It is not skipped: what stands before it can be listed, what stands after it cannot."""
    stream = await begin_run(ledger, "r", facts.attached(), facts.stopped(), facts.run_ended())
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        await connection.execute(
            "update ledger.event set schema_version = 9 where stream_id = $1 and version = 3",
            stream,
        )
    await number(ledger)
    await project_once(ledger.pool, Projector(), limit=4)

    found, lag = await fresh(ledger, lambda c: runs(c, Wanted()), within=10)

    assert [(row.run_id, row.version) for row in found] == [("r", 2)]
    assert lag.stands is not None
    assert (lag.stands.code, lag.behind) == ("event_too_new", 2)


async def test_filters_pick_runs_by_state_agent_workspace_and_time(ledger: Ledger) -> None:
    await begin_run(ledger, "one", facts.attached(), facts.run_ended())
    await begin_run(ledger, "two", facts.attached())
    await catch_up(ledger, within=10)
    async with ledger.pool.acquire() as connection:
        young = (await runs(connection, Wanted(limit=1)))[0]

        async def named(wanted: Wanted) -> list[str]:
            return [row.run_id for row in await runs(connection, wanted)]

        assert young.run_id == "two"
        assert await named(Wanted(only_open=True)) == ["two"]
        assert await named(Wanted(statuses=("completed", "failed"))) == ["one"]
        assert await named(Wanted(agent="generic")) == ["two", "one"]
        assert await named(Wanted(agent="nobody")) == []
        assert await named(Wanted(workspace="/ws", folder="/ws")) == ["two", "one"]
        assert await named(Wanted(workspace=young.workspace, folder="/else")) == ["two", "one"]
        assert await named(Wanted(since=young.accepted_at)) == ["two"]


async def test_usage_is_summed_by_each_of_its_groups(ledger: Ledger) -> None:
    """Two runs of one request each; what no provider said stays unknown."""
    for run_id in ("one", "two"):
        stream = await begin_run(ledger, run_id, facts.attached(), facts.defined())
        await put(ledger, stream, facts.turn_started(), facts.requested(), facts.responded())
    await catch_up(ledger, within=10)
    async with ledger.pool.acquire() as connection:
        by_run = await usage(connection, "run", Wanted())
        by_item = await usage(connection, "item", Wanted())
        by_agent = await usage(connection, "agent", Wanted())
        by_day = await usage(connection, "day", Wanted())

    assert [(row["run_id"], row["tokens"]) for row in by_run] == [("two", 120), ("one", 120)]
    assert [(row["item"], row["name"]) for row in by_item] == [(1, "work"), (1, "work")]
    for rows in (by_agent, by_day):
        assert [(row["runs"], row["tokens"], format(row["cost"], "f")) for row in rows] == [
            (2, 240, "0.02")
        ]
        assert rows[0]["cached_tokens"] is None


async def test_rows_that_are_gone_are_said_with_the_way_to_make_them(
    url: str, ledger: Ledger
) -> None:
    await begin_run(ledger, "r")
    async with connected(url) as connection:
        await connection.execute("alter schema projection rename to elsewhere")
        try:
            with pytest.raises(LegatoError) as caught:
                await fresh(ledger, nothing)
        finally:
            await connection.execute("alter schema elsewhere rename to projection")

    assert caught.value.code == "projections_missing"
    assert "ledger rebuild" in caught.value.next
