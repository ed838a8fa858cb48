"""Files as people and generators really write them: what is recovered, and what never is."""

from __future__ import annotations

import pytest

from domain.agents.files.caps import MOST_BODY, MOST_DESCRIPTION
from domain.agents.files.roster import render_roster
from tests.support.agent_texts import codes, header, kept, read


def test_a_colon_in_an_unquoted_description_is_repaired_with_its_line() -> None:
    parsed = read("---\nname: a\ndescription: Checks. Use for: audits\ntools: Read\n---\nb\n")

    assert parsed.agent is not None
    assert parsed.agent.description == "Checks. Use for: audits"
    assert parsed.agent.tools == ("read_file",)
    assert [(one.code, one.line) for one in parsed.problems] == [("header_repaired", 3)]


def test_examples_at_the_margin_belong_to_the_description() -> None:
    text = """\
---
name: maker
description: Use this when: an agent is wanted

<example>
Context: none yet
user: "make one"
assistant: "I will: now"
<commentary>Because.</commentary>
</example>
model: opus
tools: ["Read", "Grep"]
---
b
"""
    agent = kept(text)

    assert agent.description.startswith("Use this when: an agent is wanted <example> Context:")
    assert agent.description.endswith("</example>")
    assert (agent.model, agent.tools) == ("opus", ("read_file", "search_files"))
    assert render_roster([agent]) == "- maker: Use this when: an agent is wanted"


def test_a_backslash_n_stays_text_and_ends_what_the_roster_shows() -> None:
    agent = kept(r"""---
name: a
description: Draws: screens.\n\nExamples:\n- user: draw
---
b
""")

    assert r"screens.\n\nExamples:\n- user: draw" in agent.description
    assert render_roster([agent]) == "- a: Draws: screens."


def test_a_description_of_several_lines_becomes_one() -> None:
    agent = kept('---\nname: a\ndescription: "one\n\n  two\n  - x: y"\n---\nb\n')

    assert agent.description == "one two - x: y"


@pytest.mark.parametrize("star", ["*", "'*'", "[*]", '["*"]'])
def test_a_bare_star_means_the_tools_of_the_call(star: str) -> None:
    parsed = read(header(f"tools: {star}"))
    if star == "[*]":
        assert codes(parsed) == ["header_repaired", "field_unreadable"]
        return

    assert parsed.agent is not None
    assert parsed.agent.tools is None
    assert "tools_star" in codes(parsed)


@pytest.mark.parametrize(
    ("line", "tools"),
    [
        ("tools: mcp__bettoredge__*, github/*", ("mcp__bettoredge__*", "github/*")),
        ("tools: mcp__github", ("mcp__github__*",)),
        ("tools: Read, Microsoft Docs", ("read_file", "Microsoft Docs")),
        ("tools: Read, Edit Grep", ("read_file", "edit_file", "search_files")),
        ("tools: Read Edit\tGrep", ("read_file", "edit_file", "search_files")),
        ("tools:\n- Read\n- Bash", ("read_file", "shell")),
        ("tools: [Read, 'Grep, Glob']", ("read_file", "search_files", "list_files")),
        ("tools: Agent(a:b, c:d), Read", ("read_file",)),
        ("tools: Bash(git:*), Read", ("read_file",)),
        ("tools: Bash(*), read", ("shell", "read_file")),
        ("tools: Task", ()),
        ("tools: true, 42", ("true", "42")),
        ("tools: ''", ()),
    ],
)
def test_names_and_patterns_of_tools_are_read_in_every_spelling(
    line: str, tools: tuple[str, ...]
) -> None:
    assert kept(header(line)).tools == tools


@pytest.mark.parametrize(
    ("line", "denied", "found"),
    [
        ("disallowedTools: Bash(rm *)", ("shell",), ["deny_argument"]),
        ("disallowedTools: Write", ("write_file", "delete_file"), []),
        ("disallowedTools: [mcp__x__*]", ("mcp__x__*",), []),
        ("disallowedTools: '*'", ("*",), []),
        ("disallowedTools: WebFetch, Task", ("WebFetch", "Task"), []),
        ("disallowedTools: deploy", ("deploy",), ["deny_unknown"]),
        ("disallowedTools: Wriet", ("Wriet",), ["deny_unknown"]),
        ("disallowedTools: Edit Foo, Bash", ("edit_file", "Foo", "shell"), ["deny_unknown"]),
        ("disallowedTools: 'Read (, Bash'", ("read_file", "shell"), []),
    ],
)  # fmt: skip
def test_a_denial_is_never_narrowed(line: str, denied: tuple[str, ...], found: list[str]) -> None:
    parsed = read(header(line))

    assert parsed.agent is not None
    assert parsed.agent.disallowed_tools == denied
    assert codes(parsed) == found


