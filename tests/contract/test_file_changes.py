"""Writing, editing and deleting: exact, whole or not at all, and never over unread content."""

from __future__ import annotations

import hashlib
import os
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools.change import remove_file, replace_file
from activities.tools.contents import current
from activities.tools.files import FILE_TOOLS
from activities.tools.paths import place_to_change
from activities.tools.receipts import find_receipt
from activities.tools.watch import watch
from domain.agents.profile import Profile
from domain.errors import LegatoError
from domain.tools.results import Tag
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json
    from domain.ports import ToolContext
    from domain.tools.results import Outcome

TOOLS = by_name(FILE_TOOLS)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return tool_context(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, context: ToolContext) -> Path:
    assert context.workspace == str(tmp_path / "workspace")
    return tmp_path / "workspace"


def call(context: ToolContext, name: str, path: str, **arguments: Json) -> Outcome:
    return outcome_of(TOOLS[name], context, path=path, **arguments)


def edit(context: ToolContext, path: str, *edits: tuple[str, str], **more: Json) -> Outcome:
    return call(context, "edit_file", path, edits=[{"old": a, "new": b} for a, b in edits], **more)


def revision(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def names_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_new_file_is_made_with_its_folders(context: ToolContext, workspace: Path) -> None:
    outcome = call(context, "write_file", "src/new/a.py", content="é!")
    assert (outcome.tag, outcome.changed) == (Tag.OK, ("src/new/a.py",))
    assert f"revision: {revision('é!'.encode())}" in outcome.text
    assert (workspace / "src/new/a.py").read_text() == "é!"
    assert names_below(workspace) == ["src", "src/new", "src/new/a.py"]


def test_a_file_is_replaced_only_by_who_read_it(context: ToolContext, workspace: Path) -> None:
    file = workspace / "a"
    file.write_text("one")
    blind = call(context, "write_file", "a", content="two")
    assert (blind.code, revision(b"one") in blind.text) == ("revision_required", True)
    stale = call(context, "write_file", "a", content="two", expected_revision="0" * 16)
    assert (stale.code, revision(b"one") in stale.text) == ("revision_mismatch", True)
    assert file.read_text() == "one"
    done = call(context, "write_file", "a", content="two", expected_revision=revision(b"one"))
    assert (done.tag, done.changed, file.read_text()) == (Tag.OK, ("a",), "two")


def test_a_file_that_is_gone_is_not_replaced(context: ToolContext, workspace: Path) -> None:
    outcome = call(context, "write_file", "a/b", content="x", expected_revision="0" * 16)
    assert outcome.code == "not_found"
    assert names_below(workspace) == []


def test_permissions_and_owner_are_kept(context: ToolContext, workspace: Path) -> None:
    file = workspace / "run.sh"
    file.write_text("old")
    file.chmod(0o750)
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    before = file.stat()
    assert edit(context, "run.sh", ("old", "new")).tag is Tag.OK
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_hard_link_to_a_file_elsewhere_is_cut_not_written_through(
    context: ToolContext, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").write_text("mine")
    (workspace / "a").hardlink_to(tmp_path / "elsewhere")
    assert edit(context, "a", ("mine", "yours")).tag is Tag.OK
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.parametrize("name", ["write_file", "edit_file", "delete_file"])
def test_a_reader_changes_nothing(tmp_path: Path, name: str) -> None:
    context = tool_context(tmp_path, profile=Profile.READER)
    (tmp_path / "workspace" / "a").write_text("x")
    arguments: dict[str, Json] = {
        "path": "a",
        "content": "y",
        "edits": [{"old": "x", "new": "y"}],
        "expected_revision": revision(b"x"),
    }
    with pytest.raises(LegatoError) as caught:
        TOOLS[name].execute(arguments, context)
    assert caught.value.code == "not_a_writer"
    assert (tmp_path / "workspace" / "a").read_text() == "x"


def test_edits_are_made_in_order_and_the_new_revision_told(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a").write_bytes(b"one two\r\n\xff three")
    outcome = edit(context, "a", ("one", "1"), ("1 two", "2"))
    made = b"2\r\n\xff three"
    assert (workspace / "a").read_bytes() == made
    assert f"revision: {revision(made)}" in outcome.text
    assert outcome.changed == ("a",)


def test_every_problem_of_every_edit_is_told_and_nothing_is_changed(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a").write_text("x\ny\nx\nz\r\nz2\r\n")
    outcome = edit(context, "a", ("y", "ok"), ("x", "1"), ("no", "1"), ("z", "z"), ("z\nz2", "q"))
    assert outcome.code == "edits_not_applicable"
    assert "edit 2: old was found 2 times (lines 1, 3)" in outcome.text
    assert "edit 3: old was not found" in outcome.text
    assert "edit 4: old and new are the same" in outcome.text
    assert r"edit 5: old was not found; the file ends its lines with \r\n" in outcome.text
    assert (workspace / "a").read_bytes() == b"x\ny\nx\nz\r\nz2\r\n"


def test_all_replaces_every_place(context: ToolContext, workspace: Path) -> None:
    (workspace / "a").write_text("x x x")
    every: Json = [{"old": "x", "new": "yy", "all": True}]
    outcome = call(context, "edit_file", "a", edits=every)
    assert ((workspace / "a").read_text(), "3 places" in outcome.text) == ("yy yy yy", True)


def test_an_edit_of_another_revision_or_of_no_text_is_refused(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a").write_text("x")
    (workspace / "b").write_bytes(b"x\0")
    assert edit(context, "a", ("x", "y"), expected_revision="0" * 16).code == "revision_mismatch"
    assert edit(context, "b", ("x", "y")).code == "binary_file"
    assert edit(context, "c", ("x", "y")).code == "not_found"
    grown: Json = [{"old": "x", "new": "y" * 1024 * 1024, "all": True}]
    (workspace / "a").write_text("x" * 10)
    assert "would grow beyond" in call(context, "edit_file", "a", edits=grown).text


def test_text_that_no_file_can_hold_is_refused(context: ToolContext, workspace: Path) -> None:
    (workspace / "a").write_text("x")
    assert call(context, "write_file", "n", content="\ud800").code == "invalid_text"
    assert edit(context, "a", ("x", "\udfff")).code == "invalid_text"
    huge = call(context, "write_file", "n", content="x" * (5 * 1024 * 1024 + 1))
    assert huge.code == "content_too_large"
    assert names_below(workspace) == ["a"]


def test_a_file_is_deleted_at_the_revision_that_was_read(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a").write_bytes(b"\0binary")
    stale = call(context, "delete_file", "a", expected_revision="0" * 16)
    assert (stale.code, (workspace / "a").exists()) == ("revision_mismatch", True)
    outcome = call(context, "delete_file", "a", expected_revision=revision(b"\0binary"))
    assert (outcome.tag, outcome.changed) == (Tag.OK, ("a",))
    assert names_below(workspace) == []
    again = call(context, "delete_file", "a", expected_revision=revision(b"\0binary"))
    assert again.code == "not_found"


def test_a_call_stopped_before_it_changed_anything_changes_nothing(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a").write_text("x")
    assert isinstance(context.stop, threading.Event)
    context.stop.set()
    assert edit(context, "a", ("x", "y")).code == "stopped"
    assert (workspace / "a").read_text() == "x"


def test_what_changed_since_it_was_looked_at_is_not_changed_again(
    context: ToolContext, workspace: Path
) -> None:
    file = workspace / "a"
    file.write_text("read")
    with place_to_change(context, "a") as place:
        found = current(place, watch(context))
        assert found is not None
        file.write_text("meanwhile")
        with pytest.raises(LegatoError, match="changed in the meantime"):
            replace_file(context, place, found, b"mine", "replaced a")
        with pytest.raises(LegatoError, match="changed in the meantime"):
            remove_file(context, place, found, "deleted a")
        with pytest.raises(LegatoError, match="appeared in the meantime"):
            replace_file(context, place, None, b"mine", "created a")
        assert file.read_text() == "meanwhile"
        file.unlink()
        with pytest.raises(LegatoError, match="removed in the meantime"):
            replace_file(context, place, found, b"mine", "replaced a")
    assert names_below(workspace) == []
    assert find_receipt(context) is None


TEXTS = st.text(alphabet="ab\n\ré", max_size=12)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=TEXTS, old=TEXTS.filter(bool), new=TEXTS)
def test_an_edit_does_what_replacing_the_one_occurrence_does(
    context: ToolContext, workspace: Path, before: str, old: str, new: str
) -> None:
    (workspace / "a").write_bytes(before.encode())
    outcome = edit(context, "a", (old, new))
    applies = before.count(old) == 1 and old != new
    assert (outcome.tag is Tag.OK) is applies
    expected = before.replace(old, new) if applies else before
    assert (workspace / "a").read_bytes() == expected.encode()
