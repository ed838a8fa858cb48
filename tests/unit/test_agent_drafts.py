"""Agents of other programs become drafts that give no more than their authors meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.agents.files.authority import profile_of
from domain.agents.files.parse import parse_agent_file
from domain.agents.files.render import render_agent_file
from domain.agents.imported.claude import claude_draft
from domain.agents.imported.copilot import copilot_draft
from domain.agents.imported.crewai import crew_drafts
from domain.agents.profile import Profile
from legato.agent_files.yaml_header import read_yaml
from tests.support.saved_steps import row_of

if TYPE_CHECKING:
    from domain.agents.files.agent_file import AgentFile
    from domain.agents.imported.draft import Draft

SECRET = "sk-planted-7c1d"  # noqa: S105 - made up, to look for it


def file(header: str, body: str = "Do it.") -> bytes:
    """Write an agent file."""
    return f"---\n{header}\n---\n{body}\n".encode()


def claude(header: str) -> Draft:
    """Make a draft of a Claude-style header."""
    return claude_draft(file(f"name: one\ndescription: d\n{header}"), "one.md", read_yaml)


def copilot(header: str) -> Draft:
    """Make a draft of a Copilot-style header."""
    return copilot_draft(file(f"description: d\n{header}"), "one", read_yaml)


def crew(fields: str) -> Draft:
    """Make a draft of one agent of a crew."""
    lines = "\n".join(f"  {line}" for line in fields.splitlines())
    drafts, why = crew_drafts(f"one:\n  role: r\n  goal: g\n  backstory: b\n{lines}\n", read_yaml)
    assert why == ""
    return drafts[0]


def agent(draft: Draft) -> AgentFile:
    """Give a draft's agent."""
    assert draft.agent is not None, draft.rows
    return draft.agent


@pytest.mark.parametrize(
    ("header", "tools"),
    [
        ("tools: Read, Grep, Bash", ("read_file", "search_files", "shell")),
        ("tools: [Edit, mcp__mail__*]", ("edit_file", "mcp__mail__*")),
        ("tools: []", ()),
        ("model: sonnet", None),
    ],
)
def test_a_claude_style_file_keeps_its_tools_by_our_names(
    header: str, tools: tuple[str, ...] | None
) -> None:
    assert agent(claude(header)).tools == tools


def test_each_key_of_a_claude_style_file_is_told() -> None:
    draft = claude("tools: Read, Nonsense\nmodel:\nemoji: x\npermissionMode: plan\nmaxTurns: 3")

    told = {row.field: (row.given, row.became.value, row.code) for row in draft.rows}
    assert told == {
        "name": ("value", "mapped", "kept"),
        "description": ("value", "mapped", "kept"),
        "tools": ("value", "transformed", "tool_unknown"),
        "model": ("null", "transformed", "value_null"),
        "emoji": ("value", "dropped", "field_unknown"),
        "permissionMode": ("value", "mapped", "kept"),
        "maxTurns": ("value", "mapped", "kept"),
    }
    assert profile_of(agent(draft), Profile.WRITER) is Profile.READER


def test_what_absent_fields_leave_to_the_call_is_told() -> None:
    rows = claude("color: red").rows

    assert {row.field for row in rows if row.given == "absent"} == {
        "tools",
        "permissionMode",
        "model",
    }


@pytest.mark.parametrize(
    "header",
    [
        "tools: null",
        "tools: {a: b}",
        "permissionMode: careful",
        "hooks: [a]",
        "readonly: true",
        "tool: Read",
    ],
)
def test_what_would_widen_an_agent_when_lost_refuses_it(header: str) -> None:
    draft = claude(header)

    assert draft.agent is None
    assert "refused" in {row.became for row in draft.rows}


@pytest.mark.parametrize(
    ("header", "tools"),
    [
        ("", None),
        ("tools: ['*']", None),
        ("tools: []", ()),
        ("tools: [read, search/codebase]", ("read_file", "search_files", "list_files")),
        ("tools: ['editFiles', 'runCommands']", ("edit_file", "write_file", "shell")),
        ("tools: edit/editFiles, runInTerminal", ("edit_file", "write_file", "shell")),
        ("tools: ['github/*', 'pw/click']", ("mcp__github__*", "mcp__pw__click")),
        ("tools: [fetch, vscode/askQuestions, agent, todo, web/fetch]", ()),
    ],
)
def test_a_copilot_style_file_names_tools_in_its_own_way(
    header: str, tools: tuple[str, ...] | None
) -> None:
    assert agent(copilot(header)).tools == tools


def test_a_copilot_style_file_is_named_by_its_file_unless_it_names_itself() -> None:
    assert agent(copilot("")).name == "one"
    assert agent(copilot("name: Planner")).name == "Planner"
    assert row_of(copilot("name: ''").rows, "name").code == "name_of_file"


def test_a_chat_that_only_asks_is_a_reader() -> None:
    assert profile_of(agent(copilot("mode: ask")), Profile.WRITER) is Profile.READER
    assert profile_of(agent(copilot("mode: agent")), Profile.WRITER) is Profile.WRITER
    assert copilot("mode: cautious").agent is None


