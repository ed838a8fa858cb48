"""The roster within its budget, and the tools that a definition leaves of those offered."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from domain.agents.files.agent_file import AgentFile
from domain.agents.files.authority import Scope, scope_of
from domain.agents.files.caps import MOST_DESCRIPTION, size
from domain.agents.files.codes import CODES
from domain.agents.files.roster import MOST_ROSTER, render_roster
from domain.agents.files.tool_names import ALIASES, KNOWN
from domain.agents.roles import ROLES
from domain.tools import registry
from tests.architecture.tree import ROOT


def an_agent(name: str, description: str = "Does it.") -> AgentFile:
    return AgentFile(name=name, description=description)


def test_a_roster_has_one_line_an_agent_in_order_of_ids() -> None:
    agents = [an_agent("Zed"), an_agent("alpha", "First\n- forged: line"), an_agent("Beta b")]

    assert render_roster(agents) == (
        "- alpha: First - forged: line\n- beta-b: Does it.\n- zed: Does it."
    )
    assert render_roster([]) == ""


def test_long_descriptions_share_what_short_ones_leave() -> None:
    agents = [an_agent(f"a{n:02}", "x" * MOST_DESCRIPTION) for n in range(20)]
    text = render_roster([*agents, an_agent("short", "Is short.")])
    lines = text.splitlines()

    assert MOST_ROSTER - 21 <= size(text) <= MOST_ROSTER
    assert len(lines) == 21
    assert lines[-1] == "- short: Is short."
    assert len({len(line) for line in lines[:-1]}) == 1


def test_a_thousand_agents_stay_within_the_budget_and_the_rest_is_counted() -> None:
    agents = [an_agent(f"agent number {n:04}", "d" * 500) for n in range(1000)]
    text = render_roster(agents)
    listed = text.count("\n- ") + 1

    assert size(text) <= MOST_ROSTER
    assert text.endswith(f"({1000 - listed} more agents are not listed)")
    assert text == render_roster(agents[::-1])


OFFERED = ("read_file", "write_file", "edit_file", "shell", "mcp__gh__list", "mcp__gh__make")


@pytest.mark.parametrize(
    ("allowed", "denied", "left"),
    [
        (None, None, OFFERED),
        ((), None, ()),
        (("read_file", "shell", "bogus"), None, ("read_file", "shell")),
        (("mcp__gh__*",), ("mcp__gh__make",), ("mcp__gh__list",)),
        (None, ("mcp__gh__*", "*_file"), ("shell",)),
        (("*",), ("*",), ()),
        (("Task", "subagent", "read_file"), None, ("read_file",)),
    ],
)
def test_a_scope_is_the_allow_list_less_the_deny_list_less_delegation(
    allowed: tuple[str, ...] | None, denied: tuple[str, ...] | None, left: tuple[str, ...]
) -> None:
    offered = (*OFFERED, "subagent", "Task", "tool_search")

    agent = replace(an_agent("a"), tools=allowed, disallowed_tools=denied)

    assert scope_of(agent, offered).tools == tuple(sorted(left))


def test_rules_that_meet_no_tool_are_told() -> None:
    named = replace(an_agent("a"), tools=("read_file", "mcp__x__*"))
    agent = replace(named, disallowed_tools=("deploy", "shell"))

    assert scope_of(agent, OFFERED) == Scope(("read_file",), ("mcp__x__*",), ("deploy",))


def test_every_name_that_others_use_stands_for_a_tool_of_ours() -> None:
    assert set(ALIASES.values()) <= KNOWN


def test_every_tool_of_a_role_is_known_to_agent_files() -> None:
    of_roles = {name for role in ROLES.values() for name in role.surface}

    assert of_roles.union(registry.INTRINSIC) == KNOWN


def test_the_page_lists_every_code_with_its_level() -> None:
    text = (ROOT / "docs" / "agent-files.md").read_text(encoding="utf-8")
    listed: dict[str, str] = {}
    level = ""
    for line in text.partition("### The codes")[2].partition("\n## ")[0].splitlines():
        head = re.match(r"\*\*.*\*\* \(`(\w+)`\)", line)
        row = re.match(r"\| `(\w+)` \|", line)
        level = head[1] if head else level
        listed |= {row[1]: level} if row else {}

    assert listed == {code: kind.level.value for code, kind in CODES.items()}


def test_the_page_lists_every_name_that_others_use() -> None:
    text = (ROOT / "docs" / "agent-files.md").read_text(encoding="utf-8")
    table = text.partition("| there | here |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    listed = {
        other.casefold(): re.findall(r"`(\w+)`", row[1])[0]
        for row in rows
        for other in re.findall(r"`(\w+)`", row[0])
    }

    assert listed == ALIASES
