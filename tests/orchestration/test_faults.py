"""Calls that go wrong in every way: each has a typed outcome, and the run goes on."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import pytest

from domain.events import CallSettled, ModelRequested, ModelResponded
from domain.runs.conversation import AssistantMessage, ToolMessage
from domain.runs.transcript import conversation
from domain.tools.intrinsic import PIECE_BYTES
from domain.tools.results import Tag
from tests.support.canaries import CANARY
from tests.support.model_server import ModelServer, model_server
from tests.support.model_wire import Call, Says
from tests.support.rig import rig_of
from tests.support.trust import all_holds, nothing_seen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from legato.embedded import Stack
    from tests.support.rig import Rig

MEGABYTES = 3_000_000
FORTY = 40


@pytest.fixture
async def faulty(served: Rig) -> AsyncIterator[Rig]:
    """A rig whose runs leave nothing of their content, and no path, in Temporal."""
    (served.workspace / "a.txt").write_text(f"the file says {CANARY}\n")
    yield served
    await nothing_seen(served)


@pytest.fixture(scope="module", autouse=True)
def record(cluster: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever went wrong, the record holds: verified once, after everything here."""
    yield

    async def verified() -> None:
        async with rig_of(cluster, tmp_path_factory.mktemp("verified")) as rig:
            await all_holds(rig)

    asyncio.run(verified())


def calls(*each: tuple[str, object], **more: object) -> dict[str, object]:
    """Write a step that asks for calls: name and arguments, as an object or as text."""
    return {"calls": [{"tool": name, "arguments": given} for name, given in each], **more}


async def went_on(
    rig: Rig, *steps: Mapping[str, object], tools: tuple[str, ...] | None = None
) -> list[CallSettled]:
    """Run steps and one last word; give the outcomes in the order of the calls.

    The run completes, and its last request holds one result for each call, in order.
    """
    script = json.dumps({"steps": [*steps, {"text": f"done {CANARY}"}]})
    run_id = await rig.launch(model=rig.script(script), message=f"go {CANARY}", tools=tools)
    run = await rig.ended(run_id, seconds=100)
    assert run.status == "completed", run.ended
    facts = await rig.facts(run_id)
    messages = conversation(facts, {})
    asked_for = [c for m in messages if isinstance(m, AssistantMessage) for c in m.calls]
    results = [m for m in messages if isinstance(m, ToolMessage)]
    assert [(c.name, c.provider_id) for c in asked_for] == [
        (r.name, r.provider_id) for r in results
    ]
    settled = [fact for fact in facts if isinstance(fact, CallSettled)]
    return sorted(settled, key=lambda call: (call.turn, call.step, call.position))


def kinds(outcomes: list[CallSettled]) -> list[tuple[str, str]]:
    """Give tag and code of each outcome."""
    return [(call.outcome.tag.value, call.outcome.code) for call in outcomes]


OK = ("ok", "")


async def test_a_result_of_three_megabytes_is_kept_whole_and_read_on_piece_by_piece(
    faulty: Rig,
) -> None:
    begins = (12_240, 12_240 + PIECE_BYTES, MEGABYTES - 100)
    shown = f'read_result(id="1.1.0", offset={begins[0]})'
    big, *read = await went_on(
        faulty,
        calls(("big_result", {"bytes": MEGABYTES})),
        calls(
            *(("read_result", {"id": "1.1.0", "offset": begin}) for begin in begins),
            ("read_result", {"id": "1.1.0", "offset": MEGABYTES}),
            expect={"last_tool": {"contains": ["left out", shown]}},
        ),
    )

    whole = big.outcome.text
    assert len(whole) == MEGABYTES
    assert kinds(read) == [OK, OK, OK, ("error", "offset_past_end")]
    pieces = [_piece(call.outcome.text) for call in read[:3]]
    for begin, end, size, text in pieces:
        assert (size, text) == (MEGABYTES, whole[begin:end])
    assert [begin for begin, _, _, _ in pieces] == list(begins)
    assert pieces[0][1] == begins[1]
    assert pieces[2][1] == MEGABYTES


