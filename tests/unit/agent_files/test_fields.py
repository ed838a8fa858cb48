"""Each field of a header: what is accepted, what is made of it, and what it costs if it is bad."""

from __future__ import annotations

import pytest

from domain.agents.files.agent_file import (
    AgentFile,
    HeaderRef,
    Hook,
    McpServer,
    Origin,
    origin_of,
    to_json,
)
from domain.agents.files.authority import profile_of
from domain.agents.files.problems import MOST_PROBLEMS
from domain.agents.profile import Profile
from tests.support.agent_texts import FILE, codes, header, kept, read

EVERYTHING = """\
---
name: code-reviewer
description: Reviews a diff.
tools: [Read, Grep, Glob]
disallowedTools: [Edit]
model: sonnet
provider: openrouter
permissionMode: plan
maxTurns: 9
maxToolCalls: "25"
color: blue
skills: [refactoring]
hooks:
  PreToolUse: ./scripts/gate.sh
mcpServers:
  - github
  - name: jira
    url: https://jira.example/mcp
    headers: { Authorization: "Bearer ${TOKEN}" }
memory: project
---

You review code.
"""


def test_a_file_with_every_field_is_read_without_a_note() -> None:
    parsed = read(EVERYTHING)

    assert parsed.problems == ()
    assert parsed.agent == AgentFile(
        name="code-reviewer",
        description="Reviews a diff.",
        body="You review code.",
        tools=("read_file", "search_files", "list_files"),
        disallowed_tools=("edit_file",),
        model="sonnet",
        provider="openrouter",
        permission_mode="plan",
        max_turns=9,
        max_tool_calls=25,
        skills=("refactoring",),
        mcp_servers=(
            McpServer("github"),
            McpServer(
                "jira",
                "https://jira.example/mcp",
                (HeaderRef("Authorization", "Bearer", "TOKEN"),),
            ),
        ),
        hooks=(Hook("PreToolUse", "./scripts/gate.sh"),),
        memory="project",
        color="blue",
    )


def test_what_is_left_out_is_not_the_same_as_empty() -> None:
    absent = kept(header())
    empty = kept(header("tools: []", "disallowedTools: []", "skills: []", "hooks: {}"))

    assert (absent.tools, absent.disallowed_tools, absent.skills, absent.hooks) == (None,) * 4
    assert (empty.tools, empty.disallowed_tools, empty.skills, empty.hooks) == ((),) * 4
    assert absent.mcp_servers is None
    assert kept(header("mcpServers: []")).mcp_servers == ()


@pytest.mark.parametrize("key", ["tools", "disallowedTools", "permissionMode", "hooks"])
@pytest.mark.parametrize("null", ["", "~", "null", "# all of them"])
def test_a_null_where_authority_is_decided_drops_the_definition(key: str, null: str) -> None:
    parsed = read(header(f"{key}: {null}"))

    assert parsed.agent is None
    assert codes(parsed) == ["field_null"]
    assert (parsed.problems[0].file, parsed.problems[0].line) == (FILE, 4)


@pytest.mark.parametrize(
    "line",
    [
        "tools: {Read: true}",
        "tools: [[Read]]",
        "tools: [Read, null]",
        "disallowedTools: [{Write: all}]",
        "disallowedTools: {}",
        "hooks: [a]",
        "hooks: ./gate.sh",
        f"tools: {'x' * 201}",
        f"disallowedTools: [{', '.join(f't{n}' for n in range(257))}]",
        f"hooks: {{{', '.join(f'Stop{n}: a' for n in range(3))}}}",
        "permissionMode: [plan]",
        "permissionMode: dontAsk",
        "permissionMode: paln",
    ],
)
def test_what_would_widen_authority_if_lost_drops_the_definition(line: str) -> None:
    parsed = read(header(line))

    assert parsed.agent is None
    assert any(one.loses and one.line == 4 for one in parsed.problems)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("color: #fff", "value_null"),
        ("color: [blue]", "value_ignored"),
        (f"model: {'m' * 201}", "value_ignored"),
        ("model: {a: b}", "value_ignored"),
        ("provider: ~", "value_null"),
        ("maxTurns: many", "value_ignored"),
        ("maxTurns: 0", "value_ignored"),
        ("maxTurns: -3", "value_ignored"),
        ("maxToolCalls: 1.5", "value_ignored"),
        ("maxToolCalls: 99999999999", "value_ignored"),
        ("skills: {a: b}", "value_ignored"),
        ("skills: [[a]]", "value_ignored"),
        ("memory: local", "memory_unknown"),
        ("memory: shared", "memory_unknown"),
        ("memory: [user]", "memory_unknown"),
        ("memory:", "value_null"),
        ("mcpServers:", "value_null"),
        ("color: blue\ncolor: red", "key_repeated"),
        ("hooks: {Stop: '', '': x}", "hook_blank"),
        ("hooks: {Notification: bell}", "hook_idle"),
        ("tools: '*'", "tools_star"),
        ("permissionMode: bypassPermissions", "mode_raises"),
        ("permissionMode: acceptEdits", "mode_raises"),
    ],
)
def test_what_only_narrows_or_decorates_is_left_out_with_a_note(line: str, code: str) -> None:
    parsed = read(header(line))

    assert parsed.agent is not None
    assert set(codes(parsed)) == {code}


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("memory: '  User '", "memory", "user"),
        ("memory: PROJECT", "memory", "project"),
        ("memory: ''", "memory", ""),
        ("maxTurns: '9'", "max_turns", 9),
        ("maxTurns: 007", "max_turns", 7),
        ("permissionMode: Plan", "permission_mode", "plan"),
        ("permissionMode: default", "permission_mode", "default"),
        ("model: inherit", "model", "inherit"),
        ("model: true", "model", "true"),
        ("skills: review, research", "skills", ("review", "research")),
        ("skills: [a, b, a]", "skills", ("a", "b")),
        ("emoji: 🦊", "color", ""),
        ("effort: high", "model", ""),
    ],
)
def test_a_value_is_taken_as_it_is_written(line: str, field: str, value: object) -> None:
    parsed = read(header(line))

    assert parsed.problems == ()
    assert getattr(parsed.agent, field) == value


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("007", "007"),
        ("true", "true"),
        ("2026-01-01", "2026-01-01"),
        ("'null'", "null"),
        ("FP&A Analyst", "fp-a-analyst"),
        ("LSP/Index Engineer", "lsp-index-engineer"),
        ("../../etc/passwd", "etc-passwd"),
        ("SRE (Site Reliability)", "sre-site-reliability"),
        ("powershell-5.1-expert", "powershell-5-1-expert"),
        ("Prüferin", "pruferin"),
    ],
)
def test_a_name_is_taken_as_text_and_addressed_by_its_id(name: str, id_: str) -> None:
    agent = kept(f"---\nname: {name}\ndescription: d\n---\nb\n")

    assert (agent.name, agent.id) == (name.strip("'"), id_)


