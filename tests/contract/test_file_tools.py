"""Reading and listing: what a model is shown of a workspace, and what it is told instead."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools.files import FILE_TOOLS
from activities.tools.globs import compile_glob
from domain.agents.profile import Profile
from domain.tools.registry import Effect, Writes, build_registry
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
    return tool_context(tmp_path, profile=Profile.READER)


@pytest.fixture
def workspace(tmp_path: Path, context: ToolContext) -> Path:
    assert context.workspace == str(tmp_path / "workspace")
    return tmp_path / "workspace"


def read(context: ToolContext, path: str, **arguments: Json) -> Outcome:
    return outcome_of(TOOLS["read_file"], context, path=path, **arguments)


def listed(context: ToolContext, **arguments: Json) -> list[str]:
    outcome = outcome_of(TOOLS["list_files"], context, **arguments)
    assert outcome.tag is Tag.OK
    return outcome.text.splitlines()[1:]


def body(outcome: Outcome) -> str:
    assert outcome.tag is Tag.OK, outcome.text
    return outcome.text.split("\n\n", 1)[1]


def revision(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def test_the_file_tools_can_be_registered_and_state_what_they_do() -> None:
    registry = build_registry([tool.spec for tool in FILE_TOOLS])
    told = {name: (spec.effect, spec.writes) for name, spec in registry.specs.items()}
    reads, changes = (Effect.READ, Writes.NOTHING), (Effect.PROBEABLE, Writes.LASTING)
    assert told == {
        "read_file": reads,
        "list_files": reads,
        "write_file": changes,
        "edit_file": changes,
        "delete_file": changes,
    }
    assert all(
        (tool.probe is not None) == (tool.spec.effect is Effect.PROBEABLE) for tool in FILE_TOOLS
    )


def test_a_text_is_read_whole_under_its_revision(context: ToolContext, workspace: Path) -> None:
    data = "first\nsecond — with é\n\nlast".encode()
    (workspace / "a.txt").write_bytes(data)
    outcome = read(context, "a.txt")
    head = outcome.text.split("\n\n", 1)[0].splitlines()
    assert head == [
        "path: a.txt",
        f"revision: {revision(data)}",
        f"size: {len(data)} bytes",
        "lines: 1-4 of 4",
    ]
    assert body(outcome) == data.decode()
    assert outcome.changed == ()


def test_a_window_of_lines_names_where_to_go_on(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    outcome = read(context, "a.txt", offset_line=3, limit_lines=2)
    assert body(outcome) == "line 3\nline 4\n"
    assert "lines: 3-4 of 10 (go on with offset_line=5)" in outcome.text
    assert body(read(context, "a.txt", offset_line=10)) == "line 10\n"
    past = read(context, "a.txt", offset_line=11)
    assert (past.code, "10 lines" in past.text) == ("offset_past_end", True)


def test_an_empty_file_is_read_as_no_lines(context: ToolContext, workspace: Path) -> None:
    (workspace / "empty").touch()
    outcome = read(context, "empty")
    assert body(outcome) == ""
    assert "lines: 0" in outcome.text
    assert f"revision: {revision(b'')}" in outcome.text


@pytest.mark.parametrize(
    "data", [b"\x7fELF\0\0", b"text\n" * 5000 + b"\0", bytes(range(128, 256)) * 9]
)
def test_a_binary_file_is_told_by_its_size_and_revision(
    context: ToolContext, workspace: Path, data: bytes
) -> None:
    (workspace / "b").write_bytes(data)
    outcome = read(context, "b")
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "binary_file")
    assert f"{len(data)} bytes (revision: {revision(data)})" in outcome.text


def test_a_few_broken_bytes_are_shown_and_counted(context: ToolContext, workspace: Path) -> None:
    (workspace / "latin").write_bytes(b"caf\xe9 and \xe9t\xe9\n")
    outcome = read(context, "latin")
    assert body(outcome) == "caf\ufffd and \ufffdt\ufffd\n"
    assert "note: 3 pieces that are no UTF-8" in outcome.text


def test_a_huge_file_is_read_in_parts_that_join_to_the_whole(
    context: ToolContext, workspace: Path
) -> None:
    line = "x" * 99 + "\n"
    (workspace / "huge.log").write_text(line * 120_000)
    first = read(context, "huge.log")
    assert len(body(first)) <= 5 * 1024 * 1024
    parts, offset = [body(first)], int(first.text.split("offset_line=")[1].split(")")[0])
    while offset:
        outcome = read(context, "huge.log", offset_line=offset)
        parts.append(body(outcome))
        head = outcome.text.split("\n\n", 1)[0]
        offset = int(head.split("offset_line=")[1].split(")")[0]) if "offset_line=" in head else 0
    assert "".join(parts) == line * 120_000


def test_a_line_longer_than_the_limit_is_cut_and_said_so(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "one-line").write_text("y" * (5 * 1024 * 1024 + 10))
    outcome = read(context, "one-line")
    assert len(body(outcome)) == 5 * 1024 * 1024
    assert "line 1 is longer than" in outcome.text


def test_a_sparse_terabyte_is_refused_at_once(context: ToolContext, workspace: Path) -> None:
    with (workspace / "sparse").open("wb") as file:
        file.truncate(2**40)
    assert read(context, "sparse").code == "file_too_large"


def test_what_is_no_regular_file_is_refused_without_waiting(
    context: ToolContext, workspace: Path
) -> None:
    os.mkfifo(workspace / "pipe")
    (workspace / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(workspace / "socket"))
        codes = {name: read(context, name).code for name in ("pipe", "socket", "folder", ".")}
    assert codes == {
        "pipe": "not_a_regular_file",
        "socket": "not_a_regular_file",
        "folder": "is_a_directory",
        ".": "is_a_directory",
    }


def test_a_stopped_call_reads_nothing_more(tmp_path: Path) -> None:
    stop = threading.Event()
    context = tool_context(tmp_path, stop=stop)
    (tmp_path / "workspace" / "a").write_text("x")
    stop.set()
    assert read(context, "a").code == "stopped"
    assert outcome_of(TOOLS["list_files"], context).code == "stopped"


def test_a_run_without_a_workspace_is_told_so(context: ToolContext, workspace: Path) -> None:
    workspace.rmdir()
    assert read(context, "a").code == "workspace_missing"


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xc3\xa9", b"\xff"]), max_size=30).map(
        b"".join
    ),
    step=st.integers(1, 4),
)
def test_reading_by_windows_gives_every_line_once(
    context: ToolContext, workspace: Path, data: bytes, step: int
) -> None:
    (workspace / "f").write_bytes(data)
    total = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    windows = [
        body(read(context, "f", offset_line=first, limit_lines=step))
        for first in range(1, total + 1, step)
    ]
    assert "".join(windows) == data.decode("utf-8", "replace")


def test_a_listing_is_in_order_marks_kinds_and_leaves_git_out(
    context: ToolContext, workspace: Path
) -> None:
    for name in ("b/two.py", "b/c/three.py", "a.py", ".git/HEAD"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).touch()
    (workspace / "z-link").symlink_to("/etc")
    os.mkfifo(workspace / "y-pipe")
    assert listed(context) == [
        "a.py",
        "b/",
        "b/c/",
        "b/c/three.py",
        "b/two.py",
        "y-pipe (no regular file)",
        "z-link -> /etc",
        "[1 .git folders left out]",
    ]
    assert listed(context, path=".git") == [".git/HEAD"]


def test_depth_and_glob_narrow_a_listing(context: ToolContext, workspace: Path) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.ts"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).touch()
    assert listed(context, depth=1) == ["a.py", "src/", "[1 folders below the depth left out]"]
    assert listed(context, glob="*.py") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert listed(context, glob="src/*.{py,ts}") == ["src/b.py"]
    assert listed(context, path="src", glob="deep/*.ts") == ["src/deep/d.ts"]


def test_a_listing_of_too_many_counts_the_rest(context: ToolContext, workspace: Path) -> None:
    for number in range(1205):
        (workspace / f"{number:04}").touch()
    lines = listed(context)
    assert (lines[0], lines[999]) == ("0000", "0999")
    assert lines[1000].startswith("[205 more entries left out")


def test_a_name_that_could_forge_a_line_is_shown_escaped(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a\nb\x1b[2J").touch()
    (workspace / os.fsdecode(b"\xff.txt")).touch()
    assert listed(context) == ["a\\nb\\x1b[2J", "\\udcff.txt"]


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("**", "a/b", True),
        ("./a?.[ch]", "ab.c", True),
        ("{a,b/{c,d}}/x", "b/d/x", True),
        ("{alone", "{alone", True),
    ],
)
def test_globs_match_as_people_expect(glob: str, path: str, *, fits: bool) -> None:
    assert compile_glob(glob).matches(tuple(path.split("/"))) is fits


def test_a_glob_made_to_explode_is_matched_at_once(context: ToolContext, workspace: Path) -> None:
    (workspace / ("a" * 250)).touch()
    assert listed(context, glob="*a" * 60 + "b") == []
    assert listed(context, glob="**/" * 60 + "b") == []
    exploded = outcome_of(TOOLS["list_files"], context, glob="{a,b}" * 12)
    assert exploded.code == "invalid_glob"
