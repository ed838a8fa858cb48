"""No path, link, race or disguise takes a tool out of the workspace or into protected state."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools import beneath
from activities.tools.contents import open_regular
from activities.tools.files import FILE_TOOLS
from activities.tools.search import SEARCH_TOOLS
from domain.errors import LegatoError
from domain.tools.results import Tag
from tests.support.swap import swapping
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json
    from domain.ports import ToolContext
    from domain.tools.results import Outcome

TOOLS = by_name(FILE_TOOLS + SEARCH_TOOLS)
SECRET = "the secret outside"  # noqa: S105 - what no tool may ever show


@pytest.fixture(params=["openat2", "walk"])
def context(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ToolContext:
    """Give a context over a tree of traps, with the kernel's way of opening and the other."""
    if request.param == "walk":
        monkeypatch.setattr(beneath, "openat2_works", lambda: False)
    elif not beneath.openat2_works():
        pytest.skip("this kernel has no openat2")
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (
        workspace / "real",
        workspace / ".git" / "hooks",
        workspace / ".legato",
        outside,
    ):
        folder.mkdir(parents=True)
    (outside / "secret").write_text(SECRET)
    (workspace / "real" / "file").write_text("inside")
    (workspace / ".git" / "config").write_text("[core]")
    (workspace / "out").symlink_to("../outside")
    (workspace / "leak").symlink_to(outside / "secret")
    (workspace / "inner").symlink_to("real")
    (workspace / "alias").symlink_to("real/file")
    (workspace / "hooks").symlink_to(".git/hooks")
    (workspace / "dangling").symlink_to("../outside/new")
    return tool_context(tmp_path)


def everything(context: ToolContext, path: str) -> dict[str, Outcome]:
    """Call every tool on one path."""
    content: dict[str, Json] = {"path": path, "content": "changed"}
    edits: list[Json] = [{"old": "secret", "new": "changed"}]
    return {
        "read_file": outcome_of(TOOLS["read_file"], context, path=path),
        "list_files": outcome_of(TOOLS["list_files"], context, path=path),
        "search_files": outcome_of(TOOLS["search_files"], context, path=path, pattern="."),
        "write_file": outcome_of(TOOLS["write_file"], context, **content),
        "edit_file": outcome_of(TOOLS["edit_file"], context, path=path, edits=edits),
        "delete_file": outcome_of(
            TOOLS["delete_file"], context, path=path, expected_revision=revision(SECRET)
        ),
    }


def revision(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def state_of(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "real/../../outside/secret",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "out/secret",
        "out",
        "leak",
        "dangling",
        "out/../../outside",
    ],
)
def test_every_tool_refuses_every_way_out(context: ToolContext, tmp_path: Path, path: str) -> None:
    before = state_of(tmp_path / "outside")
    for name, outcome in everything(context, path).items():
        assert (name, outcome.code) == (name, "path_outside_workspace")
        assert "Next:" in outcome.text
        assert SECRET not in outcome.text
    assert state_of(tmp_path / "outside") == before


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a\0b", "invalid_path"),
        ("\ud800", "invalid_path"),
        ("x" * 256, "name_too_long"),
        ("é" * 128, "name_too_long"),
        ("real/file/below", "not_a_directory"),
        ("~/secret", "not_found"),
        ("%2e%2e/outside/secret", "not_found"),
        ("real/file ", "not_found"),
        ("REAL/file", "not_found"),
    ],
)
def test_a_path_that_names_nothing_is_refused_with_its_code(
    context: ToolContext, path: str, code: str
) -> None:
    assert outcome_of(TOOLS["read_file"], context, path=path).code == code


def test_an_absolute_path_into_the_workspace_is_taken(context: ToolContext) -> None:
    path = f"{context.workspace}/real/file"
    assert "inside" in outcome_of(TOOLS["read_file"], context, path=path).text
    beside = context.workspace + "-other/file"
    assert outcome_of(TOOLS["read_file"], context, path=beside).code == "path_outside_workspace"


def test_a_link_inside_is_read_through_and_changed_only_by_its_real_path(
    context: ToolContext, tmp_path: Path
) -> None:
    read = outcome_of(TOOLS["read_file"], context, path="alias")
    assert (read.tag, "path: real/file" in read.text) == (Tag.OK, True)
    for path in ("alias", "inner/file"):
        edits: Json = [{"old": "inside", "new": "changed"}]
        refused = outcome_of(TOOLS["edit_file"], context, path=path, edits=edits)
        assert (refused.code, "use real/file" in refused.text) == ("path_is_a_link", True)
    assert (tmp_path / "workspace" / "alias").is_symlink()


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        ".git./config",
        ".g\u200cit/config",
        "hooks/pre-commit",
        ".legato/workspace.toml",
        "real/.git/config",
        "real/../.git/config",
        ".git",
        "sub/.git",
        "GIT~1/config",
    ],
)
def test_what_git_and_legato_own_is_never_changed(
    context: ToolContext, tmp_path: Path, path: str
) -> None:
    before = state_of(tmp_path / "workspace")
    outcomes = everything(context, path)
    changing = ("write_file", "edit_file", "delete_file")
    assert {outcomes[name].code for name in changing} == {"protected_path"}
    assert state_of(tmp_path / "workspace") == before