def _piece(text: str) -> tuple[int, int, int, str]:
    """Take a piece apart: where it begins and ends, the size of the whole, and its text."""
    body, _, note = text.rpartition("\n[bytes ")
    match = re.fullmatch(r"(\d+) to (\d+) of (\d+): .*\]", note)
    assert match is not None
    return int(match[1]), int(match[2]), int(match[3]), body


async def test_a_piece_of_a_result_is_shown_to_the_model_uncut(faulty: Rig) -> None:
    script = {
        "steps": [
            calls(("big_result", {"bytes": MEGABYTES})),
            calls(("read_result", {"id": "1.1.0", "offset": 20_000})),
            {"text": "done"},
        ]
    }
    run_id = await faulty.launch(model=faulty.script(json.dumps(script)))
    await faulty.ended(run_id)

    facts = await faulty.facts(run_id)
    shown = [m.text for m in conversation(facts, {}) if isinstance(m, ToolMessage)]
    assert "left out" in shown[0]
    assert "left out" not in shown[1]
    assert "read on with offset" in shown[1]


async def test_text_that_no_store_likes_is_kept_as_far_as_text_can_be(faulty: Rig) -> None:
    bad, *rest = await went_on(
        faulty,
        calls(("bad_text", {})),
        calls(
            ("read_file", '{"path": "\\ud800.txt"}'),
            ("read_file", '{"path": "a\\u0000.txt"}'),
            ("search_files", '{"pattern": "\\udfff"}'),
            ("write_file", '{"path": "w.txt", "content": "\\ud800 and \\u0000"}'),
            ("shell", '{"command": "echo \\ud800"}'),
            ("ask_human", '{"question": "x", "expires_in_seconds": NaN}'),
            ("ask_human", '{"question": "x", "expires_in_seconds": 1e999}'),
            ("read_file", '{"path": ' + "[" * 900 + "]" * 900 + "}"),
            ("read_file", '{"path": ' + "[" * 90_000),
        ),
    )

    assert bad.outcome.tag is Tag.OK
    assert {"\x00", "\x1b", "\ufffd"} <= set(bad.outcome.text)
    assert kinds(rest) == [
        ("error", "invalid_path"),
        ("error", "invalid_path"),
        OK,
        ("error", "invalid_text"),
        ("error", "command_invalid"),
        *[("error", "arguments_invalid")] * 4,
    ]


async def test_a_tool_that_hangs_is_left_behind_and_the_others_are_not_held_up(
    faulty: Rig,
) -> None:
    outcomes = await went_on(
        faulty,
        calls(
            ("hang_briefly", {"seconds": 15}),
            ("read_file", {"path": "a.txt"}),
            ("raise_always", {}),
            ("gives_nothing", {}),
            ("exits", {}),
        ),
    )

    raised = ("error", "tool_raised")
    assert kinds(outcomes) == [("error", "time_limit"), OK, raised, raised, raised]
    assert "was never going to work" not in outcomes[2].outcome.text, "its words stay in the log"


async def test_a_tool_that_forks_leaves_the_run_and_the_worker_alone(faulty: Rig) -> None:
    forked, read = await went_on(
        faulty,
        calls(("fork_children", {"count": 3})),
        calls(("read_file", {"path": "a.txt"})),
    )

    assert kinds([forked, read]) == [OK, OK]
    pids = cast("list[int]", json.loads(forked.outcome.text)["pids"])
    assert len(pids) == 3
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def test_names_and_arguments_that_are_wrong_are_refused_with_all_that_is_wrong(
    faulty: Rig,
) -> None:
    outcomes = await went_on(
        faulty,
        calls(
            (f"no_such_tool_{CANARY}", {}),
            ("read_file", '{"path": "a.txt"'),
            ("read_file", "[]"),
            ("search_files", {"pattern": 3, "path": ["x"], "wrong": CANARY}),
            ("call_tool", {"name": "call_tool", "arguments": {}}),
            ("read_result", {"id": "9.9.9"}),
            ("read_file", {"path": "a.txt"}),
        ),
    )

    assert kinds(outcomes) == [
        ("error", "tool_unknown"),
        ("error", "arguments_invalid"),
        ("error", "arguments_invalid"),
        ("error", "arguments_invalid"),
        ("error", "call_nested"),
        ("error", "result_unknown"),
        OK,
    ]
    assert "read_file" in outcomes[0].outcome.text, "what can be called is named"
    listed = outcomes[3].outcome.text
    assert all(name in listed for name in ("pattern", "path", "wrong")), "all problems at once"


