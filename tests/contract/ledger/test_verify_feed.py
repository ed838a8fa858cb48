"""Verification of the feed: red for what no chain of a single stream can show."""

from __future__ import annotations

import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from domain.ids import run_stream
from ledger.anchors import FILE, newest_checkpoint, read_anchors, restored_at, write_anchor
from ledger.feed import read_feed_head
from ledger.sequence import begin_epoch, catch_up
from ledger.verify import Pass, verify
from tests.support import facts
from tests.support.ledger import LIVED_IN, connected, opened, put

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from ledger.anchors import Anchor
    from ledger.verify import Problem, VerifyReport

ENDED = run_stream(LIVED_IN[0])
MINUTES = "update ledger.checkpoint set at = at - interval '2 minutes'"
AWAY = f"delete from ledger.{{table}} where stream_id = '{ENDED}'"  # noqa: S608 - our own names
REFOLD = """do $$ declare one record; r bytea := decode(repeat('00', 32), 'hex'); begin
  for one in select * from ledger.feed order by global_seq loop
    r := ledger.root(r, one.stream_id, one.version, one.hash);
  end loop;
  update ledger.feed_head set root = r, global_seq = (select count(*) from ledger.feed);
end $$"""
RENUMBER = """with n as (select stream_id s, version v, row_number() over (order by global_seq) n
    from ledger.feed)
  update ledger.feed f set global_seq = -n.n from n where f.stream_id = n.s and f.version = n.v;
  update ledger.feed set global_seq = -global_seq"""
CUT = """delete from ledger.feed where stream_id = 'incoming/tail' and version > 1;
  delete from ledger.event where stream_id = 'incoming/tail' and version > 1;
  update ledger.stream s set version = 1, head_hash = e.hash, order_key = e.order_key
    from ledger.event e where e.stream_id = s.stream_id and s.stream_id = 'incoming/tail';
  update ledger.feed_head set (order_key, pos) = (
    select order_key, pos from ledger.event order by order_key desc, pos desc limit 1)"""


@pytest.fixture
async def numbered(lived_in_url: str, tmp_path: Path) -> str:
    """A ledger with a past and a feed, checkpoints at two numbers, the second one anchored."""
    async with opened(lived_in_url) as ledger:
        assert await catch_up(ledger)
        await _as_superuser(lived_in_url, MINUTES)
        await put(ledger, "incoming/tail", *(facts.message(f"t{n}") for n in range(3)))
        assert await catch_up(ledger)
        newest = await newest_checkpoint(ledger)
        assert newest is not None
        assert newest.global_seq == (await read_feed_head(ledger)).global_seq
        assert write_anchor(tmp_path, newest)
    return lived_in_url


async def _as_superuser(url: str, *statements: str) -> None:
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        for statement in statements:
            await connection.execute(statement)


async def _verified(url: str, anchors: tuple[Anchor, ...] = ()) -> VerifyReport:
    async with opened(url) as ledger:
        return await verify(ledger, anchors=anchors)


async def _of_feed(url: str, *statements: str, anchors: tuple[Anchor, ...] = ()) -> Problem:
    """Give the one problem of the feed that a change leads to."""
    await _as_superuser(url, *statements)
    report = await _verified(url, anchors)
    (problem,) = (one for one in report.problems if one.stream == "feed")
    assert problem.next
    return problem


async def test_a_ledger_with_a_feed_verifies_against_its_checkpoints_and_anchors(
    numbered: str, tmp_path: Path
) -> None:
    report = await _verified(numbered, read_anchors(tmp_path))

    assert report.problems == ()
    assert report.checked["numbers"] == report.checked["events"] > 30
    assert report.checked["roots"] == 3


async def test_a_deleted_stream_is_named_at_its_first_number(numbered: str) -> None:
    problem = await _of_feed(numbered, AWAY.format(table="event"), AWAY.format(table="stream"))

    assert f"its event is missing: {ENDED} at version 1" in problem.what


async def test_a_stream_that_was_deleted_from_the_feed_too_breaks_its_density(
    numbered: str,
) -> None:
    tables = ("event", "stream", "feed")
    problem = await _of_feed(numbered, *(AWAY.format(table=table) for table in tables))

    assert "the number is missing" in problem.what


async def test_a_feed_that_was_made_dense_again_no_longer_has_its_checkpoints_root(
    numbered: str,
) -> None:
    tables = ("event", "stream", "feed")
    away = (AWAY.format(table=table) for table in tables)
    problem = await _of_feed(numbered, *away, RENUMBER, REFOLD)

    assert "checkpoint" in problem.what


async def test_a_cut_tail_whose_head_was_rewound_is_named_by_the_checkpoint(numbered: str) -> None:
    problem = await _of_feed(numbered, CUT, REFOLD)

    assert "the checkpoint is of" in problem.what
    assert "its tail is missing" in problem.what


