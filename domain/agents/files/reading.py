"""Turns a header's nodes into a definition: each field by its rule, all problems at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import KEYS, AgentFile
from domain.agents.files.caps import (
    MOST_BODY,
    MOST_DESCRIPTION,
    MOST_NAME,
    MOST_SKILLS,
    MOST_WORD,
    cut,
    one_line,
    size,
)
from domain.agents.files.hooks import read_hooks
from domain.agents.files.keys import AUTHORITY, key_problem
from domain.agents.files.nodes import Fields, Items, Scalar, is_null
from domain.agents.files.problems import Problem, in_order, problem
from domain.agents.files.servers import read_servers
from domain.agents.files.tool_lists import read_allowed, read_denied, split_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.agents.files.nodes import Node

MODES: Mapping[str, str] = {
    mode.casefold(): mode
    for mode in ("default", "plan", "acceptEdits", "auto", "bypassPermissions")
}
_RAISING = frozenset({"acceptEdits", "auto", "bypassPermissions"})
_COUNT = re.compile(r"\+?\d{1,9}")
_WHOLE = "write a whole number above 0"
_TEXT = "write one short line of text"
_NAMES = "write names: a list, or one text with commas"


def read_definition(
    header: Fields, body: str, more_tools: frozenset[str]
) -> tuple[AgentFile | None, tuple[Problem, ...]]:
    """Read a definition; None where a problem among those given says that there is none.

    `more_tools` are names of tools beside Legato's own, such as those of plug-ins.
    """
    found: list[Problem] = []
    nodes = _known(header, found)
    tools, denied = nodes.get("tools"), nodes.get("disallowedTools")
    hooks, servers = nodes.get("hooks"), nodes.get("mcpServers")
    agent = AgentFile(
        name=_name(nodes.get("name"), header.line, found),
        description=_description(nodes.get("description"), header.line, found),
        body=_body(body, found),
        tools=None if tools is None else read_allowed(tools, more_tools, found),
        disallowed_tools=None if denied is None else read_denied(denied, more_tools, found),
        model=_word("model", nodes, found),
        provider=_word("provider", nodes, found),
        permission_mode=_mode(nodes.get("permissionMode"), found),
        max_turns=_count("maxTurns", nodes, found),
        max_tool_calls=_count("maxToolCalls", nodes, found),
        skills=_skills(nodes.get("skills"), found),
        mcp_servers=None if servers is None else read_servers(servers, found),
        hooks=None if hooks is None else read_hooks(hooks, found),
        memory=_memory(nodes.get("memory"), found),
        color=_word("color", nodes, found),
    )
    _prompt(header, body, found)
    lost = any(one.loses for one in found)
    return (None if lost else agent), in_order(found)


def _known(header: Fields, found: list[Problem]) -> Mapping[str, Node]:
    """Give the known fields by name; other keys must be none that restricts an agent."""
    nodes: dict[str, Node] = {}
    for key, value in header.pairs:
        wrong = key_problem(key.text, key.line)
        if wrong is not None:
            found.append(wrong)
        elif key.text in nodes:
            matters = key.text in AUTHORITY or key.text == "name"
            code = "key_ambiguous" if matters else "key_repeated"
            found.append(problem(code, key.line, field=key.text))
        elif key.text in KEYS:
            nodes[key.text] = value
    return nodes


def _name(node: Node | None, line: int, found: list[Problem]) -> str:
    name = "" if node is None or not isinstance(node, Scalar) or is_null(node) else node.text
    name = one_line(name)
    if not name:
        found.append(problem("name_missing", node.line if node else line))
    if size(name) > MOST_NAME:
        found.append(problem("name_cut", node.line if node else line, most=MOST_NAME))
    return cut(name, MOST_NAME)


def _description(node: Node | None, line: int, found: list[Problem]) -> str:
    text = "" if node is None or not isinstance(node, Scalar) or is_null(node) else node.text
    text, at = one_line(text), node.line if node else line
    if not text:
        found.append(problem("description_missing", at))
    if size(text) > MOST_DESCRIPTION:
        found.append(problem("description_cut", at, size=size(text), most=MOST_DESCRIPTION))
    return cut(text, MOST_DESCRIPTION)


def _body(body: str, found: list[Problem]) -> str:
    if not body:
        found.append(problem("body_empty"))
    if size(body) > MOST_BODY:
        found.append(problem("body_cut", size=size(body), most=MOST_BODY))
    return cut(body, MOST_BODY)


def _prompt(header: Fields, body: str, found: list[Problem]) -> None:
    """Refuse instructions in the header of a file that has none below it."""
    for key, _ in header.pairs:
        if not body and key.text in {"prompt", "instructions", "system"}:
            found.append(problem("prompt_in_header", key.line))


def _word(key: str, nodes: Mapping[str, Node], found: list[Problem]) -> str:
    """Read a short text that only decorates; "" where it is left out or is none."""
    node = nodes.get(key)
    if node is None:
        return ""
    if is_null(node):
        found.append(problem("value_null", node.line, field=key))
        return ""
    text = one_line(node.text) if isinstance(node, Scalar) else ""
    if not isinstance(node, Scalar) or size(text) > MOST_WORD:
        found.append(problem("value_ignored", node.line, field=key, expected=_TEXT))
        return ""
    return text


def _mode(node: Node | None, found: list[Problem]) -> str:
    """Read `permissionMode`: one that is not known may be a restriction, and drops."""
    if node is None:
        return ""
    if is_null(node):
        found.append(problem("field_null", node.line, field="permissionMode"))
        return ""
    text = node.text.strip() if isinstance(node, Scalar) else "?"
    mode = MODES.get(text.casefold())
    if mode is None:
        found.append(problem("mode_unsupported", node.line))
        return ""
    if mode in _RAISING:
        found.append(problem("mode_raises", node.line))
    return mode


def _count(key: str, nodes: Mapping[str, Node], found: list[Problem]) -> int | None:
    node = nodes.get(key)
    if node is None:
        return None
    text = node.text.strip() if isinstance(node, Scalar) else ""
    if not _COUNT.fullmatch(text) or int(text) < 1:
        found.append(problem("value_ignored", node.line, field=key, expected=_WHOLE))
        return None
    return int(text)


def _skills(node: Node | None, found: list[Problem]) -> tuple[str, ...] | None:
    if node is None:
        return None
    if is_null(node):
        found.append(problem("value_null", node.line, field="skills"))
        return None
    values: Sequence[Node] = node.values if isinstance(node, Items) else (node,)
    texts = [one.text for one in values if isinstance(one, Scalar) and not is_null(one)]
    words = [word for text in texts for word in split_words(text)]
    if len(texts) != len(values) or any(size(word) > MOST_WORD for word in words):
        found.append(problem("value_ignored", node.line, field="skills", expected=_NAMES))
        return None
    if len(words) > MOST_SKILLS:
        found.append(problem("too_many", node.line, field="skills", most=MOST_SKILLS))
    return tuple(dict.fromkeys(words))


def _memory(node: Node | None, found: list[Problem]) -> str:
    if node is None:
        return ""
    text = node.text.strip().casefold() if isinstance(node, Scalar) else "?"
    if is_null(node):
        found.append(problem("value_null", node.line, field="memory"))
    elif text in {"user", "project"}:
        return text
    elif text:
        found.append(problem("memory_unknown", node.line))
    return ""
