"""Folders of agent files: order, containment, bounds, precedence, trust."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.agents.files.caps import MOST_AGENTS, MOST_FILE
from domain.errors import LegatoError
from legato.agent_files.discovery import Wanted, places, read_agents
from legato.agent_files.folder import read_folder
from legato.agent_files.lint import lint
from legato.cli.screens.problems import problem_lines

if TYPE_CHECKING:
    from pathlib import Path

    from domain.agents.files.registry import Gathered


def put(folder: Path, file: str, name: str = "", extra: str = "", body: str = "b") -> Path:
    """Write one agent file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = name or file.removesuffix(".md")
    text = f"---\nname: {name}\ndescription: d\n{extra}---\n{body}\n"
    (folder / file).write_text(text, encoding="utf-8")
    return folder / file


def names(gathered: Gathered) -> list[str]:
    """Give the names of what was found."""
    return [one.agent.name for one in gathered.found]


def told(gathered: Gathered) -> list[tuple[str, str]]:
    """Give file and code of each problem."""
    return [(one.file.rpartition("/")[2], one.code) for one in gathered.problems]


def test_good_files_are_read_in_order_and_a_broken_one_is_told_alone(tmp_path: Path) -> None:
    put(tmp_path, "b.md")
    put(tmp_path, "a.md", "zed")
    (tmp_path / "c.md").write_text("---\nname: c\n---\n", encoding="utf-8")
    (tmp_path / "d.txt").write_text("x", encoding="utf-8")
    (tmp_path / ".hidden.md").write_text("x", encoding="utf-8")
    gathered = read_folder(tmp_path)

    assert names(gathered) == ["b", "zed"]
    assert told(gathered) == [("c.md", "body_empty"), ("c.md", "description_missing")]


