"""What a launch learns of a workspace: given, declared, detected, or refused with the ways out."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from domain.agents.request import AgentRequest
from domain.errors import LegatoError
from legato.settings import load_settings
from legato.workspaces import Wanted, open_workspace, placed, read_declared

if TYPE_CHECKING:
    from pathlib import Path

    from legato.settings import Settings

DECLARED = """
[checks]
commands = ["./check"]
[fixers]
commands = ["./fix"]
[environment]
names = ["DATABASE"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"LEGATO_HOME": str(tmp_path / "home")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace whose Makefile has a test and a formatter."""
    made = tmp_path / "workspace"
    made.mkdir()
    (made / "Makefile").write_text("test:\n\ttrue\nformat:\n\ttrue\nlint:\n\ttrue\n", "utf-8")
    return made


def declare(folder: Path, text: str) -> None:
    (folder / ".legato").mkdir()
    (folder / ".legato/workspace.toml").write_text(text, encoding="utf-8")


def test_checks_given_by_hand_count_alone(folder: Path, settings: Settings) -> None:
    declare(folder, DECLARED)
    opened = open_workspace(settings, folder, Wanted(checks=("mine",)))

    assert opened.checks == ("mine",)
    assert opened.why == ("mine: given",)
    assert opened.fixers == ("./fix",)


def test_what_is_declared_comes_before_what_is_detected(folder: Path, settings: Settings) -> None:
    declare(folder, DECLARED)
    opened = open_workspace(settings, folder, Wanted(style=True))

    assert (opened.checks, opened.fixers) == (("./check",), ("./fix",))
    assert opened.environment == ("DATABASE",)
    assert opened.why == ("./check: .legato/workspace.toml", "./fix: .legato/workspace.toml")


def test_style_is_checked_only_where_it_is_wanted(folder: Path, settings: Settings) -> None:
    tests = open_workspace(settings, folder, Wanted())
    style = open_workspace(settings, folder, Wanted(style=True))

    assert [check.split("/")[-1] for check in tests.checks] == ["make test"]
    assert [check.split("/")[-1] for check in style.checks] == ["make lint", "make test"]
    assert [fixer.split("/")[-1] for fixer in style.fixers] == ["make format"]


def test_a_workspace_without_checks_is_refused_with_three_ways_out(
    tmp_path: Path, settings: Settings
) -> None:
    with pytest.raises(LegatoError) as caught:
        open_workspace(settings, tmp_path, Wanted())

    assert caught.value.code == "checks_not_found"
    for way in ("--check", ".legato/workspace.toml", "pytest", "package.json", "Makefile"):
        assert way in caught.value.next


def test_a_missing_folder_is_told_by_its_whole_path(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(LegatoError) as caught:
        open_workspace(settings, tmp_path / "nowhere", Wanted())

    assert caught.value.code == "workspace_not_found"
    assert str(tmp_path / "nowhere") in caught.value.message


def test_everything_wrong_in_the_file_is_told_at_once(folder: Path) -> None:
    declare(
        folder,
        'extra = 1\nfixers = "x"\n[checks]\ncommand = "x"\ncommands = ["", 3]\n'
        '[environment]\nnames = ["A-B"]\n',
    )
    with pytest.raises(LegatoError) as caught:
        read_declared(folder)

    assert caught.value.code == "workspace_file_invalid"
    assert caught.value.details["problems"] == [
        "[extra] is not known",
        "[checks] command is not known, only commands",
        "[checks] commands must hold texts that are not empty",
        "fixers must be a table: [fixers]",
        "'A-B' is no variable's name",
    ]


@pytest.mark.parametrize(("allow", "allowed"), [('["all"]', True), ("[]", False)])
def test_the_network_is_closed_to_commands_unless_the_workspace_allows_it(
    folder: Path, allow: str, *, allowed: bool
) -> None:
    (folder / ".legato").mkdir(exist_ok=True)
    (folder / ".legato" / "workspace.toml").write_text(f"[network]\nallow = {allow}\n")

    assert read_declared(folder).network is allowed


def test_half_a_network_is_refused(folder: Path) -> None:
    (folder / ".legato").mkdir(exist_ok=True)
    (folder / ".legato" / "workspace.toml").write_text('[network]\nallow = ["example.org"]\n')

    with pytest.raises(LegatoError, match="network"):
        read_declared(folder)


def test_a_file_that_is_no_toml_is_refused(folder: Path) -> None:
    declare(folder, "[checks")
    with pytest.raises(LegatoError) as caught:
        read_declared(folder)

    assert caught.value.code == "workspace_file_invalid"


def test_stores_are_in_the_home_and_for_this_user_alone(folder: Path, settings: Settings) -> None:
    stores = open_workspace(settings, folder, Wanted()).stores

    assert stores.is_relative_to(settings.home / "stores")
    context = stores / "knowledgebase" / "context"
    for made in (context, context.parent, stores, stores.parent, settings.home):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("role", "checks"), [("check-and-fix", 2), ("review-fix", 1), ("generic", 0)]
)
def test_a_request_is_given_what_its_role_needs(
    role: str, checks: int, folder: Path, settings: Settings
) -> None:
    filled, _ = placed(settings, AgentRequest(role=role, workspace=str(folder)))

    assert len(filled.checks) == checks
    assert bool(filled.fixers) == bool(checks)
    assert filled.stores


def test_a_role_that_needs_no_checks_works_anywhere(tmp_path: Path, settings: Settings) -> None:
    filled, _ = placed(settings, AgentRequest(role="generic", workspace=str(tmp_path)))

    assert (filled.checks, filled.fixers) == ((), ())


def test_a_request_comes_with_where_its_commands_came_from(
    folder: Path, settings: Settings
) -> None:
    _, found = placed(settings, AgentRequest(role="check-and-fix", workspace=str(folder)))
    asked = AgentRequest(role="check-and-fix", workspace=str(folder), checks=("a",), fixers=("b",))
    _, given = placed(settings, asked)

    assert [line.split("/")[-1] for line in found] == [
        "make lint: a target of the Makefile",
        "make test: a target of the Makefile",
        "make format: a target of the Makefile",
    ]
    assert given == ("a: given", "b: given")
    assert placed(settings, AgentRequest(role="generic", workspace=str(folder)))[1] == ()
