"""Whatever a file holds, the parser does not raise, does not tell secrets, and keeps the caps."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.agents.files.agent_file import KEYS, AgentFile, HeaderRef, McpServer, to_json
from domain.agents.files.authority import scope_of
from domain.agents.files.caps import MOST_BODY, MOST_DESCRIPTION, one_line, size
from domain.agents.files.parse import parse_wire
from domain.agents.files.render import render_agent_file
from domain.agents.files.roster import render_roster
from domain.agents.files.tool_names import matches
from tests.support.agent_texts import codes, read

if TYPE_CHECKING:
    from domain.agents.files.parse import Parsed

CALM = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
THOROUGH = settings(CALM, max_examples=4000)
SECRET = "hunter2-PLANTED-3f9c"  # noqa: S105 - planted to be looked for

_VALUES = st.one_of(
    st.text(max_size=40),
    st.sampled_from([
        "", "null", "~", "*", "[]", "{}", "[Read, Grep]", "Read, Bash(git:*)", "plan", "- a", "|",
        ">-", "&x 1", "*x", "!!python/object:os.system x", "a: b", '"', "'", "#", "[", "{a: [", "%",
        "@", "---", "-----", "\u2028tools: Write", "\ud7ff", "寸" * 900, "é" * 20000, "[" * 3000,
    ]),
)  # fmt: skip
_NAMES = st.one_of(
    st.sampled_from([*KEYS, "disallowed_tools", "sandbox", "prompt", "user", "emoji", "*", ""]),
    st.text(max_size=12),
)
_LINES = st.one_of(
    st.builds("{}: {}".format, _NAMES, _VALUES),
    st.builds("  {}: {}".format, _NAMES, _VALUES),
    st.builds("- {}".format, _VALUES),
    _VALUES,
)


def a_file(lines: list[str], body: str, opening: str) -> str:
    """Put a file together."""
    return "\n".join((opening, *lines, "---", body))


_FILES = st.builds(
    a_file,
    st.lists(_LINES, max_size=12),
    st.text(max_size=60),
    st.sampled_from(["---", "---", "---", "-----", "\ufeff---", "\n---", ""]),
)


def holds(parsed: Parsed) -> None:
    """State what is true of every answer of the parser."""
    assert all(one.line >= 0 and one.code and one.message and one.next for one in parsed.problems)
    assert (parsed.agent is None) == any(one.loses for one in parsed.problems)
    agent = parsed.agent
    if agent is None:
        return
    assert agent.name
    assert one_line(agent.description) == agent.description
    assert 0 < size(agent.description) <= MOST_DESCRIPTION
    assert size(agent.body) <= MOST_BODY
    assert 0 < len(agent.id) <= 64
    assert agent.id.isascii()
    str(to_json(agent)).encode("utf-8")
    hash(agent)


@CALM
@given(st.binary(max_size=200))
def test_no_bytes_make_the_parser_raise(data: bytes) -> None:
    holds(read(data))
    holds(read(b"---\n" + data + b"\n---\n" + data))


@CALM
@given(_FILES)
def test_no_header_makes_the_parser_raise_or_pass_its_caps(text: str) -> None:
    holds(read(text.encode("utf-8", errors="replace")))


@pytest.mark.slow
@THOROUGH
@given(_FILES)
def test_no_header_of_very_many_makes_the_parser_raise_or_pass_its_caps(text: str) -> None:
    holds(read(text.encode("utf-8", errors="replace")))


_SERVER = "name: a\ndescription: d\nmcpServers: [{{name: x, url: 'https://h/m', headers: "


_PLACES = (
    _SERVER + "{{A: {0}}}}}]",
    _SERVER + "{{A: [{0}]}}}}]",
    _SERVER + "{{A: Bearer {0}}}}}]",
    _SERVER + "{{A: '${{X:-{0}}}'}}}}]",
    "name: a\ndescription: d: d\nmcp-servers:\n  x:\n    headers: {{A: {0}}}",
    "name: a\ndescription: d\nmcpServers: [{{name: x, url: 'https://h/m?token={0}'}}]",
    "name: a\ndescription: d\nmcpServers: [{{name: x, url: 'https://u:{0}@h/m'}}]",
    "name: a\ndescription: d\nmcpServers: {{x: {{command: {0}}}}}",
    "name: [{0}]\ndescription: d",
    "name: a\ndescription: [{0}]",
    "name: a\ndescription: d\ntools: {{{0}: x}}",
    "name: a\ndescription: d\npermissionMode: {0}",
    "name: a\ndescription: d\nmemory: {0}",
    "name: a\ndescription: d\nmaxTurns: {0}",
    "name: a\ndescription: d\nhooks: {{{0}: x}}",
    "name: a\ndescription: d\nhooks: {{PreToolUse: [{{type: {0}}}]}}",
    "name: a\ndescription: d\nsandbox: {0}",
    "name: a\ndescription: d\n{0}: x\ncolor: [x]",
    "name: a\n{0}\ndescription: d: d",
    "name: a\ndescription: d\ncolor: {{a: {0}}}\nskills: {{b: {0}}}\nmodel: [{0}]",
)  # fmt: skip


@CALM
@given(st.sampled_from(_PLACES), st.text("abc :'\"{}[]&*!#%@", max_size=6))
def test_no_answer_repeats_a_secret(place: str, around: str) -> None:
    parsed = read(f"---\n{place.format(around + SECRET)}\n---\nbody\n")
    held = "" if parsed.agent is None else str(asdict(parsed.agent))

    assert SECRET not in str(parsed.problems)
    assert SECRET not in held or "mcp" not in place


@CALM
@given(_FILES, st.floats(0, 1))
def test_no_problem_repeats_a_secret_wherever_it_stands(text: str, where: float) -> None:
    at = int(where * len(text))
    parsed = read((text[:at] + SECRET + text[at:]).encode("utf-8", errors="replace"))

    assert SECRET.casefold() not in str(parsed.problems).casefold()


@CALM
@given(st.text(max_size=30), st.text(max_size=30))
def test_a_denied_name_is_never_lost_beside_others(before: str, after: str) -> None:
    text = f"---\nname: a\ndescription: d: d\ndisallowedTools: Bash\n{before}\n---\n{after}\n"
    parsed = read(text.encode("utf-8", errors="replace"))

    assert parsed.agent is None or "shell" in (parsed.agent.disallowed_tools or ())


_WORDS = st.text(min_size=1, max_size=20).filter(lambda text: bool(one_line(text).strip()))
_AGENTS = st.builds(
    AgentFile,
    name=_WORDS.map(one_line),
    description=_WORDS.map(one_line),
    body=st.text(max_size=50)
    .map(lambda text: " ".join(text.replace("\0", "").split()))
    .filter(lambda text: not text.startswith("---")),
    tools=st.none() | st.lists(st.sampled_from(["read_file", "shell", "mcp__x__*", "own"])).map(
        lambda rules: tuple(dict.fromkeys(rules))
    ),
    model=st.sampled_from(["", "sonnet", "openai:gpt-x", "null", "007"]),
    max_turns=st.none() | st.integers(1, 10**6),
    mcp_servers=st.none() | st.just((
        McpServer("a"), McpServer("b", "https://h/m", (HeaderRef("A", "Bearer", "T"),)),
    )),
)  # fmt: skip


@CALM
@given(_AGENTS)
def test_a_definition_reads_back_from_its_file_and_from_the_wire(agent: AgentFile) -> None:
    parsed = read(render_agent_file(agent).encode("utf-8", errors="replace"))

    assert parsed.agent == agent, codes(parsed)
    assert parse_wire(to_json(agent), 1).agent == agent


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*KEYS, "url", "body", "x"]), inner, max_size=6)
    ),
    max_leaves=20,
)


@CALM
@given(_JSON)
def test_nothing_on_the_wire_makes_the_client_raise(value: object) -> None:
    parsed = parse_wire(value, 1)

    holds(parsed)


@CALM
@given(st.lists(_AGENTS, max_size=8), st.integers(0, 800))
def test_a_roster_keeps_its_budget_and_its_order(agents: list[AgentFile], most: int) -> None:
    text = render_roster(agents, most)

    assert size(text) <= most
    assert text == render_roster(agents[::-1], most) or len({a.id for a in agents}) < len(agents)


@CALM
@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_a_pattern_matches_as_its_plain_meaning_says(rule: str, name: str) -> None:
    def meaning(rest: str, text: str) -> bool:
        if not rest:
            return not text
        if rest[0] == "*":
            return any(meaning(rest[1:], text[n:]) for n in range(len(text) + 1))
        return text[:1] == rest[0] and meaning(rest[1:], text[1:])

    assert matches(rule, name) == meaning(rule, name)


@CALM
@given(
    st.none() | st.lists(st.sampled_from(["a", "b*", "*", "mcp__x__*"])),
    st.lists(st.sampled_from(["a", "bb", "mcp__x__*"])),
    st.lists(st.sampled_from(["a", "b", "bb", "mcp__x__y", "subagent", "Task"])),
)
def test_a_scope_only_narrows_what_is_offered(
    allowed: list[str] | None, denied: list[str], offered: list[str]
) -> None:
    agent = AgentFile(
        name="x",
        description="d",
        tools=None if allowed is None else tuple(allowed),
        disallowed_tools=tuple(denied),
    )
    tools = scope_of(agent, offered).tools

    assert set(tools) <= set(offered) - {"subagent", "Task"}
    assert not any(matches(rule, tool) for rule in denied for tool in tools)
    assert allowed is None or all(any(matches(r, tool) for r in allowed) for tool in tools)
