"""Reads hooks, short or nested; what could be a guard and is not understood drops the file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import Hook
from domain.agents.files.caps import MOST_HOOKS, size
from domain.agents.files.nodes import Fields, Items, Scalar, is_null
from domain.agents.files.problems import Problem, problem
from domain.agents.files.tool_names import DENIED_ALONG, spelt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.agents.files.nodes import Node

PHASES = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop",
    "TeammateIdle", "TaskCreated", "TaskCompleted",
)  # fmt: skip
"""When a hook may run."""

IDLE = frozenset({"Notification", "PreCompact", "PostCompact", "SessionEnd"})
"""Phases of other programs in which a hook can hold nothing back."""

_OF_TOOLS = frozenset({"PreToolUse", "PostToolUse"})
_PART = re.compile(r"[\w-]+(?:\.?\*)?", re.ASCII)
_LONGEST = 4096
_SHAPE = "write it as `PHASE: command`, one line a phase"
_HARMLESS = frozenset({"type", "command", "timeout", "statusMessage"})


class _UnsupportedError(Exception):
    """A hook that could be a guard and is not understood."""


@dataclass(frozen=True, slots=True)
class _Place:
    phase: str
    place: int
    line: int


def read_hooks(node: Node, found: list[Problem]) -> tuple[Hook, ...] | None:
    """Read `hooks`; what may be a guard and cannot be kept as one drops the definition."""
    if is_null(node):
        found.append(problem("field_null", node.line, field="hooks"))
        return None
    if not isinstance(node, Fields):
        found.append(problem("field_invalid", node.line, field="hooks", expected=_SHAPE))
        return None
    hooks: list[Hook] = []
    for n, (key, value) in enumerate(node.pairs, 1):
        at = _Place(key.text.strip(), n, key.line)
        try:
            hooks += _phase(at, value, found)
        except _UnsupportedError:
            found.append(problem("hook_unsupported", at.line, place=at.place))
    if len(hooks) > MOST_HOOKS:
        found.append(problem("too_many", node.line, field="hooks", most=MOST_HOOKS))
    return tuple(hooks)


def _phase(at: _Place, value: Node, found: list[Problem]) -> Iterator[Hook]:
    blank = isinstance(value, Scalar) and not is_null(value) and not value.text.strip()
    if blank or not at.phase:
        found.append(problem("hook_blank", at.line, place=at.place))
    elif at.phase in IDLE:
        found.append(problem("hook_idle", at.line, place=at.place))
    elif at.phase not in PHASES:
        raise _UnsupportedError
    elif isinstance(value, Scalar):
        yield Hook(at.phase, _command(value))
    elif isinstance(value, Items):
        for one in value.values:
            yield from _group(at.phase, one)
    else:
        raise _UnsupportedError


def _group(phase: str, node: Node) -> Iterator[Hook]:
    """Read one entry of the nested form: an optional matcher with commands below it."""
    parts = _parts(node)
    if not parts.keys() <= {"matcher", "hooks"}:
        raise _UnsupportedError
    matcher = _matcher(phase, parts.get("matcher"))
    inner = parts.get("hooks")
    if not isinstance(inner, Items):
        raise _UnsupportedError
    for one in inner.values:
        hook = _parts(one)
        kind = hook.get("type")
        is_command = isinstance(kind, Scalar) and kind.text == "command"
        if not is_command or not hook.keys() <= _HARMLESS or "command" not in hook:
            raise _UnsupportedError
        yield Hook(phase, _command(hook["command"]), matcher)


def _parts(node: Node) -> Mapping[str, Node]:
    if not isinstance(node, Fields):
        raise _UnsupportedError
    parts = {key.text: value for key, value in node.pairs}
    if len(parts) != len(node.pairs):
        raise _UnsupportedError
    return parts


def _command(node: Node) -> str:
    command = node.text.strip() if isinstance(node, Scalar) and not is_null(node) else ""
    if not command or size(command) > _LONGEST or "\0" in command:
        raise _UnsupportedError
    return command


def _matcher(phase: str, node: Node | None) -> str:
    """Read which tools a hook is for, by their names here, as rules with `|` between them."""
    if node is None or is_null(node):
        return ""
    if not isinstance(node, Scalar):
        raise _UnsupportedError
    text = node.text.strip()
    if text in {"", "*", ".*"}:
        return ""
    parts = [part.strip() for part in text.split("|")]
    if phase not in _OF_TOOLS or size(text) > _LONGEST or not all(map(_PART.fullmatch, parts)):
        raise _UnsupportedError
    rules: list[str] = []
    for part in parts:
        rules += [spelt(part.replace(".*", "*")), *DENIED_ALONG.get(part.casefold(), ())]
    return "|".join(dict.fromkeys(rules))
