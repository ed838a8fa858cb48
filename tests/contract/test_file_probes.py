"""After a worker died in a change: what a probe finds, and that nothing is changed twice."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import threading
import time
from typing import TYPE_CHECKING

import pytest

from activities.tools.change import DRAFT_PREFIX
from activities.tools.files import FILE_TOOLS
from activities.tools.receipts import Receipt, alone, leave_receipt
from activities.tools.watch import watch
from domain.ports import Absent, Executed, Unclear
from domain.tools.results import Tag
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from domain.codec import Json
    from domain.ports import Probed, Tool, ToolContext

TOOLS = by_name(FILE_TOOLS)
OLD, NEW = b"old text", b"new text"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


CALLS: dict[str, dict[str, Json]] = {
    "write_file": {"path": "a", "content": "new text", "expected_revision": digest(OLD)[:16]},
    "edit_file": {"path": "a", "edits": [{"old": "old", "new": "new"}]},
    "delete_file": {"path": "a", "expected_revision": digest(OLD)[:16]},
}


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return tool_context(tmp_path)


@pytest.fixture
def file(tmp_path: Path, context: ToolContext) -> Path:
    assert context.workspace == str(tmp_path / "workspace")
    path = tmp_path / "workspace" / "a"
    path.write_bytes(OLD)
    return path


def probe(name: str, context: ToolContext, arguments: Mapping[str, Json] | None = None) -> Probed:
    look = TOOLS[name].probe
    assert look is not None
    return look(arguments or CALLS[name], context)


def left_behind(context: ToolContext, name: str) -> None:
    """Leave what a worker leaves that dies between the receipt and the change."""
    after = "" if name == "delete_file" else digest(NEW)
    leave_receipt(context, Receipt("a", digest(OLD), after, "changed a"))


@pytest.mark.parametrize("name", CALLS)
def test_a_change_never_begun_is_absent(name: str, context: ToolContext, file: Path) -> None:
    assert probe(name, context) == Absent()
    assert file.read_bytes() == OLD


@pytest.mark.parametrize("name", CALLS)
def test_a_change_that_happened_is_found_with_its_very_outcome(
    name: str, context: ToolContext, file: Path
) -> None:
    outcome = outcome_of(TOOLS[name], context, **CALLS[name])
    assert outcome.tag is Tag.OK
    assert probe(name, context) == Executed(outcome)
    assert file.exists() is (name != "delete_file")


@pytest.mark.parametrize("name", CALLS)
def test_a_worker_that_died_before_the_change_left_it_absent(
    name: str, context: ToolContext, file: Path
) -> None:
    left_behind(context, name)
    assert probe(name, context) == Absent()
    assert outcome_of(TOOLS[name], context, **CALLS[name]).tag is Tag.OK
    assert file.exists() is (name != "delete_file")


@pytest.mark.parametrize("name", CALLS)
def test_a_file_that_someone_else_changed_since_is_unclear(
    name: str, context: ToolContext, file: Path
) -> None:
    left_behind(context, name)
    file.write_text("a third text")
    assert isinstance(probe(name, context), Unclear)


def test_a_write_whose_content_stands_there_is_executed_without_a_receipt(
    context: ToolContext, file: Path
) -> None:
    file.write_bytes(NEW)
    found = probe("write_file", context)
    assert isinstance(found, Executed)
    assert (found.outcome.tag, found.outcome.changed) == (Tag.OK, ())


def test_a_refused_change_leaves_nothing_to_be_judged(context: ToolContext, file: Path) -> None:
    stale: dict[str, Json] = {**CALLS["write_file"], "expected_revision": "0" * 16}
    assert outcome_of(TOOLS["write_file"], context, **stale).code == "revision_mismatch"
    file.write_text("a third text")
    assert probe("write_file", context, stale) == Absent()


def test_a_probe_of_a_path_that_is_always_refused_is_absent(context: ToolContext) -> None:
    assert probe("write_file", context, {"path": "../x", "content": "y"}) == Absent()


def test_a_probe_removes_the_draft_that_a_dead_worker_left(
    context: ToolContext, file: Path
) -> None:
    draft = DRAFT_PREFIX + hashlib.sha256(context.call_id.encode()).hexdigest()[:16]
    (file.parent / draft).write_text("half of it")
    assert "half" not in outcome_of(TOOLS["list_files"], context).text
    assert probe("edit_file", context) == Absent()
    assert [path.name for path in file.parent.iterdir()] == ["a"]


def test_a_probe_waits_for_an_execution_that_outlived_its_worker(
    context: ToolContext, file: Path
) -> None:
    entered = threading.Event()
    found: list[Probed] = []

    def look() -> None:
        entered.set()
        found.append(probe("edit_file", context))

    with alone(context, watch(context)):
        thread = threading.Thread(target=look)
        thread.start()
        assert entered.wait(5)
        left_behind(context, "edit_file")
        file.write_bytes(NEW)
    thread.join(10)
    assert [type(one) for one in found] == [Executed]


def test_a_probe_that_waited_in_vain_is_unclear(tmp_path: Path) -> None:
    context = tool_context(tmp_path, limit=0.2)
    with alone(context, watch(context)):
        assert isinstance(probe("edit_file", context), Unclear)


def _execute(tool: Tool, arguments: Mapping[str, Json], context: ToolContext) -> None:
    tool.execute(arguments, context)
    os._exit(0)


def test_a_writer_killed_anywhere_leaves_old_or_new_and_a_probe_that_knows_which(
    tmp_path: Path,
) -> None:
    content = "n" * 300_000
    file = tmp_path / "workspace" / "a"
    chance = random.Random(7)  # noqa: S311 - only spreads the kills
    met = {Absent: 0, Executed: 0}
    whole = 0.0
    for round_number in range(40):
        context = tool_context(tmp_path, call_id=f"call-{round_number}")
        file.write_bytes(OLD)
        arguments: dict[str, Json] = {**CALLS["write_file"], "content": content}
        forked = multiprocessing.get_context("fork")
        process = forked.Process(target=_execute, args=(TOOLS["write_file"], arguments, context))
        began = time.monotonic()
        process.start()
        process.join(chance.uniform(0, whole) if whole else None)
        whole = whole or 1.2 * (time.monotonic() - began)  # the first one runs to its end
        process.kill()
        process.join()
        found = probe("write_file", context, arguments)
        assert not isinstance(found, Unclear), found.reason
        met[type(found)] += 1
        assert file.read_bytes() == (OLD if isinstance(found, Absent) else content.encode())
        assert [path.name for path in file.parent.iterdir()] == ["a"]
    assert met[Executed] > 0