async def test_a_cut_tail_without_its_checkpoints_is_named_by_the_anchor_alone(
    numbered: str, tmp_path: Path
) -> None:
    gone = (
        "delete from ledger.checkpoint where global_seq > (select global_seq from ledger.feed_head)"
    )
    await _as_superuser(numbered, CUT, REFOLD, gone)
    assert (await _verified(numbered)).ok

    problem = await _of_feed(numbered, anchors=read_anchors(tmp_path))

    assert "the anchor of" in problem.what
    assert "`legato ledger restored`" in problem.next


SWAP = """update ledger.feed set global_seq = -{one} where global_seq = {one};
  update ledger.feed set global_seq = {one} where global_seq = {other};
  update ledger.feed set global_seq = {other} where global_seq = -{one}"""


async def test_two_swapped_numbers_are_named(numbered: str) -> None:
    problem = await _of_feed(numbered, SWAP.format(one=7, other=8), REFOLD)

    assert problem.version in {7, 8}
    assert "order" in problem.what or "written before" in problem.what


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        (
            "update ledger.feed set hash = sha256(hash) where global_seq = 5",
            "not that of its event",
        ),
        ("update ledger.feed_head set root = sha256(root)", "the root of feed_head"),
        ("update ledger.feed_head set global_seq = global_seq + 1", "feed_head stands at"),
        ("delete from ledger.feed_head", "the row of feed_head is missing"),
        (
            (
                "update ledger.checkpoint set root = sha256(root) where global_seq ="
                " (select min(global_seq) from ledger.checkpoint)"
            ),
            "not that of the checkpoint",
        ),
    ],
)
async def test_a_changed_row_of_the_feed_is_named(numbered: str, sql: str, what: str) -> None:
    restored = (
        "insert into ledger.feed_head values (true, 1, 0, 0, 0, decode(repeat('00', 32), 'hex'))"
    )
    try:
        assert what in (await _of_feed(numbered, sql)).what
    finally:
        await _as_superuser(numbered, f"{restored} on conflict do nothing")


async def test_an_event_below_the_head_without_a_number_is_named(numbered: str) -> None:
    await _as_superuser(
        numbered, "delete from ledger.feed where stream_id = 'incoming/tail'", REFOLD
    )
    report = await _verified(numbered)

    left_out = [one for one in report.problems if one.stream == "incoming/tail"]
    assert [one.version for one in left_out] == [1]
    assert "3 events have no number" in left_out[0].what


@asynccontextmanager
async def _copy_of(url: str) -> AsyncGenerator[str]:
    """A copy of a database as it is now: a backup."""
    name = f"copy{uuid.uuid4().hex[:8]}"
    server = urlsplit(url)._replace(path="/postgres").geturl()
    async with connected(server) as connection:
        await connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'lived_in'"
        )
        await connection.execute(f"create database {name} template lived_in")
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        async with connected(server) as connection:
            await connection.execute(f"drop database {name} with (force)")


async def test_a_restored_backup_is_red_until_somebody_accepts_it(
    numbered: str, tmp_path: Path
) -> None:
    """The anchors know how far the ledger once was; accepted, they go on from there."""
    async with _copy_of(numbered) as backup:
        async with opened(numbered) as ledger:
            await put(ledger, "incoming/tail", facts.message("lost"))
            assert await catch_up(ledger)
            head = await read_feed_head(ledger)
        write_anchor(tmp_path, restored_at(head.global_seq, head.epoch, head.root))
        assert (await _verified(numbered, read_anchors(tmp_path))).ok

        problem = await _of_feed(backup, anchors=read_anchors(tmp_path))
        assert "its tail is missing" in problem.what

        async with opened(backup) as ledger:
            assert await begin_epoch(backup) == 2
            head = await read_feed_head(ledger)
            write_anchor(tmp_path, restored_at(head.global_seq, head.epoch, head.root))
            await put(ledger, "incoming/tail", facts.message("after"))
            assert await catch_up(ledger)
        report = await _verified(backup, read_anchors(tmp_path))

    assert report.problems == ()
    assert report.checked["roots"] == 4


def test_anchors_are_added_once_and_outlive_a_line_that_was_cut(tmp_path: Path) -> None:
    one, other = restored_at(5, 1, bytes(32)), restored_at(9, 1, bytes([1]) * 32)

    assert write_anchor(tmp_path / "anchors", one)
    assert not write_anchor(tmp_path / "anchors", one)
    with (tmp_path / "anchors" / FILE).open("a") as file:
        file.write('{"global_seq": 7, "ep')
    assert write_anchor(tmp_path / "anchors", other)

    assert read_anchors(tmp_path / "anchors") == (one, other)
    assert read_anchors(tmp_path / "none") == ()


async def test_checks_of_others_are_run_in_the_same_snapshot(lived_in_url: str) -> None:
    async def more(at: Pass) -> None:
        at.checked["more"] = await at.connection.fetchval("select count(*) from ledger.event")
        at.tell("elsewhere", 3, "is not as it should be", "look there")

    async with opened(lived_in_url) as ledger:
        report = await verify(ledger, more)

    assert report.checked["more"] == report.checked["events"]
    assert [(one.stream, one.version, one.next) for one in report.problems] == [
        ("elsewhere", 3, "look there")
    ]
