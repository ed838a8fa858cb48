"""Searching: every match once, in order, within its bounds, and it says what it left out."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools.search import SEARCH_TOOLS
from domain.agents.profile import Profile
from domain.tools.registry import Effect, Writes, build_registry
from domain.tools.results import Tag
from tests.support.tool_context import outcome_of, tool_context

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json
    from domain.ports import ToolContext
    from domain.tools.results import Outcome

(TOOL,) = SEARCH_TOOLS


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return tool_context(tmp_path, profile=Profile.READER)


@pytest.fixture
def workspace(tmp_path: Path, context: ToolContext) -> Path:
    assert context.workspace == str(tmp_path / "workspace")
    return tmp_path / "workspace"


def search(context: ToolContext, pattern: str, **arguments: Json) -> Outcome:
    return outcome_of(TOOL, context, pattern=pattern, **arguments)


def lines(outcome: Outcome) -> list[str]:
    assert outcome.tag is Tag.OK, outcome.text
    return outcome.text.splitlines()[1:]


def put(workspace: Path, **files: str) -> None:
    for name, content in files.items():
        path = workspace / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


def test_the_search_tool_can_be_registered_as_a_read() -> None:
    spec = build_registry([TOOL.spec]).specs["search_files"]
    assert (spec.effect, spec.writes) == (Effect.READ, Writes.NOTHING)


def test_matches_come_in_order_with_path_and_line(context: ToolContext, workspace: Path) -> None:
    put(workspace, b="x = 1\r\ny = 2\r\n", a__deep="no\nx = 3", z="none")
    outcome = search(context, r"^x = \d$")
    assert outcome.text.splitlines()[0] == "2 matches in 2 of 3 files searched"
    assert lines(outcome) == ["a/deep:2: x = 3", "b:1: x = 1"]


def test_plain_text_case_path_and_glob_narrow_a_search(
    context: ToolContext, workspace: Path
) -> None:
    put(workspace, a="f(x)\nF(X)\n", src__b="f(x)\n", src__c="f(x)\n")
    assert lines(search(context, "f(x)", regex=False, path="a")) == ["a:1: f(x)"]
    found = search(context, "F(x)", regex=False, ignore_case=True, path="a")
    assert lines(found) == ["a:1: f(x)", "a:2: F(X)"]
    assert lines(search(context, r"f\(", path="src", glob="[c-z]")) == ["src/c:1: f(x)"]
    assert search(context, "f", path="missing").code == "not_found"


def test_what_is_left_out_is_counted(context: ToolContext, workspace: Path) -> None:
    put(workspace, text="needle", nul="needle\0", _git="x")
    (workspace / "big").write_text("needle\n" * 400_000)
    (workspace / ".git").mkdir()
    (workspace / ".git" / "config").write_text("needle")
    (workspace / "link").symlink_to("text")
    assert lines(search(context, "needle")) == [
        "text:1: needle",
        "[1 .git folders left out]",
        "[1 binary files left out]",
        "[1 files over 2 MiB left out]",
    ]


def test_broken_text_is_searched_around_its_broken_bytes(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "latin").write_bytes(b"caf\xe9 needle\n")
    assert lines(search(context, "needle")) == ["latin:1: caf\ufffd needle"]


def test_a_search_ends_at_the_matches_asked_for_and_says_so(
    context: ToolContext, workspace: Path
) -> None:
    put(workspace, a="x\n" * 50, b="x\n" * 50)
    found = lines(search(context, "x", max_matches=60))
    assert (found[0], found[59]) == ("a:1: x", "b:10: x")
    assert found[60].startswith("[ended at 60 matches")


def test_a_long_line_is_shown_around_its_match_and_searched_to_its_bound(
    context: ToolContext, workspace: Path
) -> None:
    put(workspace, a="." * 1000 + "needle" + "." * 5000 + "lost")
    (found, note) = lines(search(context, "needle"))
    assert ("needle" in found, len(found) < 320, found.endswith("...")) == (True, True, True)
    assert note == "[1 files' line ends beyond 2000 characters left out]"
    assert not any("lost" in line for line in lines(search(context, "lost")))


def test_five_thousand_files_are_searched_in_seconds(tmp_path: Path) -> None:
    context, workspace = tool_context(tmp_path, limit=30), tmp_path / "workspace"
    body = "".join(f"    return value_{number} + other\n" for number in range(60))
    for number in range(5000):
        folder = workspace / f"d{number % 50:02}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number:04}.py").write_text(f"def function_{number}():\n{body}")
    began = time.monotonic()
    found = lines(search(context, r"def function_4\d\d9\("))
    assert time.monotonic() - began < 15
    assert len(found) == 100 + 1
    assert (found[0], found[-1][:8]) == ("d09/f4009.py:1: def function_4009():", "[ended a")


@pytest.mark.parametrize("pattern", [r"(x+x+)+y", r"(?:x|x)*$(?<!x)", r"((x{1,99}){1,99}){1,99}y"])
def test_a_catastrophic_pattern_ends_typed_and_soon(tmp_path: Path, pattern: str) -> None:
    context = tool_context(tmp_path, limit=30)
    put(tmp_path / "workspace", a="(x) y\n", b="fine\n" + "x" * 1900 + "z\n")
    began = time.monotonic()
    outcome = search(context, pattern)
    assert time.monotonic() - began < 10
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "pattern_too_slow")
    assert ("b:2" in outcome.text, "Found until then:" in outcome.text) == (True, True)


NO_PATTERNS = ["(", "[z-a]", "(?P<x>a)(?P<x", "*", "(?<=a+", "\\", "\\N{no}"]
ENDLESS = ["(?R)", "(a(?1)?b)", "(?P<n>a)(?&n)", "(?P<n>a)(?P>n)"]


@pytest.mark.parametrize("pattern", [*NO_PATTERNS, *ENDLESS])
def test_a_pattern_that_is_none_is_refused_with_what_is_wrong(
    context: ToolContext, pattern: str
) -> None:
    outcome = search(context, pattern)
    assert (outcome.code, "regex=false" in outcome.text) == ("invalid_pattern", True)


SLOW = r"(?=n)ny"
"""Cannot be looked for in a whole text at once: each line of `MANY` is a search of its own."""

MANY = "n\n" * 1_000_000


def test_a_search_that_runs_out_of_time_hands_over_what_it_found(tmp_path: Path) -> None:
    context = tool_context(tmp_path, limit=1.0)
    put(tmp_path / "workspace", a="ny\n", b=MANY)
    began = time.monotonic()
    outcome = search(context, SLOW)
    assert time.monotonic() - began < 10
    assert (outcome.tag, outcome.code) == (Tag.ERROR, "time_limit")
    assert "a:1: ny" in outcome.text


class StopsWhenAsked(threading.Event):
    """A person's stop that comes while a call is at work: when it looks for the 500th time."""

    looks = 0

    def is_set(self) -> bool:
        """Count the look, and tell whether the stop has come."""
        self.looks += 1
        return self.looks >= 500


