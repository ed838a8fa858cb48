"""Hooks and servers of agent files: guards are kept or refused, secrets are references."""

from __future__ import annotations

import pytest

from domain.agents.files.addresses import Unfit, address_problem, is_loopback
from domain.agents.files.agent_file import HeaderRef, Hook, McpServer
from tests.support.agent_texts import codes, header, kept, read

NESTED = """\
hooks:
  PreToolUse:
    - matcher: "Bash|Write|mcp__x__.*"
      hooks:
        - type: command
          command: ./guard.sh
          timeout: 5
        - {type: command, command: ./second.sh}
    - hooks: [{type: command, command: ./all.sh}]
  Stop: ./done.sh"""


def test_nested_hooks_are_translated_to_the_tools_here() -> None:
    rules = "shell|write_file|delete_file|mcp__x__*"

    assert kept(header(NESTED)).hooks == (
        Hook("PreToolUse", "./guard.sh", rules),
        Hook("PreToolUse", "./second.sh", rules),
        Hook("PreToolUse", "./all.sh"),
        Hook("Stop", "./done.sh"),
    )


@pytest.mark.parametrize(
    "hooks",
    [
        "{PreToolUse: {matcher: x}}",
        "{PreToolUse: [{matcher: 'Edit|(a)', hooks: [{type: command, command: x}]}]}",
        "{PreToolUse: [{matcher: Edit, hooks: [{type: prompt, prompt: x}]}]}",
        "{PreToolUse: [{matcher: Edit, hooks: [{type: command, command: x, if: y}]}]}",
        "{PreToolUse: [{matcher: Edit, hooks: [{type: command}]}]}",
        "{PreToolUse: [{matcher: Edit, hooks: ./x}]}",
        "{PreToolUse: [{matcher: Edit, hooks: [{type: command, command: x}], when: y}]}",
        "{PreToolUse: [./x]}",
        "{PreToolUse: null}",
        "{preToolUse: ./x}",
        "{BeforeTool: ./x}",
        "{SessionStart: [{matcher: resume, hooks: [{type: command, command: x}]}]}",
        "{PreToolUse: [{matcher: [a], hooks: [{type: command, command: x}]}]}",
    ],
)
def test_a_hook_that_could_be_a_guard_and_is_not_understood_drops_the_definition(
    hooks: str,
) -> None:
    parsed = read(header(f"hooks: {hooks}"))

    assert parsed.agent is None
    assert codes(parsed) == ["hook_unsupported"]


def test_only_hooks_with_a_phase_and_a_command_are_kept() -> None:
    parsed = read(header("hooks: {Stop: ' ', '': x, PreToolUse: ' ./a '}"))

    assert parsed.agent is not None
    assert parsed.agent.hooks == (Hook("PreToolUse", "./a"),)
    assert codes(parsed) == ["hook_blank", "hook_blank"]


def test_more_hooks_than_there_may_be_drop_the_definition() -> None:
    one = "{type: command, command: x}"
    parsed = read(header(f"hooks: {{Stop: [{{hooks: [{', '.join([one] * 33)}]}}]}}"))

    assert codes(parsed) == ["too_many"]


MIXED = """\
mcpServers:
  - github, jira
  - name: own
    url: https://own.example/mcp
    type: HTTP
    headers: { X-Key: "${OWN_KEY}" }
  - name: board
  - url: https://nameless.example/mcp
  - name: local
    command: npx
    url: https://also.example/mcp
  - name: pipe
    type: stdio"""