def test_names_in_other_scripts_have_ids_of_their_own() -> None:
    ids = {
        kept(f"---\nname: {name}\ndescription: d\n---\nb\n").id
        for name in ("代码审查", "代码", "reviewer-代", "reviewer-码", "!!!", "x" * 150, "x" * 151)
    }

    assert len(ids) == 7
    assert all(len(one) <= 64 and one.isascii() for one in ids)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ndescription: d\n---\nb", ["name_missing"]),
        ("---\nname: ' '\ndescription: d\n---\nb", ["name_missing"]),
        ("---\nname:\ndescription: d\n---\nb", ["name_missing"]),
        ("---\nname: [a]\ndescription: d\n---\nb", ["name_missing"]),
        ("---\nname: a\n---\nb", ["description_missing"]),
        ("---\nname: a\ndescription: ''\n---\nb", ["description_missing"]),
        ("---\n---\nb", ["description_missing", "name_missing"]),
        ("---\nname: a\nname: b\ndescription: d\n---\nb", ["key_ambiguous"]),
        ("---\nname: a\ndescription: d\ntools: Read\ntools: Write\n---\nb", ["key_ambiguous"]),
        ("---\nname: a\ndescription: d\nprompt: Do.\n---\n", ["body_empty", "prompt_in_header"]),
        (
            "---\nname: a\ndescription: d: d\nprompt: Do.\n---\n",
            ["body_empty", "header_repaired", "prompt_in_header"],
        ),
    ],
)
def test_a_definition_without_what_it_needs_is_dropped(text: str, expected: list[str]) -> None:
    parsed = read(text)

    assert parsed.agent is None
    assert sorted(codes(parsed)) == sorted(expected)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("disallowed_tools", "disallowedTools"),
        ("disallowed-tools", "disallowedTools"),
        ("DisallowedTools", "disallowedTools"),
        ("dissallowedTools", "disallowedTools"),
        ("tool", "tools"),
        ("Tools", "tools"),
        ("permission-mode", "permissionMode"),
        ("hook", "hooks"),
    ],
)
def test_a_misspelt_restriction_drops_the_definition(key: str, meant: str) -> None:
    parsed = read(header(f"{key}: Write"))

    assert parsed.agent is None
    assert codes(parsed) == ["key_misspelt"]
    assert f"`{meant}:`" in parsed.problems[0].next


@pytest.mark.parametrize(
    "key", ["sandbox_mode", "allowed-tools", "isolation", "permissions", "readOnly"]
)
def test_a_restriction_that_is_not_known_here_drops_the_definition(key: str) -> None:
    parsed = read(header(f"{key}: strict"))

    assert parsed.agent is None
    assert codes(parsed) == ["key_restricts"]


def test_all_that_is_wrong_is_told_at_once() -> None:
    parsed = read("---\nname:\ntools: ~\nsandbox: all\nhooks: x\nmemory: no\n---\n")

    assert set(codes(parsed)) == {
        "name_missing", "description_missing", "field_null", "key_restricts", "field_invalid",
        "memory_unknown", "body_empty",
    }  # fmt: skip


def test_of_very_many_problems_those_that_drop_the_definition_are_told() -> None:
    lines = [*["color: red"] * 500, "tools:", *["color: blue"] * 500]
    parsed = read(header(*lines))

    assert len(parsed.problems) == MOST_PROBLEMS
    assert [one.line for one in parsed.problems if one.code == "field_null"] == [504]


def test_plan_caps_an_agent_at_reader_and_nothing_raises_it() -> None:
    for mode in ("", "default", "acceptEdits", "auto", "bypassPermissions"):
        agent = kept(header(*([f"permissionMode: {mode}"] if mode else [])))
        assert profile_of(agent, Profile.READER) is Profile.READER
        assert profile_of(agent, Profile.WRITER) is Profile.WRITER
    plan = kept(header("permissionMode: plan"))

    assert profile_of(plan, Profile.WRITER) is Profile.READER


def test_a_label_that_is_not_known_counts_as_the_least_trusted() -> None:
    assert [origin_of(one) for one in ("explicit", "user", "root", "")] == [
        Origin.EXPLICIT, Origin.USER, Origin.DRIVER, Origin.DRIVER,
    ]  # fmt: skip


def test_a_document_of_a_definition_leaves_out_what_the_file_left_out() -> None:
    assert to_json(kept(header())) == {"name": "one", "description": "Does it.", "body": "Do it."}
    assert to_json(kept(header("tools: []")))["tools"] == []
