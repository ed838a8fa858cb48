"""What the command line lists over all runs, from rows that follow the ledger."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from tests.support.stack import calls, text

if TYPE_CHECKING:
    from tests.support.stack import LiveStack


_BODY = "select body, codec from ledger.event where stream_id = $1 and version = $2"
_CHANGE = "update ledger.event set body = $3, codec = $4 where stream_id = $1 and version = $2"


@dataclass(frozen=True)
class Ran:
    """A run that was started and stopped, and what the stop returned."""

    run_id: str
    mark: str


@pytest.fixture(scope="module")
def ran(stack: LiveStack) -> Ran:
    """Run once to its end; every test lists the same run."""
    folder = stack.workspace("listed", a__txt="hello\n")
    model = stack.script(
        "listed",
        calls(("read_file", {"path": "a.txt"}), usage={"input_tokens": 100, "cost": "0.25"}),
        text("done"),
    )
    given = ("run", "generic", "look at it", "-w", str(folder), "-m", model)
    ended = stack.cli("--json", *given)
    assert ended.code == 0, ended.out + ended.err
    return Ran(ended.json["run_id"], f"run/{ended.json['run_id']}@{ended.json['version']}")


def rows(stack: LiveStack, name: str, *arguments: str) -> list[dict[str, Any]]:
    """Give a list's rows."""
    listed: list[dict[str, Any]] = stack.inside("--json", name, *arguments).json[name]
    return listed


def test_a_list_after_a_run_s_end_holds_the_end(stack: LiveStack, ran: Ran) -> None:
    listed = stack.inside("--json", "runs", "--after", ran.mark).json

    mine = next(row for row in listed["runs"] if row["run_id"] == ran.run_id)
    assert (mine["status"], mine["reason"], mine["tokens"]) == ("completed", "done", 100)
    assert listed["lag"]["after"]["reached"] is True
    assert listed["lag"]["stands"] is None
    assert set(listed["lag"]) >= {"behind", "rows", "feed", "unnumbered"}


def test_filters_pick_rows(stack: LiveStack, ran: Ran) -> None:
    every = rows(stack, "runs", "--all", "--status", "completed", "--agent", "generic")

    assert ran.run_id in {row["run_id"] for row in every}
    assert {row["status"] for row in every} == {"completed"}
    assert ran.run_id not in {row["run_id"] for row in rows(stack, "runs", "--open")}
    assert [row["run_id"] for row in rows(stack, "runs", "-w", str(stack.files / "listed"))] == [
        ran.run_id
    ]
    assert rows(stack, "runs", "--since", "2999-01-01") == []


def test_usage_is_summed_by_run_item_agent_and_day(stack: LiveStack, ran: Ran) -> None:
    folder = ("-w", str(stack.files / "listed"), "--after", ran.mark)
    by = {
        name: rows(stack, "usage", "--by", name, *folder)
        for name in ("run", "item", "agent", "day")
    }

    for summed in by.values():
        assert [(row["steps"], row["calls"], row["tokens"]) for row in summed] == [(2, 1, 100)]
        assert [(row["cost"], row["cost_unknown"]) for row in summed] == [("0.25", 0)]
        assert [row["output_tokens"] for row in summed] in ([None], [0])
    assert by["item"][0]["name"] == "message"
    assert by["agent"][0]["runs"] == 1
    assert "$0.25" in stack.inside("usage", "--by", "agent", *folder).out


def test_a_rebuild_finds_the_rows_identical_and_a_replay_compares_one(
    stack: LiveStack, ran: Ran
) -> None:
    rebuilt = stack.inside("--json", "ledger", "rebuild")
    said = stack.inside("ledger", "rebuild")
    replayed = stack.inside("--json", "replay", ran.run_id)

    assert (rebuilt.code, rebuilt.json["identical"], rebuilt.json["differing"]) == (0, True, [])
    assert rebuilt.json["events"] >= 10
    assert "identical" in said.out
    assert replayed.json["rows"]["ok"] is True, replayed.out
    assert replayed.json["rows"]["version"] == replayed.json["fold"]["events"]


async def put_body(stack: LiveStack, run_id: str, body: bytes, codec: int) -> tuple[bytes, int]:
    """Put another body in the place of the second event's; gives what was there."""
    connection = await asyncpg.connect(stack.database_url)
    try:
        await connection.execute("set session_replication_role = replica")
        there = (f"run/{run_id}", 2)
        old = await connection.fetchrow(_BODY, *there)
        await connection.execute(_CHANGE, *there, body, codec)
    finally:
        await connection.close()
    assert old is not None
    return bytes(old["body"]), int(old["codec"])


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_listed(
    stack: LiveStack, ran: Ran
) -> None:
    model = stack.script("damaged", text("done"))
    other = stack.cli("--json", "run", "generic", "break", "-m", model).json["run_id"]
    old = asyncio.run(put_body(stack, other, b"{", 0))
    try:
        stack.inside("ledger", "rebuild")
        listed = {name: stack.inside("--json", name).json for name in ("runs", "inbox", "usage")}
        said = {name: stack.inside(name).out for name in listed}
        shown = stack.inside("--json", "show", other)
        examined = stack.inside("doctor").out
    finally:
        asyncio.run(put_body(stack, other, *old))
        stack.inside("ledger", "rebuild")

    assert {other, ran.run_id} <= {row["run_id"] for row in listed["runs"]["runs"]}
    for name, value in listed.items():
        (named,) = value["unreadable"]
        assert (named["run_id"], named["code"]) == (other, "body_damaged")
        assert (value["ok"], value["lag"]["stands"]) == (True, None)
        assert "damaged (body_damaged)" in said[name]
        assert "legato ledger verify" in said[name]
    assert (shown.code, shown.error["code"]) == (1, "event_damaged")
    assert "legato ledger verify" in shown.error["next"]
    assert "1 run cannot be read" in examined
    assert stack.inside("--json", "runs").json["unreadable"] == []


@pytest.mark.parametrize(
    ("written", "code", "exit_status"),
    [("run/nobody@1", "not_found", 4), ("nobody", "usage", 2)],
)
def test_what_cannot_be_waited_for_is_refused(
    stack: LiveStack, written: str, code: str, exit_status: int
) -> None:
    refused = stack.inside("--json", "runs", "--after", written)

    assert (refused.code, refused.error["code"]) == (exit_status, code)


def test_a_time_that_is_none_is_refused_with_how_to_write_one(stack: LiveStack) -> None:
    refused = stack.inside("--json", "runs", "--since", "yesterday")

    assert (refused.code, refused.error["code"]) == (2, "usage")
    assert "ISO 8601" in refused.error["message"]