def test_a_stop_ends_a_search_with_what_it_found(tmp_path: Path) -> None:
    stop = StopsWhenAsked()
    context = tool_context(tmp_path, limit=60, stop=stop)
    put(tmp_path / "workspace", a="ny\n", b=MANY)
    outcome = search(context, SLOW)
    assert (outcome.tag, outcome.code, stop.looks) == (Tag.ERROR, "stopped", 500)
    assert "a:1: ny" in outcome.text


@pytest.mark.parametrize(
    "pattern",
    [
        r"\Aab",
        r"ab\Z",
        r"\A\w{2}\Z",
        r"(?<!\s)ab",
        r"ab(?!\s*c)",
        r"(?>a*)b",
        r"a*+b",
        r"(a)b(?!\1)",
    ],
)
def test_each_line_is_searched_as_if_it_stood_alone(
    context: ToolContext, workspace: Path, pattern: str
) -> None:
    put(workspace, f="x\nab\nc")
    assert lines(search(context, pattern)) == ["f:2: ab"]


ATOMS = st.sampled_from(["a", "b", ".", r"\w", r"\s", r"\b", "^", "$", "[^a]", "[ab]", "(?!a)"])
PIECES = st.tuples(ATOMS, st.sampled_from(["", "", "*", "?", "+", "*?", "{2}"]))
PATTERNS = st.lists(PIECES, min_size=1, max_size=4).map(
    lambda pieces: "".join(
        a if a in "^$" or a[0] == "(" or a == r"\b" else a + q for a, q in pieces
    )
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    content=st.text(alphabet="ab c\n", max_size=30),
    patterns=st.lists(PATTERNS, min_size=1, max_size=2),
)
def test_a_search_finds_the_lines_that_python_finds_one_by_one(
    context: ToolContext, workspace: Path, content: str, patterns: list[str]
) -> None:
    (workspace / "f").write_text(content)
    pattern = "|".join(patterns)
    expected = [
        f"f:{number}: {line}"
        for number, line in enumerate(content.split("\n"), 1)
        if re.search(pattern, line)
    ]
    found = search(context, pattern).text.split("\n")[1:]
    assert found == expected