async def test_a_forged_call_is_denied_and_changes_nothing(faulty: Rig) -> None:
    write = {"path": "new.txt", "content": CANARY}
    outcomes = await went_on(
        faulty,
        calls(
            ("write_file", write),
            ("call_tool", {"name": "write_file", "arguments": write}),
            ("get_api_spec", {"tool_names": ["read_file", "write_file"]}),
            ("shell", {"command": "touch new.txt"}),
        ),
        tools=("read_file",),
    )

    assert kinds(outcomes) == [
        ("denied", "tool_not_allowed"),
        ("denied", "tool_not_allowed"),
        ("error", "tools_unavailable"),
        ("denied", "tool_not_allowed"),
    ]
    assert not (faulty.workspace / "new.txt").exists()


async def test_refused_calls_between_effects_hold_nothing_up_and_leave_no_name(
    faulty: Rig,
) -> None:
    outcomes = await went_on(
        faulty,
        calls(
            ("write_file", {"path": "one.txt", "content": "1"}),
            (f"made_up_{CANARY}", {}),
            ("write_file", {"path": "two.txt", "content": CANARY}),
            ("read_file", {"path": "two.txt"}),
        ),
    )

    assert kinds(outcomes) == [OK, ("error", "tool_unknown"), OK, OK]
    assert CANARY in outcomes[3].outcome.text, "in the order that the model wrote them"


async def test_forty_reads_at_once_each_have_their_own_result_in_order(faulty: Rig) -> None:
    for n in range(FORTY):
        (faulty.workspace / f"{n}.txt").write_text(f"number {n} {CANARY}\n")
    reads = [("read_file", {"path": f"{n}.txt"}) for n in range(FORTY)]
    slow = [("hang_read", {"seconds": (7 - n) / 10}) for n in range(8)]

    outcomes = await went_on(faulty, calls(*slow, *reads))

    assert kinds(outcomes) == [OK] * (FORTY + 8)
    for n, call in enumerate(outcomes[8:]):
        assert f"number {n} " in call.outcome.text


@pytest.fixture(scope="module")
def provider() -> Iterator[ModelServer]:
    """A model provider on this machine."""
    with model_server() as running:
        yield running


async def test_calls_that_share_the_providers_id_are_kept_apart(
    faulty: Rig, provider: ModelServer
) -> None:
    for name in ("x", "y"):
        (faulty.workspace / f"{name}.txt").write_text(f"this is {name} {CANARY}\n")
    same = [Call("read_file", json.dumps({"path": f"{name}.txt"}), "call_same") for name in "xyx"]
    again = (Call("read_file", '{"path": "y.txt"}', "call_same"),)
    provider.plays(Says(CANARY, tuple(same)), Says("", again), Says("done"))

    run_id = await faulty.launch(model=provider.name_of("compatible"))
    run = await faulty.ended(run_id)

    assert run.status == "completed"
    settled = await faulty.of(run_id, CallSettled)
    ordered = sorted(settled, key=lambda call: (call.step, call.position))
    assert [f"this is {n}" in c.outcome.text for n, c in zip("xyxy", ordered, strict=True)] == (
        [True] * 4
    )
    assert len(await faulty.of(run_id, ModelResponded)) == len(
        await faulty.of(run_id, ModelRequested)
    )


async def test_a_model_that_answers_with_broken_text_is_heard_all_the_same(
    faulty: Rig, provider: ModelServer
) -> None:
    broken = (Call("\ud800", '{"a": "\ud800"}'), Call("read_file", '{"path": "a.txt"}'))
    provider.plays(Says("\x00 and \ud800", broken), Says("done \udfff"))

    run_id = await faulty.launch(model=provider.name_of("compatible"))
    run = await faulty.ended(run_id)

    assert (run.status, run.ended and run.ended.message) == ("completed", "")
    settled = await faulty.of(run_id, CallSettled)
    assert kinds(sorted(settled, key=lambda call: call.position)) == [
        ("error", "tool_unknown"),
        OK,
    ]
    said = [r.text for r in await faulty.of(run_id, ModelResponded)]
    assert [words.rstrip("\ufffd") for words in said] == ["\x00 and ", "done "]
