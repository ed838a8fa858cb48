"""Reads `mcpServers`: names of configured servers and servers over HTTP; secrets by reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.agents.environment import environment_problems
from domain.agents.files.addresses import Unfit, address_problem
from domain.agents.files.agent_file import HeaderRef, McpServer
from domain.agents.files.caps import MOST_HEADERS, MOST_SERVERS
from domain.agents.files.keys import restricts
from domain.agents.files.nodes import Fields, Scalar, is_null
from domain.agents.files.problems import Problem, problem
from domain.agents.files.tool_lists import split_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from domain.agents.files.nodes import Node

_NAME = re.compile(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_LONGEST_NAME = 64
_HTTP = frozenset({"", "http", "streamable-http", "streamable_http", "streamablehttp"})
_REFERENCE = re.compile(r"(?:([A-Za-z-]+) +)?\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_SCHEMES = frozenset({"api-key", "apikey", "basic", "bearer", "token"})
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_|~-]{1,100}")
_SHAPE = "write names, or entries with name and url"
_UNFIT = {
    Unfit.INVALID: "server_invalid",
    Unfit.SECRET: "server_secret",
    Unfit.EXPOSED: "server_exposed",
}


def read_servers(node: Node, found: list[Problem]) -> tuple[McpServer, ...] | None:
    """Read `mcpServers`; an entry that cannot be used is left out alone."""
    if is_null(node):
        found.append(problem("value_null", node.line, field="mcpServers"))
        return None
    entries = list(_entries(node))
    if len(entries) > MOST_SERVERS:
        found.append(problem("too_many", node.line, field="mcpServers", most=MOST_SERVERS))
        return None
    servers: dict[str, McpServer] = {}
    for place, (name, entry) in enumerate(entries, 1):
        server = _server(name, entry, place, found)
        if server is not None and server.name in servers:
            found.append(problem("server_repeated", entry.line, place=place))
        elif server is not None:
            servers[server.name] = server
    return tuple(servers.values())


def _entries(node: Node) -> Iterator[tuple[str, Node]]:
    """Give each entry, with the name that a mapping of names has for it."""
    if isinstance(node, Scalar):
        yield from (("", Scalar(word, node.line, plain=False)) for word in split_words(node.text))
    elif isinstance(node, Fields):
        yield from ((key.text, value) for key, value in node.pairs)
    else:
        for one in node.values:
            if isinstance(one, Scalar) and not is_null(one):
                yield from _entries(one)
            else:
                yield "", one


def _server(name: str, entry: Node, place: int, found: list[Problem]) -> McpServer | None:
    if isinstance(entry, Scalar) and (not name or is_null(entry) or not entry.text.strip()):
        return _named(name or entry.text, entry, place, found)
    if not isinstance(entry, Fields):
        found.append(problem("server_invalid", entry.line, place=place))
        return None
    if any(restricts(key.text) for key, _ in entry.pairs):
        found.append(problem("server_restricts", entry.line, place=place))
        return None
    parts = {key.text: value for key, value in entry.pairs}
    transports = (_text(parts, "type"), _text(parts, "transport"))
    if "command" in parts or not all(one.casefold() in _HTTP for one in transports):
        found.append(problem("server_local", entry.line, place=place))
        return None
    named = _named(name or _text(parts, "name"), entry, place, found)
    url = _text(parts, "url")
    if named is None or not (url or "headers" in parts):
        return named
    unfit = address_problem(url)  # of headers alone too: a reference has those of its server
    if unfit is not None:
        found.append(problem(_UNFIT[unfit], entry.line, place=place))
        return None
    headers = _headers(parts.get("headers"), named.name, place, found)
    return None if headers is None else McpServer(named.name, url, headers)


def _named(name: str, entry: Node, place: int, found: list[Problem]) -> McpServer | None:
    name = name.strip()
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        found.append(problem("server_invalid", entry.line, place=place))
        return None
    return McpServer(name)


def _text(parts: Mapping[str, Node], key: str) -> str:
    node = parts.get(key)
    if node is None or is_null(node):
        return ""
    return node.text.strip() if isinstance(node, Scalar) else "\0"


def _headers(
    node: Node | None, server: str, place: int, found: list[Problem]
) -> tuple[HeaderRef, ...] | None:
    """Read headers as references; None drops the server, for it would be called without one."""
    if node is None or is_null(node):
        return ()
    if not isinstance(node, Fields) or len(node.pairs) > MOST_HEADERS:
        found.append(problem("header_invalid", node.line, entry=1, place=place))
        return None
    headers: list[HeaderRef] = []
    for entry, (key, value) in enumerate(node.pairs, 1):
        code, header = _header(key.text.strip(), value, server)
        if header is not None and any(_same(header, one) for one in headers):
            code, header = "header_invalid", None
        if code:
            found.append(problem(code, value.line, entry=entry, place=place))
        if header is None:
            return None
        headers.append(header)
    return tuple(headers)


def _same(one: HeaderRef, other: HeaderRef) -> bool:
    return one.name.casefold() == other.name.casefold()


def _header(name: str, value: Node, server: str) -> tuple[str, HeaderRef | None]:
    """Read one header; a value that is written out becomes the reference that it should be."""
    text = value.text.strip() if isinstance(value, Scalar) and not is_null(value) else ""
    if not text or not _HEADER.fullmatch(name):
        return "header_invalid", None
    match = _REFERENCE.fullmatch(text)
    scheme = (match[1] or "") if match else ""
    if match is None or (scheme and scheme.casefold() not in _SCHEMES):
        return "header_secret", HeaderRef(name, "", _variable(f"MCP_{server}_{name}"))
    if environment_problems((match[2],)):
        return "header_forbidden", None
    return "", HeaderRef(name, scheme, match[2])


def _variable(name: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


def references(servers: Sequence[McpServer]) -> tuple[str, ...]:
    """Name the variables that servers need, sorted, each once."""
    return tuple(sorted({header.variable for one in servers for header in one.headers}))
