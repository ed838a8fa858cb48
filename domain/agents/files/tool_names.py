"""Names of tools in agent files: what others call them, what they are here, what they match."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.roles import ROLES
from domain.tools.registry import INTRINSIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KNOWN = frozenset(name for role in ROLES.values() for name in role.surface) | frozenset(INTRINSIC)
"""Every tool that Legato brings itself."""

ALIASES: Mapping[str, str] = MappingProxyType({
    "askuserquestion": "ask_human",
    "bash": "shell",
    "edit": "edit_file",
    "glob": "list_files",
    "grep": "search_files",
    "ls": "list_files",
    "multiedit": "edit_file",
    "read": "read_file",
    "shell": "shell",
    "skill": "read_skill",
    "write": "write_file",
})  # fmt: skip
"""What Claude Code and its like call a tool of ours, in lower case."""

DENIED_ALONG: Mapping[str, tuple[str, ...]] = MappingProxyType({"write": ("delete_file",)})
"""Tools that others do not have apart: whoever denies writing there means these too."""

DELEGATING = frozenset({"agent", "parallel", "subagent", "task", "toolsearch"})
"""Tools that start or find other agents; a named agent never has them."""

ELSEWHERE = frozenset({
    "bashoutput", "enterplanmode", "exitplanmode", "killbash", "killshell", "listmcpresources",
    "lsp", "monitor", "notebookedit", "notebookread", "readmcpresource", "sendmessage",
    "slashcommand", "taskcreate", "taskget", "tasklist", "taskoutput", "taskstop", "taskupdate",
    "todoread", "todowrite", "webfetch", "websearch",
})  # fmt: skip
"""Tools that other programs have and Legato has not: denying one is already so."""

_MCP = "mcp__"


def is_known(name: str, more: frozenset[str] = frozenset()) -> bool:
    """Tell whether a name is of a tool that is known here, by whichever spelling."""
    folded = name.casefold()
    plain = name in KNOWN or name in more or name.startswith(_MCP)
    return plain or folded in ALIASES or folded in DELEGATING or folded in ELSEWHERE


def spelt(name: str) -> str:
    """Give the name or pattern that a written name stands for here.

    `mcp__x` alone means all tools of the server x.
    """
    if name.startswith(_MCP) and "__" not in name[len(_MCP) :] and "*" not in name:
        return f"{name}__*"
    return name if name in KNOWN else ALIASES.get(name.casefold(), name)


def matches(rule: str, name: str) -> bool:
    """Tell whether a rule of an allow or a deny list covers a tool; only `*` is a wildcard."""
    if "*" not in rule:
        return rule == name
    first, *middle, last = rule.split("*")
    if not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return at <= end


@dataclass(frozen=True, slots=True)
class Scope:
    """The tools that a definition leaves of those offered, and its rules that met none."""

    tools: tuple[str, ...]
    unmatched: tuple[str, ...] = ()
    unmatched_denials: tuple[str, ...] = ()


def scope(
    allowed: Sequence[str] | None, denied: Sequence[str] | None, offered: Sequence[str]
) -> Scope:
    """Narrow the tools that a call offers: allow list, deny list, then no delegation.

    `allowed` None keeps all. Nothing is added that was not offered. Sorted, each once.
    """
    deny = tuple(denied or ())
    chosen = {
        name
        for name in offered
        if (allowed is None or any(matches(rule, name) for rule in allowed))
        and not any(matches(rule, name) for rule in deny)
        and name.casefold().replace("_", "") not in DELEGATING
    }
    return Scope(
        tuple(sorted(chosen)),
        _idle(allowed or (), offered),
        _idle(deny, offered),
    )


def _idle(rules: Sequence[str], offered: Sequence[str]) -> tuple[str, ...]:
    return tuple(rule for rule in rules if not any(matches(rule, name) for name in offered))
