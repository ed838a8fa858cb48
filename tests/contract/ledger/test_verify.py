"""Verification: green on a ledger with a past, red at the right place after any change."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from domain.ids import run_stream
from ledger.append import Part, append
from ledger.verify import Problem, VerifyReport, verify
from tests.support import facts
from tests.support.ledger import LIVED_IN, PERSON, connected, opened, put

if TYPE_CHECKING:
    from domain.events import Fact
    from ledger.connect import Ledger

ENDED, STILL_OPEN, LARGE = (run_stream(run) for run in LIVED_IN)
EVENT = "update ledger.event set {column} = {value} where stream_id = {ended} and version = 7"
HEAD = "update ledger.stream set {column} = {value} where stream_id = {ended}"
MOVE = "update ledger.event set version = {to} where stream_id = {ended} and version = {at}"
BLOB = "select blobs from ledger.event where blobs <> '' and (codec = 2) = {body} limit 1"


async def verified_after(url: str, *statements: str, **values: object) -> VerifyReport:
    """Change the ledger as a superuser would, with nothing in the way, then verify it.

    In a statement `{ended}`, `{still_open}`, `{large}` are the streams; the rest is `values`.
    """
    named = {"ended": f"'{ENDED}'", "still_open": f"'{STILL_OPEN}'", "large": f"'{LARGE}'"}
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        for statement in statements:
            status = await connection.execute(statement.format(**named, **values))
            assert not status.endswith(" 0"), f"nothing was changed by {statement}"
    async with opened(url) as ledger:
        return await verify(ledger)


async def only_problem(url: str, *statements: str, **values: object) -> Problem:
    """Give the one problem that a change leads to."""
    report = await verified_after(url, *statements, **values)
    assert not report.ok
    assert len(report.problems) == 1
    assert report.problems[0].next
    return report.problems[0]


async def test_a_lived_in_ledger_verifies(lived_in: Ledger) -> None:
    """Nothing is wrong with what the real code wrote, and everything was looked at."""
    report = await verify(lived_in)

    events = await lived_in.pool.fetchval("select count(*) from ledger.event")
    assert report.problems == ()
    assert report.ok
    checked = {"streams": 12, "events": events, "blobs": 3, "numbers": 0, "roots": 0, "rows": 0}
    assert report.checked == checked


async def test_an_empty_ledger_verifies(ledger: Ledger) -> None:
    """There is nothing, and nothing is wrong."""
    checked = {"streams": 0, "events": 0, "blobs": 0, "numbers": 0, "roots": 0, "rows": 0}
    assert await verify(ledger) == VerifyReport(ok=True, checked=checked, problems=())


async def test_a_stream_longer_than_a_page_verifies(ledger: Ledger) -> None:
    """Every event of it is looked at."""
    for first in range(0, 450, 50):
        given = tuple(facts.message(f"m{n}") for n in range(first, first + 50))
        await append(ledger, PERSON, Part("incoming/s", given))

    report = await verify(ledger)

    assert report.ok
    assert report.checked["events"] == 450


async def test_a_ledger_verifies_while_it_is_written_to(ledger: Ledger) -> None:
    """What is read is one moment's state, and the writers are not held up."""
    done = asyncio.Event()

    async def write(stream: str) -> int:
        n = 0
        while not done.is_set():
            await put(ledger, stream, facts.message(f"a{n}"))
            await put(ledger, stream, facts.message(f"b{n}"), facts.message(f"c{n}"))
            n += 3
        return n

    writers = [asyncio.create_task(write(f"incoming/s{n}")) for n in range(4)]
    reports = [await verify(ledger) for _ in range(8)]
    done.set()
    written = sum(await asyncio.gather(*writers))

    assert [report.problems for report in reports] == [()] * 8
    assert reports[-1].checked["events"] > reports[0].checked["events"]
    assert (await verify(ledger)).checked["events"] == written


@dataclass(frozen=True)
class Change:
    """One column set to something else, and what the report says of it."""

    column: str
    value: str
    what: str