def test_what_copilot_restricts_and_we_cannot_is_for_a_person() -> None:
    closed = row_of(copilot("infer: false").rows, "infer")
    opened = row_of(copilot("infer: true").rows, "infer")

    assert (closed.widens, closed.person) == (("delegation",), True)
    assert (opened.widens, opened.person) == ((), False)
    assert copilot("permissions: none").agent is None


def test_servers_of_a_copilot_style_file_are_kept_with_references_for_secrets() -> None:
    draft = copilot(
        "mcp-servers:\n  gh:\n    type: http\n    url: https://a.test/mcp\n"
        f"    headers: {{Authorization: 'Bearer {SECRET}'}}\n  local: {{command: npx}}"
    )

    servers = agent(draft).mcp_servers or ()
    headers = [header.variable for server in servers for header in server.headers]
    assert ([server.name for server in servers], headers) == (["gh"], ["MCP_GH_AUTHORIZATION"])
    assert {"header_secret", "server_local"} <= {row.code for row in draft.rows}
    assert SECRET not in repr(draft)


@pytest.mark.parametrize(
    ("fields", "tools"),
    [
        ("", ()),
        ("tools: null", ()),
        ("tools: []", ()),
        ("tools: [FileReadTool, file_writer_tool]", ("read_file", "write_file")),
        ("tools: [SerperDevTool]", ()),
    ],
)
def test_an_agent_of_a_crew_never_has_tools_that_its_file_does_not_name(
    fields: str, tools: tuple[str, ...]
) -> None:
    assert agent(crew(fields)).tools == tools


def test_an_agent_of_a_crew_keeps_its_texts_model_and_limit() -> None:
    one = agent(crew("llm: gemini/gemini-3\nmax_iter: 4"))

    assert (one.name, one.description) == ("one", "r: g")
    assert one.body == "You are r.\n\nYour goal: g\n\nb"
    assert (one.provider, one.model, one.max_turns) == ("google", "gemini-3", 4)


@pytest.mark.parametrize(
    ("fields", "field", "code"),
    [
        ("allow_delegation: true", "allow_delegation", "never_delegates"),
        ("allow_code_execution: true", "allow_code_execution", "no_code"),
        ("max_execution_time: 9", "max_execution_time", "limit_lost"),
        ("system_template: x", "system_template", "template_lost"),
        ("verbose: true", "verbose", "without_effect"),
        ("mystery: 1", "mystery", "field_unknown"),
        ("llm: gpt-4", "llm", "model_unknown"),
        ("tools: [X]", "tools[0]", "tool_without_twin"),
    ],
)
def test_what_a_crew_says_and_we_cannot_is_told(fields: str, field: str, code: str) -> None:
    assert row_of(crew(fields).rows, field).code == code


def test_a_guard_that_we_do_not_know_refuses_the_agent() -> None:
    assert crew("guardrail: check_it").agent is None


def test_texts_that_a_crew_fills_in_later_are_for_a_person() -> None:
    drafts, _ = crew_drafts(
        "one: {role: '{topic} writer', goal: g, backstory: 'no {{such}} thing'}", read_yaml
    )

    asked = [row for row in drafts[0].rows if row.code == "placeholders"]
    assert [(row.field, row.person) for row in asked] == [("role", True)]


@pytest.mark.parametrize(
    "text", ["[a]", "a: &x {role: r}\nb: *x", "a: !!python/object:os.system {}", "\x00", ": ["]
)
def test_a_crew_that_is_none_is_told_and_makes_no_draft(text: str) -> None:
    drafts, why = crew_drafts(text, read_yaml)

    assert [draft for draft in drafts if draft.agent] == []
    assert why


def test_the_same_agent_twice_in_a_crew_is_refused_the_second_time() -> None:
    one = "a: {role: r, goal: g, backstory: b}\n"
    drafts, _ = crew_drafts(one + one, read_yaml)

    assert [draft.agent is not None for draft in drafts] == [True, False]


KEYS = st.sampled_from([
    "name", "description", "tools", "model", "mode", "infer", "hooks", "permissionMode", "llm",
    "mcp-servers", "mcpServers", "skills", "role", "goal", "guardrail", "emoji",
])  # fmt: skip
LINES = st.tuples(
    KEYS,
    st.sampled_from([SECRET, f"[{SECRET}, '*']", f"{{a: {SECRET}}}", "plan", "''", "null", "[]"])
    | st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=20),
).map(": ".join)
HEADERS = st.lists(LINES, max_size=7).map("\n".join)


@settings(max_examples=80, deadline=None)
@given(HEADERS)
def test_no_header_raises_repeats_a_secret_in_its_report_or_makes_what_cannot_be_read_back(
    header: str,
) -> None:
    body = header.replace("\n", "\n  ")
    drafts = [
        claude_draft(file(header), "one.md", read_yaml),
        copilot_draft(file(header), "one", read_yaml),
        *crew_drafts(f"one:\n  {body}", read_yaml)[0],
    ]

    for draft in drafts:
        assert SECRET not in repr(draft.rows)
        if draft.agent is not None:
            text = render_agent_file(draft.agent)
            assert parse_agent_file(text.encode(), read_yaml).agent == draft.agent
