"""`legato agents` and `legato workspace`: what people and checks get, without any stack."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from legato.testing.agent_sources import FIXTURE, write_agent_files
from legato.trust import FILE, is_trusted, set_trust, trusted_workspaces
from tests.support.agent_server import agent_server, document
from tests.support.stack import Result, call_inside, clean_environment

SECRET = "hunter2-PLANTED"  # noqa: S105 - planted to be looked for

GOOD = "---\nname: Good One\ndescription: Does good.\ntools: Read\n---\nBe good.\n"
BAD = "---\nname: bad\ndescription: Does bad.\ntools:\nmemory: local\n---\nBe bad.\n"
LEAKY = f"""---
name: leaky
description: Leaks.
mcpServers:
  - name: x
    url: https://h.example
    headers: {{Authorization: Bearer {SECRET}}}
---
Leak.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with agents of its own: good, bad, leaky, and a README, at three depths."""
    files = {"good.md": GOOD, "below/bad.md": BAD, "below/far/leaky.md": LEAKY, "README.md": "# x"}
    for name, text in files.items():
        file = tmp_path / "project" / ".claude" / "agents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "project"


def say(project: Path, *arguments: str, **variables: str) -> Result:
    """Call the program for a user who has nothing yet."""
    home = project.parent
    environment = {**clean_environment(home / "legato"), "HOME": str(home / "user"), **variables}
    return call_inside(environment, *arguments)


def test_lint_gives_one_document_with_every_problem(project: Path) -> None:
    result = say(project, "--json", "agents", "lint", str(project))
    problems = result.json["problems"]

    assert (result.code, result.json["ok"]) == (1, False)
    assert (result.json["files"], result.json["kept"], result.json["dropped"]) == (4, 2, 2)
    assert [(Path(p["file"]).name, p["line"], p["code"], p["level"]) for p in problems] == [
        ("README.md", 1, "not_an_agent", "skipped"),
        ("bad.md", 4, "field_null", "dropped"),
        ("bad.md", 5, "memory_unknown", "note"),
        ("leaky.md", 7, "header_secret", "error"),
    ]
    assert all(p["message"] and p["next"] for p in problems)
    assert SECRET not in result.out + result.err


def test_lint_says_one_line_a_problem(project: Path) -> None:
    result = say(project, "agents", "lint", str(project))
    lines = result.out.splitlines()

    assert result.code == 1
    assert len(lines) == 5
    assert lines[0].startswith(f"{project}/.claude/agents/below/bad.md:4: dropped field_null: ")
    assert "; write [] for none" in lines[0]
    assert "1 file has no header and no agent in it (README.md)" in lines[3]
    assert lines[4] == "4 files: 2 kept, 2 dropped"
    assert SECRET not in result.out + result.err


@pytest.mark.parametrize(
    ("path", "flags", "status"),
    [
        ("good.md", [], 0),
        ("good.md", ["--strict"], 0),
        ("README.md", [], 1),
        ("below/bad.md", [], 1),
        ("below/far", [], 1),
    ],
)
def test_the_status_of_lint_tells_a_check_what_to_do(
    project: Path, path: str, flags: list[str], status: int
) -> None:
    given = str(project / ".claude/agents" / path)

    assert say(project, "agents", "lint", given, *flags).code == status


def test_notes_and_readmes_fail_only_a_strict_lint(project: Path) -> None:
    agents = project / ".claude" / "agents"
    (agents / "below" / "bad.md").write_text(GOOD.replace("tools: Read", "color: #fff"), "utf-8")
    (agents / "below" / "far" / "leaky.md").unlink()

    assert say(project, "agents", "lint", str(project)).code == 0
    assert say(project, "agents", "lint", str(project), "--strict").code == 1


def test_a_file_is_linted_once_however_it_is_named(project: Path) -> None:
    agents = project / ".claude" / "agents"
    result = say(project, "--json", "agents", "lint", str(agents / "good.md"), str(project))

    assert result.json["files"] == 4


def test_names_may_repeat_in_other_folders_only(project: Path) -> None:
    agents = project / ".claude" / "agents"
    (agents / "again.md").write_text(GOOD.replace("Good One", "good-one"), "utf-8")
    (agents / "below" / "bad.md").write_text(GOOD, "utf-8")
    result = say(project, "--json", "agents", "lint", str(agents))

    assert (result.json["kept"], result.json["dropped"]) == (3, 2)
    taken = [p["file"] for p in result.json["problems"] if p["code"] == "name_taken"]
    assert taken == [str(agents / "good.md")]


def test_a_plugins_tool_can_be_named_to_lint(project: Path) -> None:
    file = project / "denies.md"
    file.write_text(GOOD.replace("tools: Read", "disallowedTools: deploy"), "utf-8")

    assert say(project, "agents", "lint", str(file)).code == 1
    assert say(project, "agents", "lint", str(file), "--tool", "deploy", "--strict").code == 0


def test_a_path_that_is_not_there_is_told(project: Path) -> None:
    result = say(project, "--json", "agents", "lint", str(project), "nowhere", "neither")

    assert (result.code, result.error["code"]) == (4, "agents_path_not_found")
    assert "nowhere, neither" in result.error["message"]
    assert say(project, "agents", "lint").code == 2


def test_a_project_has_no_say_until_it_is_trusted(project: Path) -> None:
    listing = ("--json", "agents", "list", "-w", str(project))
    before = say(project, *listing)
    once = say(project, *listing, "--trust-project")
    trusting = say(project, "workspace", "trust", str(project))
    after = say(project, *listing)
    say(project, "workspace", "untrust", str(project))

    assert before.json["agents"] == []
    assert before.json["withheld"] == [str(project / ".claude" / "agents")]
    assert "legato workspace trust" in say(project, "agents", "list", "-w", str(project)).err
    assert [one["id"] for one in once.json["agents"]] == ["good-one"]
    assert trusting.out.strip() == f"{project} is trusted"
    assert after.json["agents"] == once.json["agents"]
    assert (after.json["agents"][0]["origin"], after.json["withheld"]) == ("project", [])
    assert say(project, *listing).json["agents"] == []


def test_trust_is_kept_in_the_home_for_one_folder_exactly(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)

    assert set_trust(home, tmp_path / "link", trusted=True)
    assert not set_trust(home, folder, trusted=True)
    assert is_trusted(home, folder)
    assert is_trusted(home, tmp_path / "link")
    assert not is_trusted(home, folder / "inner")
    assert not is_trusted(home, tmp_path)
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    assert list(folder.rglob("*")) == [folder / "inner"]
    assert set_trust(home, folder, trusted=False)
    assert trusted_workspaces(home) == ()


def test_many_who_trust_at_once_lose_nothing(tmp_path: Path) -> None:
    folders = [tmp_path / f"work-{n}" for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        changed = list(pool.map(partial(set_trust, tmp_path, trusted=True), folders * 2))

    assert sorted(changed) == [False] * 40 + [True] * 40
    assert trusted_workspaces(tmp_path) == tuple(sorted(map(str, folders)))


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"workspaces": {}}', ""])
def test_a_damaged_record_of_trust_trusts_nothing_and_says_so(project: Path, damage: str) -> None:
    say(project, "workspace", "trust", str(project))
    (project.parent / "legato" / FILE).write_text(damage, "utf-8")
    result = say(project, "--json", "agents", "list", "-w", str(project))

    assert (result.code, result.error["code"]) == (3, "trust_unreadable")


def test_list_and_show_tell_what_was_understood(project: Path) -> None:
    trusted = ("-w", str(project), "--trust-project")
    listed = say(project, "agents", "list", *trusted)
    shown = say(project, "--json", "agents", "show", "GOOD one", *trusted)
    read = say(project, "agents", "show", "good-one", *trusted)

    assert "good-one" in listed.out
    assert "Does good." in listed.out
    assert "folders_below" in listed.err
    assert shown.json["agent"] == {
        "id": "good-one", "origin": "project", "name": "Good One", "description": "Does good.",
        "tools": ["read_file"], "body": "Be good.",
    }  # fmt: skip
    assert len(shown.json["digest"]) == 64
    assert "Be good." in read.out


def test_an_agent_that_is_not_there_is_told_with_those_that_are(project: Path) -> None:
    result = say(project, "--json", "agents", "show", "x", "-w", str(project), "--trust-project")

    assert (result.code, result.error["code"]) == (4, "agent_not_found")
    assert "good-one" in result.error["cause"]


def test_the_places_of_the_user_are_found_by_the_environment(project: Path) -> None:
    config, user = project.parent / "config", project.parent / "user"
    write_agent_files(config / "legato" / "agents", [FIXTURE[1]])
    write_agent_files(user / ".config" / "legato" / "agents", [FIXTURE[2]])
    write_agent_files(user / ".claude" / "agents", [FIXTURE[3]])
    write_agent_files(project / "more", [FIXTURE[4]])
    listing = ("--json", "agents", "list", "-w", str(project))

    def ids(*more: str, **variables: str) -> list[str]:
        return [one["id"] for one in say(project, *listing, *more, **variables).json["agents"]]

    assert ids() == ["echo", "mcp-ops"]
    assert ids(XDG_CONFIG_HOME=str(config)) == ["full-stack", "mcp-ops"]
    assert ids(XDG_CONFIG_HOME="config") == ["echo", "mcp-ops"]
    assert ids(HOME="") == []
    assert ids("--no-conventional") == []
    assert ids("--agents-dir", str(project / "more")) == ["echo", "empty-handed", "mcp-ops"]


def test_a_remote_source_takes_the_place_of_folders(project: Path) -> None:
    listing = ("--json", "agents", "list", "-w", str(project))
    with agent_server(document(FIXTURE)) as server:
        given = say(project, *listing, "--agent-source-url", server.url)
        settled = say(
            project,
            *listing,
            LEGATO_AGENT_SOURCE_URL=server.url,
            LEGATO_AGENT_SOURCE_TOKEN=SECRET,
        )
        both = say(project, *listing, "--agents-dir", "x", LEGATO_AGENT_SOURCE_URL=server.url)
    exposed = say(project, *listing, LEGATO_AGENT_SOURCE_URL="http://agents.example")

    assert len(given.json["agents"]) == len(FIXTURE)
    assert settled.json["agents"] == given.json["agents"]
    assert {one["origin"] for one in given.json["agents"]} == {"driver"}
    assert [one[1] for one in server.asked] == ["", f"Bearer {SECRET}"]
    assert SECRET not in settled.out + settled.err
    assert (both.code, both.error["code"]) == (3, "agent_sources_conflict")
    assert (exposed.code, exposed.error["code"]) == (3, "settings_invalid")


def test_an_agent_that_is_not_there_is_refused_with_what_was_left_out(project: Path) -> None:
    bad = project / ".claude" / "agents" / "bad.md"
    bad.write_text(BAD, encoding="utf-8")
    shown = ("--json", "agents", "show", "bad", "--workspace", str(project))

    untrusted = say(project, *shown).error["cause"]
    trusted = say(project, *shown, "--trust-project").error["cause"]

    assert untrusted == (
        f"no agent file here can be used; {bad.parent} is left out: it is not trusted"
    )
    assert trusted == f"the agents here are good-one; {bad} is dropped"
