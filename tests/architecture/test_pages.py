"""What the pages list agrees with the code: tables, events, attributes, commands, files."""

import re
from collections.abc import Iterator
from typing import get_args

import pytest

from domain.agents.roles import ROLES
from domain.events import Event, Fact, Use
from domain.runs.attributes import KEYWORDS
from legato.cli.program import COMMANDS
from tests.architecture.tree import ROOT

NAMED = re.compile(r"`([^`]+)`")
TABLE = re.compile(r"create table ledger\.(\w+) \((.*?)\n?\)[^,\n]*;", re.DOTALL)
LINK = re.compile(r"\[(.*?)\]\(.*?\)")
CONSTRAINTS = {"primary", "unique", "check"}
FACTS: tuple[type[Event], ...] = get_args(Fact)


def page(name: str) -> str:
    """The text of one page."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def between(text: str, begin: str, end: str) -> str:
    """What stands in a text after the words `begin` and before the next `end`."""
    assert begin in text, f"the page no longer says {begin!r}"
    return text.partition(begin)[2].partition(end)[0]


def type_of(fact: type[Event]) -> str:
    """The name of a type of event."""
    return str(fact.model_fields["type"].default)


def columns() -> dict[str, set[str]]:
    """Each table of the schema with its columns, as the SQL files make them."""
    found: dict[str, set[str]] = {}
    for file in sorted((ROOT / "ledger/migrations/sql").glob("*.sql")):
        for name, body in TABLE.findall(file.read_text(encoding="utf-8")):
            lines = re.split(r",\s*\n|, (?=\w+ \w)", body.strip())
            words = (line.strip().split()[0] for line in lines)
            found[name] = {word for word in words if word not in CONSTRAINTS}
    return found


def rows(text: str) -> Iterator[list[str]]:
    """The cells of each row of the tables in a text."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("| ").split(" | ")]


def test_the_events_that_repeat_a_command_are_listed() -> None:
    """The ledger's page names exactly the types of use `same`."""
    named = NAMED.findall(between(page("ledger.md"), "`idempotency_mismatch`. These are", ".\n-"))

    assert set(named) == {type_of(fact) for fact in FACTS if fact.use is Use.SAME}


def test_the_events_that_may_follow_the_end_are_listed() -> None:
    """The ledger's page names exactly those that a closed run takes."""
    named = NAMED.findall(between(page("ledger.md"), "the stream is closed. Only", "may follow"))

    assert set(named) == {type_of(fact) for fact in FACTS if fact.after_end}


def test_every_table_is_listed_with_its_columns() -> None:
    """The ledger's page and the SQL files agree."""
    listed = {
        cells[0].strip("`"): cells[2]
        for cells in rows(between(page("ledger.md"), "## Tables", "\n`"))
    }
    schema = columns()

    assert len(schema) >= 6
    assert {name: schema[name] - set(NAMED.findall(listed.get(name, ""))) for name in schema} == {
        name: set[str]() for name in schema
    }


def test_every_role_is_listed_with_its_profile_and_what_it_does() -> None:
    """The page of agents and the table of roles agree, in the same order."""
    table = between(page("agents.md"), "## Roles\n", "\nAll work")
    _, _, *listed = rows(LINK.sub(r"\1", table))

    assert listed == [
        [f"`{role.name}`", role.default_profile.value.capitalize(), role.summary]
        for role in ROLES.values()
    ]


def test_every_role_is_listed_with_exactly_the_tools_that_it_may_call() -> None:
    """The page of agents gives each role's surface, and which may have plug-ins' tools."""
    table = between(page("agents.md"), "## What each role may call\n", "\n\nFour more")
    lines = [line.split("|")[1:-1] for line in table.split("\n") if line.startswith("|")]
    head, _, *body = lines
    listed = {role: set[str]() for role in NAMED.findall("".join(head))}
    for tools, _, *cells in body:
        for column, cell in zip(head[2:], cells, strict=True):
            for role in NAMED.findall(column) if cell.strip() == "yes" else ():
                listed[role] |= set(NAMED.findall(tools)) or {"plug-ins"}

    assert listed == {
        role.name: {*role.surface, *(("plug-ins",) if role.plugins else ())}
        for role in ROLES.values()
    }


def test_the_search_attributes_are_listed() -> None:
    """The page of decisions names all that are registered."""
    named = NAMED.findall(between(page("decisions.md"), "## Search attributes", "all keywords"))

    assert set(named) == set(KEYWORDS)


def test_the_interface_promises_existing_commands_only() -> None:
    """Each document in its table belongs to a command that there is."""
    table = between(page("interface.md"), "**Documents**", "\n\nA run is named")
    first = [re.split(r"[ ,`]+", cells[0].strip("`"))[0] for cells in rows(table)]
    named = {word for word in first if word not in {"command", "---"}}

    assert named
    assert named - set(COMMANDS) == set()


def test_the_tree_on_the_page_is_the_tree() -> None:
    """Each file and folder of the drawing exists."""
    drawing = between(page("layout.md"), "```\n", "\n```")
    folder, missing = "", list[str]()
    for line in drawing.splitlines():
        depth = len(line) - len(line.lstrip())
        names = line.split("  ")[0] if depth == 0 else re.split(r" {2,}", line.strip())[0]
        if depth > 2 or not names:
            continue
        for name in names.split():
            place = f"{folder}{name}" if depth else name
            exists = (ROOT / place).exists() or (ROOT / f"{place}.py").exists()
            missing += [] if exists else [place]
        folder = names if depth == 0 else folder

    assert missing == []


def test_every_criterion_of_construction_names_a_test_that_there_is() -> None:
    """Fifteen criteria, each with its proofs; only the one about providers has none."""
    criteria = list(rows(between(page("construction.md"), "must prove\n", "\x00")))[2:]
    missing, bare = list[str](), list[str]()
    for number, _, proofs in criteria:
        named = [one for one in NAMED.findall(proofs) if one.startswith("tests/")]
        bare += [] if named else [number]
        for file, _, test in (one.partition("::") for one in named):
            text = (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).exists() else ""
            missing += [] if text and f"def {test}" in text else [f"{file}::{test}"]

    assert [cells[0] for cells in criteria] == [str(n) for n in range(1, 16)]
    assert missing == []
    assert bare == ["14"]


@pytest.mark.parametrize(
    "name", ["architecture.md", "construction.md", "ledger.md", "decisions.md", "layout.md"]
)
def test_a_page_names_no_file_that_is_gone(name: str) -> None:
    """A path in back quotes that begins with one of our folders leads somewhere."""
    tops = ("domain/", "ledger/", "workflows/", "activities/", "workers/", "legato/", "tests/")
    paths = [one for one in NAMED.findall(page(name)) if one.startswith(tops) and "<" not in one]
    known = (ROOT / path for path in paths)
    gone = [
        str(path) for path in known if not path.exists() and not path.with_suffix(".py").exists()
    ]

    assert gone == []
