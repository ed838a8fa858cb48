"""How definitions failed in other programs, and what becomes of the same files here."""

from __future__ import annotations

import pytest

from domain.agents.files.authority import scope_of
from tests.support.agent_texts import codes, header, kept, read

OFFERED = ("read_file", "write_file", "shell", "mcp__gh__list", "mcp__gh__delete")
TOOLS_OF_THE_CALL = tuple(sorted(OFFERED))


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param(
            "---\nname: a\ndescription: Use for: x\ntools: Read\n---\nb",
            ("read_file",),
            id="a broken header loaded with a placeholder and all tools",
        ),
        pytest.param(
            "---\nname: a\ndescription: Writes <example>x: y</example>\ntools: Read\n---\nb",
            ("read_file",),
            id="a generated description with tags vanished silently",
        ),
        pytest.param(
            "---\nname: a\ndescription: >\n  Folded.\ntools: Read\n---\nb",
            ("read_file",),
            id="a folded description was not seen",
        ),
        pytest.param(
            "---\nname: a\ndescription:\n  Moved by a formatter.\ntools: [Read]\n---\nb",
            ("read_file",),
            id="a formatter moved the value to the next line",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\ndisallowedTools: mcp__gh__*, Write, Bash\n---\nb",
            ("read_file",),
            id="patterns counted in the allow list only",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\ntools: []\n---\nb",
            (),
            id="an empty list gave the defaults",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\ntools: Read, NoSuchTool\n---\nb",
            ("read_file",),
            id="one bad name of a tool rejected the agent, or gave tools that nobody named",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\ntools: Read, Write\ncolor: mauve\nfoo: bar\n---\nb",
            ("read_file", "write_file"),
            id="tools as one text, a color or an unknown key refused the agent",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\ntools: READ, bash\n---\nb",
            ("read_file", "shell"),
            id="names of tools in another case were no names",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\nmcpServers: [{url: 'https://h/m'}, gh]\n---\nb",
            TOOLS_OF_THE_CALL,
            id="half a server rejected the whole agent",
        ),
    ],
)
def test_the_agent_is_kept_with_the_tools_that_its_author_meant(
    text: str, tools: tuple[str, ...]
) -> None:
    agent = kept(text)

    assert scope_of(agent, OFFERED).tools == tools
    assert agent.body == "b"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(
            "---\nname: a\ndescription: d\ntools: [Read, Grep\n---\nb",
            "field_unreadable",
            id="invalid YAML loaded without permissions",
        ),
        pytest.param(
            "---\n*: x\nname: a\ndescription: d\n---\nb", None, id="a bare star as a key",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\nprompt: Be good.\n---\n",
            "prompt_in_header",
            id="a prompt in the header lost to an empty body",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\nsandbox_mode: read-only\n---\nb",
            "key_restricts",
            id="a sandbox was dropped and the child had full access",
        ),
        pytest.param("# README\n", "not_an_agent", id="a file without a header was an error"),
        pytest.param(
            "# Agent\n\n```yaml\nname: a\n```\n", "not_an_agent", id="a header in a fenced block"
        ),
        pytest.param(
            "---\nname: a\n\tdescription: d\n---\nb",
            "description_missing",
            id="a corrupt header was told as something else",
        ),
        pytest.param(
            "---\nname: a\ndescription: d\nhooks: {PreToolUse: [{matcher: Bash, run: x}]}\n---\nb",
            "hook_unsupported",
            id="a guard in another form was ignored",
        ),
    ],
)  # fmt: skip
def test_what_could_mean_less_than_it_would_get_is_dropped_with_the_true_reason(
    text: str, code: str | None
) -> None:
    parsed = read(text)

    assert (parsed.agent is None) == (code is not None)
    assert code is None or code in codes(parsed)
    assert all(one.line > 0 for one in parsed.problems if one.code == code)


def test_dozens_of_unknown_tools_are_one_note() -> None:
    parsed = read(header("tools: TodoWrite, Read, WebFetch, KillShell, NoSuch"))

    assert codes(parsed) == ["tool_unknown"]
    assert parsed.problems[0].message.endswith("entries 1, 3, 4, 5")


def test_a_denial_is_held_to_by_the_same_match_as_a_grant() -> None:
    granted = kept(header("tools: mcp__gh__*"))
    denied = kept(header("disallowedTools: mcp__gh__*"))
    left = set(scope_of(granted, OFFERED).tools)

    assert left == {"mcp__gh__list", "mcp__gh__delete"}
    assert set(scope_of(denied, OFFERED).tools) == set(OFFERED) - left
    assert scope_of(kept(header("disallowedTools: mcp__x")), OFFERED).unmatched_denials