LINK = "the link does not hold"
COLUMNS = [
    Change("event_id", "'call.settled:9.9.9'", "column event_id"),
    Change("type", "'call.unknown'", "column type"),
    Change("schema_version", "schema_version + 1", "column schema_version"),
    Change("correlation_id", "'another'", "column correlation_id"),
    Change("recorded_at", "recorded_at + interval '1 microsecond'", LINK),
    Change("envelope", "convert_to(replace(convert_from(envelope, 'UTF8'), "
           "'person:a', 'person:b'), 'UTF8')", LINK),
    Change("envelope", "'\\x00'", "the envelope is not a JSON object"),
    Change("body", "set_byte(body, 3, 65)", "body_commit"),
    Change("codec", "case codec when 0 then 1 else 0 end", LINK),
    Change("key_id", "'other'", LINK),
    Change("blobs", "blobs || decode(repeat('00', 32), 'hex')", LINK),
    Change("body_commit", "sha256(body_commit)", "body_commit"),
    Change("same_digest", "sha256(same_digest)", LINK),
    Change("hash", "sha256(hash)", LINK),
    Change("order_key", "1", "order_key or pos goes back"),
    Change("pos", "0", "order_key or pos goes back"),
]  # fmt: skip


@pytest.mark.parametrize("change", COLUMNS, ids=lambda c: f"{c.column}={c.value[:12]}")
async def test_one_changed_column_of_an_event_is_named(lived_in_url: str, change: Change) -> None:
    """Version 7 of one stream, and nothing else."""
    problem = await only_problem(lived_in_url, EVENT, column=change.column, value=change.value)

    assert (problem.stream, problem.version) == (ENDED, 7)
    assert change.what in problem.what


async def test_every_column_of_an_event_is_among_the_changed(lived_in: Ledger) -> None:
    """A column added later must be verified too."""
    named = {change.column for change in COLUMNS} | {"stream_id", "version"}

    assert named == await columns_of(lived_in, "event")


async def columns_of(ledger: Ledger, table: str) -> set[str]:
    """Ask the database which columns a table has."""
    rows = await ledger.pool.fetch(
        "select column_name from information_schema.columns"
        " where table_schema = 'ledger' and table_name = $1",
        table,
    )
    return {row["column_name"] for row in rows}


HEADS = [
    Change("kind", "'slot'", "kind is slot"),
    Change("version", "version - 1", "version is"),
    Change("version", "version + 1", "events are missing"),
    Change("head_hash", "sha256(head_hash)", "head_hash is"),
    Change("order_key", "order_key - 1", "order_key is"),
    Change("order_key", "order_key + 1000000", "order_key is"),
    Change("closed_at", "null", "closed_at is None"),
    Change("closed_at", "closed_at + interval '1 microsecond'", "closed_at is"),
    Change("erased_at", "now()", "erased_at is"),
]


@pytest.mark.parametrize("change", HEADS, ids=lambda c: f"{c.column}={c.value[:12]}")
async def test_one_changed_column_of_a_head_row_is_named(lived_in_url: str, change: Change) -> None:
    """What the events give is stated beside what stands there."""
    problem = await only_problem(lived_in_url, HEAD, column=change.column, value=change.value)

    assert problem.stream == ENDED
    assert change.what in problem.what


async def test_every_column_of_a_head_row_is_among_the_changed(lived_in: Ledger) -> None:
    """A column added later must be verified too."""
    named = {change.column for change in HEADS} | {"stream_id"}

    assert named == await columns_of(lived_in, "stream")


async def test_an_open_stream_that_was_closed_by_hand_is_named(lived_in_url: str) -> None:
    """The events do not close it."""
    sql = "update ledger.stream set closed_at = now() where stream_id = {still_open}"

    problem = await only_problem(lived_in_url, sql)

    assert problem.stream == STILL_OPEN
    assert "closed_at" in problem.what


async def test_a_renamed_stream_leaves_two_places(lived_in_url: str) -> None:
    """Its events stand without a head row, its head row without events."""
    report = await verified_after(lived_in_url, HEAD, column="stream_id", value="'run/renamed'")

    assert {problem.stream for problem in report.problems} == {"run/renamed", ENDED}


async def test_a_removed_head_row_is_named(lived_in_url: str) -> None:
    """The events that stand without one are counted."""
    sql = "delete from ledger.stream where stream_id = {ended}"

    problem = await only_problem(lived_in_url, sql)

    assert problem.stream == ENDED
    assert "head row is missing: 12 events" in problem.what


@pytest.mark.parametrize("version", [1, 6, 11, 12], ids="version {}".format)
async def test_a_missing_event_is_named(lived_in_url: str, version: int) -> None:
    """At the beginning, in the middle, and at the tail."""
    sql = "delete from ledger.event where stream_id = {ended} and version = {version}"

    problem = await only_problem(lived_in_url, sql, version=version)

    assert (problem.stream, problem.version) == (ENDED, version)
    assert "missing" in problem.what


