"""What the command line shows of a run that has ended, each way of looking at it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import unquote

import pytest

from tests.support.stack import LiveStack, Result, calls, text

SYSTEM = "You are an agent"


@dataclass(frozen=True)
class Looked:
    """A run that read and wrote, and how it was shown."""

    run_id: str
    model: str
    shown: Result


@pytest.fixture(scope="module")
def looked(stack: LiveStack) -> Looked:
    """Run once; every test looks at the same run."""
    folder = stack.workspace("looked", a__txt="hello\n")
    model = stack.script(
        "looked",
        calls(("read_file", {"path": "a.txt"}), usage={"input_tokens": 100, "cost": "0.25"}),
        calls(("write_file", {"content": "b", "path": "b.txt"}), ("read_file", {"path": "no"})),
        text("done"),
    )
    ran = stack.cli("run", "generic", "look at it", "-w", str(folder), "-m", model, "--reader")
    assert ran.code == 0, ran.out + ran.err
    run_id = str(stack.row(model)["run_id"])
    return Looked(run_id, model, stack.inside("--json", "show", run_id))


def test_show_tells_identity_place_spend_and_where_to_look_in_temporal(
    stack: LiveStack, looked: Looked
) -> None:
    seen = looked.shown.json
    assert (seen["status"], seen["profile"], seen["agent"]) == ("completed", "reader", "generic")
    assert (seen["item"], seen["turn"], seen["step"], seen["repair"]) == (1, 1, 3, 0)
    assert seen["items"] == [{"name": "message", "kind": "message", "state": "done"}]
    assert (seen["tokens"], seen["cost"], seen["requests"]) == (100, "0.25", 3)
    assert len(seen["fingerprint"]) == 64
    assert seen["ui"].startswith(f"{stack.ui_address}/namespaces/legato/workflows/run%2F")
    assert seen["workflow_id"] in unquote(seen["ui"])
    assert seen["temporal_runs"][0] in seen["ui"]


def test_the_timeline_tells_each_call_with_its_outcome_and_seconds(looked: Looked) -> None:
    lines = looked.shown.json["timeline"]
    told = {line["text"].partition(":")[0]: line for line in lines if line["level"] == 2}

    assert told["read_file(path=a.txt)"]["outcome"] == "ok"
    assert told["read_file(path=no)"]["outcome"] == "failed"
    assert told["write_file(content=b, path=b.txt)"]["outcome"] == "failed"
    assert told["read_file(path=a.txt)"]["seconds"] >= 0


def test_people_see_status_spend_and_timeline_on_one_screen(
    stack: LiveStack, looked: Looked
) -> None:
    screen = stack.inside("show", looked.run_id[:13], "--events").out

    for part in ("completed  generic", "$0.25", "timeline", "read_file(path=a.txt)", "run.ended"):
        assert part in screen


@pytest.mark.parametrize("number", [1, 3])
def test_a_request_is_shown_exactly_as_it_was_sent(
    stack: LiveStack, looked: Looked, number: int
) -> None:
    sent = stack.inside("--json", "show", looked.run_id, "--request", str(number)).json

    assert (sent["view_same"], sent["request_same"]) == (True, True)
    assert (sent["request"], sent["of"]) == (number, 3)
    assert sent["system"].startswith(SYSTEM)
    assert sent["messages"][0]["text"] == "look at it"
    assert len(sent["messages"]) == {1: 1, 3: 6}[number]
    assert "write_file" not in {tool["name"] for tool in sent["tools"]}
    assert "shell" in sent["hidden"]


def test_a_request_that_was_not_made_is_not_found(stack: LiveStack, looked: Looked) -> None:
    missing = stack.inside("--json", "show", looked.run_id, "--request", "4")

    assert (missing.code, missing.error["code"]) == (4, "request_not_found")
    assert "3" in missing.error["cause"]


def test_the_log_followed_is_json_lines_and_ends_with_the_run(
    stack: LiveStack, looked: Looked
) -> None:
    followed = stack.cli("log", looked.run_id, "--follow", "--json")

    events = [json.loads(line) for line in followed.out.splitlines()]
    assert [event["version"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["type"]) == ("run.accepted", "run.ended")
    assert events[0]["body"]["run_id"] == looked.run_id

    rest = stack.cli("log", looked.run_id, "--follow", "--json", "--after", events[1]["cursor"])
    assert [json.loads(line) for line in rest.out.splitlines()] == events[2:]


def test_the_rows_of_ended_runs_do_not_depend_on_when_they_are_read(
    stack: LiveStack, looked: Looked
) -> None:
    first, second = (stack.inside("--json", "runs").json["runs"] for _ in range(2))

    mine = next(row for row in first if row["run_id"] == looked.run_id)
    assert mine in second
    assert (mine["items_done"], mine["items"], mine["waiting_on"]) == (1, 1, "")
    assert mine["accepted_at"] <= mine["started_at"] <= mine["ended_at"]


def test_a_replay_finds_both_records_whole(stack: LiveStack, looked: Looked) -> None:
    replayed = stack.inside("--json", "replay", looked.run_id)

    assert replayed.code == 0, replayed.out
    assert replayed.json["fold"]["status"] == "completed"
    assert [link["ok"] for link in replayed.json["histories"]] == [True]


def test_the_ledger_is_found_whole(stack: LiveStack, looked: Looked) -> None:
    verified = stack.inside("ledger", "verify", "--json")

    assert (verified.code, verified.json["ok"], verified.json["problems"]) == (0, True, [])
    assert verified.json["checked"]["streams"] >= 4
    assert looked.shown.json["version"] <= verified.json["checked"]["events"]