def test_a_long_closing_line_and_blank_lines_before_the_header_are_accepted() -> None:
    parsed = read("\n\n---\nname: a\ndescription: d\n-----------------\nb\n")

    assert parsed.agent is not None
    assert (parsed.agent.body, codes(parsed)) == ("b", ["header_delimiter"])


@pytest.mark.parametrize(
    "text", ["# Agents\n\nSee below.\n", "", "\n \n", "```yaml\nname: a\n```\n"]
)
def test_a_file_without_a_header_is_no_agent(text: str) -> None:
    parsed = read(text)

    assert parsed.agent is None
    assert codes(parsed) == ["not_an_agent"]


def test_texts_are_kept_up_to_their_caps_and_cut_beyond() -> None:
    at = read(f"---\nname: a\ndescription: {'d' * MOST_DESCRIPTION}\n---\n{'b' * MOST_BODY}\n")
    over = read(f"---\nname: a\ndescription: {'寸' * 700}\n---\n{'é' * MOST_BODY}\n")

    assert at.problems == ()
    assert over.agent is not None
    assert codes(over) == ["body_cut", "description_cut"]
    assert over.agent.description == "寸" * 665 + "…"
    assert over.agent.body == "é" * 16382 + "…"
    assert "has 2100 bytes, more than 2000" in over.problems[1].message


@pytest.mark.parametrize(
    ("value", "description"),
    [
        ("@x does", "@x does"),
        ("`x` does", "`x` does"),
        ("[WIP] does", "[WIP] does"),
        ("% done", "% done"),
        ("* all", "* all"),
        ("& more", "& more"),
        ('"quoted" and: more', '"quoted" and: more'),
        ('"all: quoted"', "all: quoted"),
        ("cut #here", "cut"),
        (">\n  folded: yes\n  more", "folded: yes more"),
        ("|\n  kept\n  lines", "kept lines"),
        ("\n  by Prettier\n  and on", "by Prettier and on"),
        ("first: 1\nsecond, unindented", "first: 1 second, unindented"),
    ],
)
def test_every_way_to_write_a_description_is_read(value: str, description: str) -> None:
    agent = kept(f"---\nname: a\ndescription: {value}\ntools: Read\n---\nb\n")

    assert (agent.description, agent.tools) == (description, ("read_file",))


@pytest.mark.parametrize(
    "text",
    [
        "---\r\nname: a\r\ndescription: d\r\ntools: Read\r\n---\r\nb\r\n",
        "\ufeff---\nname: a\ndescription: d\ntools: Read\n---\nb\n",
        "---\rname: a\rdescription: d\rtools: Read\r---\rb",
        "---\n  name: a\n  description: 'd' is: it\n  tools: Read\n---\nb\n",
        '---\n"name": a\n"description": d: d\n"tools": Read\n---\nb\n',
        "---\n{name: a, description: d, tools: [Read]}\n---\nb\n",
    ],
)
def test_endings_marks_and_indentation_make_no_difference(text: str) -> None:
    agent = kept(text)

    assert (agent.name, agent.tools, agent.body) == ("a", ("read_file",), "b")