@pytest.mark.parametrize("link", [False, True])
def test_legatos_own_state_inside_the_workspace_is_out_of_reach(
    context: ToolContext, tmp_path: Path, *, link: bool
) -> None:
    """Legato's home may lie in the workspace, and a link there may lead to it."""
    home = tmp_path / "workspace" / "state"
    (home / "stores").mkdir(parents=True)
    (home / "stores" / "workflow.db").write_text(SECRET)
    (home / "ledger").write_text(SECRET)
    (tmp_path / "workspace" / "way").symlink_to("state")
    inside = replace(context, home=str(home), stores=str(home / "stores"))
    for path in ("stores/workflow.db", "ledger", "new"):
        asked = f"{'way' if link else 'state'}/{path}"
        codes = {name: outcome.code for name, outcome in everything(inside, asked).items()}
        assert set(codes.values()) == (
            {"protected_path", "path_is_a_link"} if link else {"protected_path"}
        )
    search = outcome_of(TOOLS["search_files"], inside, pattern="secret outside")
    assert (SECRET in search.text, "1 protected folders left out" in search.text) == (False, True)
    assert "ledger" not in outcome_of(TOOLS["list_files"], inside).text
    assert sorted(state_of(home)) == ["ledger", "stores/workflow.db"]


def test_a_workspace_that_is_legatos_own_state_is_refused(context: ToolContext) -> None:
    own = replace(context, workspace=context.stores)
    assert outcome_of(TOOLS["list_files"], own).code == "protected_path"


def test_a_folder_swapped_for_a_link_never_leads_a_tool_outside(
    context: ToolContext, tmp_path: Path
) -> None:
    """The real folder and the trap hold files of the same names, so that each step can meet it."""
    outside, real = tmp_path / "outside", tmp_path / "workspace" / "real"
    (outside / "file").write_text(SECRET)
    before, met = state_of(outside), Counter[str]()
    deadline = time.monotonic() + 20
    with swapping(real, outside):
        while met.total() < 400 or not met["refused"] or not met["ok"]:
            assert time.monotonic() < deadline, f"the race met too little: {met}"
            for name, outcome in everything(context, "real/file").items():
                assert (name, SECRET in outcome.text) == (name, False)
                met["ok" if outcome.tag is Tag.OK else "refused"] += 1
    assert state_of(outside) == before


def test_a_file_swapped_for_a_link_is_never_written_or_read_through(
    context: ToolContext, tmp_path: Path
) -> None:
    secret, file = tmp_path / "outside" / "secret", tmp_path / "workspace" / "real" / "file"
    met = Counter[str]()
    deadline = time.monotonic() + 20
    with swapping(file, secret):
        while met.total() < 300 or not met["refused"]:
            assert time.monotonic() < deadline, f"the race met too little: {met}"
            read = outcome_of(TOOLS["read_file"], context, path="real/file")
            edits: Json = [{"old": "i", "new": "ii"}]
            edit = outcome_of(TOOLS["edit_file"], context, path="real/file", edits=edits)
            for outcome in (read, edit):
                assert SECRET not in outcome.text
                met["ok" if outcome.tag is Tag.OK else "refused"] += 1
    assert secret.read_text() == SECRET


def test_a_file_swapped_between_the_look_and_the_opening_is_never_the_one_outside(
    tmp_path: Path,
) -> None:
    secret, file = tmp_path / "secret", tmp_path / "file"
    secret.write_text(SECRET)
    file.write_text("inside")
    right, met, deadline = file.stat().st_ino, Counter[str](), time.monotonic() + 10
    folder = os.open(tmp_path, beneath.FOLDER)
    with swapping(file, secret):
        while met.total() < 20_000 or not met["link opened"]:
            if time.monotonic() > deadline:
                break
            try:
                with open_regular(folder, "file", "file") as opened:
                    met["inside" if os.fstat(opened).st_ino == right else "outside"] += 1
            except FileNotFoundError:
                met["missing"] += 1
            except LegatoError:
                met["link seen"] += 1
            except OSError as exc:
                assert exc.errno == errno.ELOOP  # noqa: PT017 - one of two right endings
                met["link opened"] += 1
    os.close(folder)
    assert met["outside"] == 0
    assert met["inside"] > 0


USUAL = ["..", ".", "", "real", "file", "out", "secret", "leak", "inner", "alias", "hooks"]
ODD = [".git", "dangling", "new", "a\0", "\ud800", "x" * 300]
PARTS = st.sampled_from([*USUAL, *ODD])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(parts=st.lists(PARTS, min_size=1, max_size=6), lead=st.sampled_from(["", "/", "./"]))
def test_any_path_gives_an_outcome_and_leaves_all_that_is_protected_alone(
    context: ToolContext, tmp_path: Path, parts: list[str], lead: str
) -> None:
    path = (lead + "/".join(parts)) or "."
    outcomes = everything(context, path)
    assert all(outcome.tag in {Tag.OK, Tag.ERROR} for outcome in outcomes.values())
    assert not any(SECRET in outcome.text for outcome in outcomes.values())
    assert state_of(tmp_path / "outside") == {"secret": SECRET}
    assert state_of(tmp_path / "workspace" / ".git") == {"config": "[core]"}