def test_servers_of_every_form_are_read_and_others_left_out_alone() -> None:
    parsed = read(header(MIXED))

    assert parsed.agent is not None
    assert parsed.agent.mcp_servers == (
        McpServer("github"),
        McpServer("jira"),
        McpServer("own", "https://own.example/mcp", (HeaderRef("X-Key", "", "OWN_KEY"),)),
        McpServer("board"),
    )
    assert codes(parsed) == ["server_invalid", "server_local", "server_local"]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("github, jira", ["github", "jira"]),
        ("github jira", ["github", "jira"]),
        ("[github, jira]", ["github", "jira"]),
        ("{github: {}, jira: {url: 'https://j.example/mcp'}}", ["github", "jira"]),
        ("[{name: github}, jira]", ["github", "jira"]),
        ("{github: , jira: {}, other: 'https://o.example/mcp'}", ["github", "jira"]),
    ],
)
def test_servers_may_be_named_in_any_form(written: str, names: list[str]) -> None:
    servers = kept(header(f"mcpServers: {written}")).mcp_servers or ()

    assert [one.name for one in servers] == names


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("{name: x, url: 'http://h.example/m'}", "server_exposed"),
        ("{name: x, url: 'https://u:p@h.example/m'}", "server_secret"),
        ("{name: x, url: 'https://h.example/m?api_key=1'}", "server_secret"),
        ("{name: x, url: 'https://${HOST}/m'}", "server_invalid"),
        ("{name: x, url: 'ftp://h.example/m'}", "server_invalid"),
        ("{name: x, url: [a]}", "server_invalid"),
        ("{name: a__b, url: 'https://h.example/m'}", "server_invalid"),
        ("{name: '../x', url: 'https://h.example/m'}", "server_invalid"),
        ("{name: x, headers: {A: '${B}'}}", "server_invalid"),
        ("{name: x, type: sse, url: 'https://h.example/m'}", "server_local"),
        ("[a]", "server_invalid"),
        ("{name: x, url: 'https://h.example/m', disabled: true}", "server_restricts"),
        ("{name: x, url: 'https://h.example/m', tools: [list]}", "server_restricts"),
        ("{name: x, url: 'https://h.example/m', headers: [a]}", "header_invalid"),
        ("{name: x, url: 'https://h.example/m', headers: {A: [b]}}", "header_invalid"),
        ("{name: x, url: 'https://h.example/m', headers: {A: }}", "header_invalid"),
        ("{name: x, url: 'https://h.example/m', headers: {'A B': '${C}'}}", "header_invalid"),
        (
            "{name: x, url: 'https://h.example', headers: {A: '${C}', a: '${D}'}}",
            "header_invalid",
        ),
        (
            "{name: x, url: 'https://h.example/m', headers: {A: '${ANTHROPIC_API_KEY}'}}",
            "header_forbidden",
        ),
        (
            "{name: x, url: 'https://h.example/m', headers: {A: 'Bearer ${LEGATO_HOME}'}}",
            "header_forbidden",
        ),
    ],
)
def test_a_server_that_cannot_be_used_safely_is_left_out(entry: str, code: str) -> None:
    parsed = read(header(f"mcpServers: [{entry}, good]"))

    assert parsed.agent is not None
    assert parsed.agent.mcp_servers == (McpServer("good"),)
    assert codes(parsed) == [code]


@pytest.mark.parametrize(
    "value", ["Bearer abc", "abc", "hunter2 ${A}", "${A:-abc}", "Bearer ${A} abc", "$A", "007"]
)
def test_a_header_that_is_written_out_becomes_a_reference(value: str) -> None:
    parsed = read(
        header(
            f"mcpServers: [{{name: jira-1, url: 'https://h.example', headers: {{X-K: '{value}'}}}}]"
        )
    )

    assert parsed.agent is not None
    assert parsed.agent.mcp_servers == (
        McpServer("jira-1", "https://h.example", (HeaderRef("X-K", "", "MCP_JIRA_1_X_K"),)),
    )
    assert codes(parsed) == ["header_secret"]
    assert parsed.problems[0].level == "error"


@pytest.mark.parametrize(
    ("url", "unfit"),
    [
        ("https://h.example/mcp", None),
        ("https://h.example/mcp?team=a", None),
        ("http://127.0.0.1:8000/mcp", None),
        ("http://localhost/mcp", None),
        ("http://[::1]:80/mcp", None),
        ("http://127.0.0.1.evil.example/", Unfit.EXPOSED),
        ("http://localhost.evil.example/", Unfit.EXPOSED),
        ("http://10.0.0.1/", Unfit.EXPOSED),
        ("http://127.1/", Unfit.EXPOSED),
        ("http://127.0.0.1@evil.example/", Unfit.SECRET),
        ("https://h.example/" + "aB3" * 14, Unfit.SECRET),
        ("https://h.example/#token=x", Unfit.SECRET),
        ("https://h.example/@scope/server/mcp", None),
        ("https://u:#p@h.example/m", Unfit.SECRET),
        ("https://u:?p@h.example/m", Unfit.SECRET),
        ("https://u:/p@h.example/m", Unfit.SECRET),
        ("https://h.example:/m", Unfit.INVALID),
        ("https://h.example/#top", Unfit.INVALID),
        ("http://127.0.0.1\\@evil.example/", Unfit.INVALID),
        ("https://h.example:99999/", Unfit.INVALID),
        ("https://[::1/", Unfit.INVALID),
        ("https:///mcp", Unfit.INVALID),
        ("file:///etc/passwd", Unfit.INVALID),
        ("https://h.example/\n", Unfit.INVALID),
        ("https://\u0435xample.com/", Unfit.INVALID),
        ("", Unfit.INVALID),
    ],
)
def test_an_address_is_judged_by_where_it_leads_and_what_it_shows(
    url: str, unfit: Unfit | None
) -> None:
    assert address_problem(url) is unfit


def test_this_machine_is_known_by_its_own_names_only() -> None:
    assert all(map(is_loopback, ("localhost", "LOCALHOST.", "127.8.8.8", "::1")))
    assert not any(map(is_loopback, ("", "0.0.0.0", "127.0.0", "local", "1.127.0.0.1")))  # noqa: S104 - refused