async def test_a_closed_gap_is_named(lived_in_url: str) -> None:
    """An event was removed and all later ones moved down, the head row too."""
    report = await verified_after(
        lived_in_url,
        "delete from ledger.event where stream_id = {ended} and version = 6",
        "update ledger.event set version = -version where stream_id = {ended} and version > 6",
        "update ledger.event set version = -version - 1 where stream_id = {ended} and version < 0",
        HEAD,
        column="version",
        value="version - 1",
    )

    assert [(p.stream, p.version) for p in report.problems] == [(ENDED, 6)]


async def test_an_event_put_before_the_first_is_named(lived_in_url: str) -> None:
    """Version 0 is no place."""
    problem = await only_problem(lived_in_url, MOVE, at=1, to=0)

    assert (problem.stream, problem.version) == (ENDED, 0)


@pytest.mark.parametrize("first", [2, 6, 11], ids="versions {} and next".format)
async def test_two_swapped_events_are_named(lived_in_url: str, first: int) -> None:
    """With everything that belongs to them but their version."""
    problem = await only_problem(
        lived_in_url,
        MOVE.replace("{at}", "{one}").replace("{to}", "-1"),
        MOVE.replace("{at}", "{two}").replace("{to}", "{one}"),
        MOVE.replace("{at}", "-1").replace("{to}", "{two}"),
        one=first,
        two=first + 1,
    )

    assert (problem.stream, problem.version) == (ENDED, first)


OTHERS_DATA = """update ledger.blob b set data = o.data, size = o.size from ledger.blob o
  where o.blob_id <> b.blob_id and b.blob_id = ({blob})"""


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("delete from ledger.blob where blob_id = ({blob})", "not stored"),
        ("update ledger.blob set data = '\\x00' where blob_id = ({blob})", "cannot be unpacked"),
        ("update ledger.blob set size = size + 1 where blob_id = ({blob})", "its name and size"),
        ("update ledger.blob set size = -1 where blob_id = ({blob})", "blob"),
        (OTHERS_DATA, "its name and size"),
    ],
    ids=["missing", "broken", "other size", "negative size", "other bytes"],
)
@pytest.mark.parametrize("kept", ["body", "bundle"])
async def test_a_changed_or_missing_blob_is_named(
    lived_in_url: str, sql: str, what: str, kept: str
) -> None:
    """One that holds a body, and one that a body mentions; every stream that refers to it."""
    blob = BLOB.replace("{body}", str(kept == "body"))

    report = await verified_after(lived_in_url, sql, blob=blob)

    streams = {LARGE} if kept == "body" else {ENDED, STILL_OPEN, LARGE}
    assert {problem.stream for problem in report.problems} == streams
    assert all(what in problem.what for problem in report.problems)
    assert report.checked["streams"] == 12


async def test_two_damaged_streams_are_both_named(lived_in_url: str) -> None:
    """The first bad place of each, and the rest is still looked at."""
    report = await verified_after(
        lived_in_url,
        EVENT,
        "update ledger.event set hash = sha256('a') where stream_id = {large} and version > 4",
        column="body_commit",
        value="sha256('a')",
    )

    assert [(p.stream, p.version) for p in report.problems] == [(LARGE, 5), (ENDED, 7)]


@pytest.mark.parametrize(
    ("given", "version", "what"),
    [
        ((facts.attached(),), 1, "before run.accepted"),
        ((facts.accepted("other"),), 1, "of another run"),
        ((facts.accepted("r"), facts.requested(), facts.settled()), 3, "no call in a response"),
        ((facts.accepted("r"), facts.responded()), 2, "answers no request"),
        ((facts.accepted("r"), facts.run_ended("tired")), 2, "no terminal state"),
    ],
)
async def test_an_illegal_run_is_named_though_its_chain_holds(
    ledger: Ledger, given: tuple[Fact, ...], version: int, what: str
) -> None:
    """A run's stream must also make sense."""
    await put(ledger, "run/r", *given)

    report = await verify(ledger)

    assert [(p.stream, p.version) for p in report.problems] == [("run/r", version)]
    assert what in report.problems[0].what


async def test_what_was_slipped_in_after_the_end_is_named(url: str) -> None:
    """A stream opened by hand takes an event; the fold sees it."""
    async with opened(url) as ledger:
        await put(ledger, "run/r", facts.accepted("r"), facts.run_ended())
        await ledger.pool.execute("update ledger.stream set closed_at = null")
        await put(ledger, "run/r", facts.stopped())
        report = await verify(ledger)

    assert [(p.version, p.what) for p in report.problems] == [
        (3, "an illegal step: stop.requested stands after run.ended")
    ]