def test_every_reason_to_drop_a_file_is_told_once(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "a", body="b" * 40000)
    put(tmp_path, "b.md", "A")
    (tmp_path / "c.md").write_text("---\n", encoding="utf-8")
    (tmp_path / "d.md").write_bytes(b"---\n" + b"x" * MOST_FILE)
    (tmp_path / "e.md").symlink_to(tmp_path / "nowhere.md")
    os.mkfifo(tmp_path / "f.md")
    (tmp_path / "g.md").mkdir()
    (tmp_path / "h.md").write_text("no header", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    put(tmp_path / "sub", "deep.md")
    gathered = read_folder(tmp_path)

    assert names(gathered) == ["a"]
    assert told(gathered) == [
        (tmp_path.name, "folders_below"),
        ("a.md", "body_cut"),
        ("c.md", "header_unclosed"),
        ("d.md", "file_too_large"),
        ("e.md", "file_unreadable"),
        ("f.md", "file_unreadable"),
        ("h.md", "not_an_agent"),
        ("b.md", "name_taken"),
    ]
    assert str(tmp_path / "a.md") in gathered.problems[-1].next


def test_a_folder_may_be_a_link_but_its_files_may_not_lead_out(tmp_path: Path) -> None:
    real = tmp_path / "real"
    put(real, "in.md", "inside")
    (real / "same.md").symlink_to(real / "in.md")
    (real / "out.md").symlink_to(put(tmp_path / "elsewhere", "secret.md"))
    (real / "up.md").symlink_to("../elsewhere/secret.md")
    (tmp_path / "link").symlink_to(real)
    gathered = read_folder(tmp_path / "link")

    assert names(gathered) == ["inside"]
    assert told(gathered) == [
        ("out.md", "file_outside"), ("up.md", "file_outside"), ("same.md", "name_taken"),
    ]  # fmt: skip


@pytest.mark.parametrize("bad", ["a\udcff.md", "new\nline.md", "[x].md"])
def test_any_name_of_a_file_can_be_told(tmp_path: Path, bad: str) -> None:
    (tmp_path / bad).write_text("---\n", encoding="utf-8")
    (one,) = read_folder(tmp_path).problems

    assert one.code == "header_unclosed"
    one.file.encode("utf-8")


def test_a_folder_that_is_not_there_gives_nothing_and_one_that_is_none_is_refused(
    tmp_path: Path,
) -> None:
    assert read_folder(tmp_path / "nowhere") == read_folder(tmp_path)
    with pytest.raises(LegatoError) as caught:
        read_folder(put(tmp_path, "a.md"))

    assert caught.value.code == "agents_folder_unreadable"


def test_a_folder_gives_no_more_agents_than_a_source_may(tmp_path: Path) -> None:
    for n in range(MOST_AGENTS + 1):
        put(tmp_path, f"a{n:05}.md")
    gathered = read_folder(tmp_path)

    assert len(gathered.found) == MOST_AGENTS
    assert told(gathered) == [(tmp_path.name, "agents_too_many")]


@pytest.fixture
def five(tmp_path: Path) -> Wanted:
    """All five places, each with an agent of its own and one that all have."""
    wanted = Wanted(
        explicit=(tmp_path / "second", tmp_path / "first"),
        workspace=tmp_path / "project",
        trusted=True,
        config_home=tmp_path / "config",
        user_home=tmp_path / "user",
    )
    for n, place in enumerate(places(wanted)):
        put(place.folder, "own.md", f"own {n}")
        put(place.folder, "shared.md", "shared", body=f"of {n}")
    return wanted


def test_places_are_searched_in_order_of_precedence(five: Wanted, tmp_path: Path) -> None:
    below = [str(one.folder.relative_to(tmp_path)) for one in places(five)]
    snapshot = read_agents(five)
    shared = snapshot.registry.get("Shared!")

    assert below == [
        "second", "first", "project/.legato/agents", "project/.claude/agents",
        "config/legato/agents", "user/.claude/agents",
    ]  # fmt: skip
    assert shared is not None
    assert (shared.body, shared.origin) == ("of 0", "explicit")
    located = snapshot.registry.located("shared")
    assert located is not None
    assert located.where == str(tmp_path / "second" / "shared.md")
    assert len(located.digest) == 64
    assert [one.code for one in snapshot.problems] == ["name_shadowed"] * 5
    assert [one.file for one in snapshot.problems] == [
        str(tmp_path / place / "shared.md") for place in below[1:]
    ]
    assert [agent.origin.value for agent in snapshot.source.list_agents()] == [
        "explicit", "explicit", "project", "project", "user", "user", "explicit",
    ]  # fmt: skip


def test_of_a_workspace_that_is_not_trusted_nothing_is_read(tmp_path: Path, five: Wanted) -> None:
    os.mkfifo(tmp_path / "project" / ".claude" / "agents" / "z.md")
    snapshot = read_agents(replace(five, trusted=False))

    assert [str(one.relative_to(tmp_path)) for one in snapshot.withheld] == [
        "project/.legato/agents", "project/.claude/agents",
    ]  # fmt: skip
    assert {agent.origin.value for agent in snapshot.registry.agents()} == {"explicit", "user"}
    assert not any("project" in one.file for one in snapshot.problems)
    assert read_agents(five).withheld == ()


def test_without_places_there_are_no_agents(tmp_path: Path) -> None:
    assert places(Wanted()) == ()
    assert places(Wanted(workspace=tmp_path)) == ()
    assert len(places(Wanted(workspace=tmp_path, trusted=True))) == 2
    assert places(Wanted(workspace=tmp_path, trusted=True, conventional=False)) == ()
    assert len(read_agents(Wanted()).registry) == 0


def test_a_folder_that_was_named_and_is_not_there_is_told(tmp_path: Path) -> None:
    snapshot = read_agents(Wanted(explicit=(tmp_path / "nowhere",), user_home=tmp_path))

    assert [(one.file, one.code) for one in snapshot.problems] == [
        (str(tmp_path / "nowhere"), "folder_missing")
    ]


def test_a_snapshot_does_not_change_with_the_files(five: Wanted, tmp_path: Path) -> None:
    snapshot = read_agents(five)
    before = snapshot.source.list_agents()
    put(tmp_path / "second", "own.md", "changed")
    (tmp_path / "second" / "shared.md").unlink()

    assert snapshot.source.list_agents() is before
    assert read_agents(five).source.list_agents() != before


def test_a_files_name_begins_no_line_of_what_is_told(tmp_path: Path) -> None:
    (tmp_path / "a\n0 dropped\u202e.md").write_text("---\nname: [\n---\nx\n")

    report = lint([str(tmp_path)])

    lines = list(problem_lines(report.problems))
    assert report.problems
    assert all(line.startswith(f"{tmp_path}/a\\n0 dropped\\u202e.md:") for line in lines)


def test_a_path_that_is_too_long_leads_to_nothing() -> None:
    with pytest.raises(LegatoError) as caught:
        lint(["x" * 5000])

    assert caught.value.code == "agents_path_not_found"


@pytest.mark.parametrize("url", ["https://[::1", "https://\u2100.example"])
def test_a_remote_source_whose_address_cannot_be_read_is_refused(url: str) -> None:
    with pytest.raises(LegatoError) as caught:
        read_agents(Wanted(url=url))

    assert caught.value.code == "agent_source_address"
