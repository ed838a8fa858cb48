"""Agent files of GitHub Copilot (`.agent.md`, `.chatmode.md`), whose fields and tools differ."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.files.front_matter import Split, split
from domain.agents.files.keys import key_problem
from domain.agents.files.nodes import Fields, Items, Node, Scalar, is_null
from domain.agents.imported.draft import (
    Draft,
    drafted,
    left_open,
    list_pair,
    lost_draft,
    problem_row,
    row,
    stood,
    text_pair,
)
from domain.agents.imported.loss import Became, FieldReport, Given, tools_became
from domain.agents.imported.plan_step import shown_field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.files.nodes import ReadYaml

_READ, _SEARCH = ("read_file",), ("search_files", "list_files")
_EDIT, _RUN = ("edit_file", "write_file"), ("shell",)
TOOLS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "read": _READ,
        "readfile": _READ,
        "read/readfile": _READ,
        "codebase": _SEARCH,
        "search": _SEARCH,
        "search/codebase": _SEARCH,
        "search/textsearch": ("search_files",),
        "textsearch": ("search_files",),
        "search/filesearch": ("list_files",),
        "filesearch": ("list_files",),
        "search/listdirectory": ("list_files",),
        "listdirectory": ("list_files",),
        "edit": _EDIT,
        "editfiles": _EDIT,
        "edit/editfiles": _EDIT,
        "edit/createfile": ("write_file",),
        "createfile": ("write_file",),
        "execute": _RUN,
        "shell": _RUN,
        "bash": _RUN,
        "runcommands": _RUN,
        "runinterminal": _RUN,
        "execute/runinterminal": _RUN,
        "runcommands/runinterminal": _RUN,
    }
)
"""What Copilot calls tools of ours, in lower case."""

_SETS = frozenset(
    {"agent", "browser", "edit", "execute", "new", "read", "runcommands", "runnotebooks"}
    | {"runtasks", "search", "todo", "vscode", "web"}
)
"""The first half of names that are Copilot's own and no server's."""

_SERVER_TOOL = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})/([A-Za-z0-9_][A-Za-z0-9_.-]{0,63}|\*)"
)
_ASK = frozenset({"ask", "plan"})
_NOTES = frozenset(
    {
        "agents",
        "argument-hint",
        "handoffs",
        "icon",
        "metadata",
        "target",
        "user-invocable",
        "version",
    }
)
_UNCALLABLE = frozenset({"disable-model-invocation", "infer"})


def copilot_draft(data: bytes, name: str, read_yaml: ReadYaml) -> Draft:
    """Make a draft of a file's bytes; `name` is the file's, without its endings."""
    try:
        parts = split(data.decode("utf-8"))
    except UnicodeDecodeError:
        return lost_draft(name, "not_text", "the file is no UTF-8 text")
    if not isinstance(parts, Split):
        return Draft(name, None, (problem_row("", parts),))
    read = read_yaml(parts.header, parts.first_line)
    if not isinstance(read, Fields):
        return lost_draft(name, "header_unreadable", f"the header breaks at line {read.line}")
    pairs: list[tuple[Scalar, Node]] = []
    rows: list[FieldReport] = []
    for key, node in read.pairs:
        more, told = _field(key, node)
        pairs += more
        rows += told
    there = {key.text for key, _ in pairs}
    if "name" not in there:
        pairs.insert(0, text_pair("name", name))
        rows.append(_from_file(read))
    header = Fields(tuple(pairs), read.line)
    return drafted(name, header, parts.body, [*rows, *left_open(header)], parts.found)


def _from_file(read: Fields) -> FieldReport:
    named: list[Given] = [stood(node) for key, node in read.pairs if key.text == "name"]
    given: Given = named[0] if named else "absent"
    return FieldReport(
        field="name",
        given=given,
        became=Became.DEFAULTED,
        code="name_of_file",
        says="the file's name is the agent's",
    )


def _field(key: Scalar, node: Node) -> tuple[list[tuple[Scalar, Node]], list[FieldReport]]:
    """Give what a field is here, and what became of it."""
    name = key.text
    if name == "tools" and not is_null(node):
        return _tools(key, node)
    if name == "mode":
        return _mode(key, node)
    if name == "mcp-servers":
        says = "those that speak Streamable HTTP are kept"
        told = row(name, node, Became.TRANSFORMED, "renamed", says)
        return [(Scalar("mcpServers", key.line), node)], [told]
    if name in {"name", "description", "tools"}:
        if stood(node) == "empty" and name == "name":
            return [], []
        return [(key, node)], [row(name, node, Became.MAPPED, "kept", "it is kept")]
    return [], [_dropped(key, node)]


def _closed(name: str, node: Node) -> bool:
    """Tell whether a field keeps other agents from calling this one."""
    word = node.text.strip().casefold() if isinstance(node, Scalar) else ""
    return word == ("false" if name == "infer" else "true")


def _dropped(key: Scalar, node: Node) -> FieldReport:
    name = key.text
    if name == "model":
        says = "Copilot's names of models are not a provider's"
        return row(name, node, Became.DROPPED, "model_unknown", says, step="name it with `model:`")
    if name in _UNCALLABLE and _closed(name, node):
        says = "whether other agents may call it is not a file's to say here"
        widens = ("delegation",)
        return row(name, node, Became.DROPPED, "calls_open", says, widens=widens, person=True)
    wrong = key_problem(name, key.line)
    if wrong is not None:
        return problem_row(shown_field(name), wrong, stood(node))
    code = "without_effect" if name in _NOTES | _UNCALLABLE else "field_unknown"
    return row(shown_field(name), node, Became.DROPPED, code, "no agent file has such a field")


def _mode(key: Scalar, node: Node) -> tuple[list[tuple[Scalar, Node]], list[FieldReport]]:
    """Read the mode of a chat: the one that only asks changes nothing."""
    word = node.text.strip().casefold() if isinstance(node, Scalar) else "?"
    if word in _ASK:
        told = row("mode", node, Became.TRANSFORMED, "renamed", "it changes nothing: plan")
        return [text_pair("permissionMode", "plan", key.line)], [told]
    if word in {"agent", "edit"}:
        says = "the profile of the call counts"
        return [], [row("mode", node, Became.DEFAULTED, "left_open", says)]
    says = "it could be a restriction that Legato does not know"
    told = row("mode", node, Became.REFUSED, "mode_unknown", says, step="remove it", person=True)
    return [], [told]


def _tools(key: Scalar, node: Node) -> tuple[list[tuple[Scalar, Node]], list[FieldReport]]:
    """Read the tools; what is none of ours narrows, and never leaves the list open."""
    if isinstance(node, Scalar):
        words = [word for word in node.text.split(",") if word.strip()]
        node = Items(tuple(Scalar(word, node.line, plain=False) for word in words), node.line)
    if not isinstance(node, Items) or not all(isinstance(one, Scalar) for one in node.values):
        return [(key, node)], []
    written = [one.text.strip() for one in node.values if isinstance(one, Scalar)]
    if "*" in written:
        says = "every tool: those of the call"
        return [], [row("tools", node, Became.TRANSFORMED, "renamed", says)]
    names: list[str] = []
    rows: list[FieldReport] = []
    for n, text in enumerate(written):
        found = _tool(text)
        names += found
        if not found:
            says = "nothing here does what it did"
            rows.append(
                row(
                    f"tools[{n}]",
                    node.values[n],
                    Became.DROPPED,
                    "tool_without_twin",
                    says,
                    step="take it out, or name what should stand for it",
                    narrows=("tools",),
                    person=True,
                )
            )
    ours = tuple(dict.fromkeys(names))
    says = tools_became(len(written), len(ours))
    told = row("tools", node, Became.TRANSFORMED, "renamed", says)
    return [list_pair("tools", ours, key.line)], [told, *rows]


def _tool(text: str) -> tuple[str, ...]:
    """Read a name of Copilot's, or `SERVER/TOOL` of an MCP server."""
    ours = TOOLS.get(text.casefold())
    if ours is not None:
        return ours
    server = _SERVER_TOOL.fullmatch(text)
    if server is None or server[1].casefold() in _SETS:
        return ()
    return (f"mcp__{server[1]}__{server[2]}",)