BROKEN = "description: not: yaml"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["tools: [Read, *x]"], "field_unreadable"),
        (["tools: *common"], "field_unreadable"),
        (["tools: Read", "more text"], "field_unreadable"),
        (["tools: Read", "allow: Bash"], "key_restricts"),
        (["tools: Read", "user: Bash"], "field_unreadable"),
        (["disallowedTools: @Write"], "field_unreadable"),
        (["disallowedTools:Write"], "field_unreadable"),
        (["hooks: {a: b"], "field_unreadable"),
        (["permissionMode: %plan"], "field_unreadable"),
        (["tools: Read", "tools: Write"], "key_ambiguous"),
        (["  tools: Read"], "field_hidden"),
        (["- disallowedTools: Write"], "field_hidden"),
        (["disallowedTools\uff1a Write"], "field_hidden"),
        (["\u200bdisallowedTools: Write"], "field_hidden"),
        (["disallowed tools and disallowed_tools: Write"], None),
        (["disallowed_tools: Write"], "key_misspelt"),
        (["model: |", "  x", "  tools: Read"], "field_hidden"),
        (["metadata:", "  tools: Read"], None),
        (["prompt: |", "  tools: Read"], "field_hidden"),
        (["tools: Read", "model: a", "model: b"], None),
        (["tools: Read", "Tools: none of them"], "field_unreadable"),
        (["name: b", "and Tools: more", "tools: Read"], None),
        (["sandbox: strict"], "key_restricts"),
    ],
)
def test_a_header_that_is_no_yaml_never_loses_a_restriction(
    lines: list[str], code: str | None
) -> None:
    parsed = read("\n".join(["---", "name: a", BROKEN, *lines, "---", "b"]))

    assert (parsed.agent is None) == (code is not None)
    assert code is None or code in codes(parsed)


def test_what_stands_before_the_first_known_key_is_looked_at_too() -> None:
    text = "---\n- x\n  disallowedTools: Write\nname: a\ndescription: d: d\n---\nb\n"

    assert codes(read(text)) == ["header_repaired", "field_hidden"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: a\ndescription: d\n-----\ndisallowedTools: Write\n---\nb\n",
        "---\nname: a\ndescription: |\n  d\n---\ntools: Read\nhooks:\n  Stop: x\n---\nb\n",
    ],
)
def test_a_header_that_ends_too_early_is_noticed(text: str) -> None:
    assert codes(read(text)) == ["header_cut"]


@pytest.mark.parametrize(
    ("description", "found"),
    [
        ("|\n  Does it.\n  tools: Read", ["field_hidden"]),
        (">\n  Does it.\n  disallowedTools: Write", ["field_hidden"]),
        ("Does it\n  hooks:x", ["field_hidden"]),
        ("'Does it.\n\n  Tools: Read'", ["field_hidden"]),
        ("|\n  Does it.\n  # tools: Read", []),
        ("|\n  Does it.\n  model: opus", []),
        ("|\n  tools: Read\ntools: Grep", []),
        ("d\nmetadata:\n  tools: Read", []),
        ("d\n# disallowedTools: Write", []),
    ],
)
def test_a_restriction_within_the_text_of_good_yaml_is_noticed(
    description: str, found: list[str]
) -> None:
    assert codes(read(f"---\nname: a\ndescription: {description}\n---\nb\n")) == found


def test_a_rule_or_another_header_in_the_body_belongs_to_it() -> None:
    body = "First.\n\n---\n\nSecond:\n\n```\n---\nname: example\ntools: Read\n---\n```"

    assert kept(header(body=body)).body == body


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"---\nname: a\ndescription: d\n", "header_unclosed"),
        (b"---\nname: \xff\ndescription: d\n---\nb", "not_text"),
        ("---\nname: a\n---\n".encode("utf-16"), "not_text"),
        (b"---\nname: a\ndescription: d\n---\n\0", "not_text"),
        (b"---\nname: a\ndescription: d\n---\n" + b"b" * (1 << 20), "file_too_large"),
        (b"---\nname: a\ndescription: " + b"d" * (1 << 16) + b"\n---\nb", "header_too_large"),
        (b"---\n*: x\n---\nb", "name_missing"),
        (b"---\njust text\n---\nb", "name_missing"),
        (b"---\n- a\n- b\n---\nb", "name_missing"),
        (b"---\na: &x [*x]\n---\nb", "name_missing"),
        (b"---\nname: !!python/name:os.system\ndescription: d\n---\nb", None),
    ],
)
def test_what_is_no_definition_is_dropped_for_its_own_reason(text: bytes, code: str | None) -> None:
    parsed = read(text)

    assert (parsed.agent is None) == (code is not None)
    assert code is None or code in codes(parsed)
