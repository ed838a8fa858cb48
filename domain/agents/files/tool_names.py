"""Names of tools in agent files: what others call them, what they are here, what they match."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.surfaces import EVERYDAY, REPAIRING, REVIEWING

if TYPE_CHECKING:
    from collections.abc import Mapping

INTRINSIC = frozenset({"call_tool", "get_api_spec", "read_result", "read_skill"})
"""The registry's, written out again so that a check of files loads no schemas; a test compares."""

KNOWN = INTRINSIC.union(EVERYDAY, REVIEWING, REPAIRING)
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
