"""The servers that a person declares, in `mcp.toml`: where each is and what is vouched for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from domain.agents.environment import environment_problems
from domain.errors import refused
from domain.mcp.address import address_problem, shown_address
from domain.words import on_one_line

HINTED = "hinted"
"""In the place of names: the tools that the server itself says are so."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*")
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
)
_SCHEMES = ("Bearer", "Basic", "Token")
_HTTP = frozenset({"", "http", "streamable-http", "streamable_http", "streamablehttp"})
_KEYS = frozenset({"url", "headers", "timeout", "names", "reads", "repeats", "type", "transport"})
_PROCESS = frozenset({"command", "args", "env", "cwd"})
_LONGEST_NAME = 40
_MOST_SECONDS = 3600.0
_SECONDS = 60.0


@dataclass(frozen=True)
class Secret:
    """A value that only the worker knows, by the name of its environment variable.

    `scheme` stands before it in a header: Bearer, Basic, Token, or "" for nothing.
    """

    name: str
    scheme: str = ""


@dataclass(frozen=True)
class Server:
    """One declared server.

    `url` is where it is, or the name of the variable that says so. `headers` are sent with
    every request. `names` gives tools other names than `mcp__SERVER__TOOL`. `reads` names, by
    patterns, the tools that a person vouches only read, `repeats` those that may be called
    twice without harm. `timeout` is the limit of one call in seconds.
    """

    name: str
    url: str | Secret
    headers: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    reads: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    timeout: float = _SECONDS

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Give everything of it that only the worker knows."""
        held = [*self.headers.values(), self.url]
        return tuple(one for one in held if isinstance(one, Secret))

    @property
    def address(self) -> str:
        """Say where it is, without what may be a secret."""
        return f"${self.url.name}" if isinstance(self.url, Secret) else shown_address(self.url)


@dataclass(frozen=True)
class Declared:
    """All servers of a file by name, and of each that cannot be used what is wrong with it."""

    servers: Mapping[str, Server] = field(default_factory=dict[str, Server])
    problems: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def read_declared(text: str) -> Declared:
    """Read a file's text. What is wrong with the whole file stands under the name ""."""
    try:
        root = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        return Declared(problems={"": (f"it is not TOML: {_placed(exc)}",)})
    except (ValueError, RecursionError):
        return Declared(problems={"": ("it is nested too deeply, or holds a number too long",)})
    problems: dict[str, tuple[str, ...]] = {}
    unknown = sorted(set(root) - {"servers"})
    if unknown:
        problems[""] = (f"it holds {_listed(unknown)}; only [servers.NAME] tables belong there",)
    tables = root.get("servers", {})
    if not isinstance(tables, dict):
        return Declared(problems={"": ("servers is no table; write [servers.NAME]",)})
    servers: dict[str, Server] = {}
    for name, table in cast("dict[str, object]", tables).items():
        server, found = read_server(name, table)
        if server is None:
            problems[name] = tuple(found)
        else:
            servers[name] = server
    return Declared(servers, problems)


def secret_names(declared: Declared) -> frozenset[str]:
    """Name every variable that holds a secret of a server."""
    held = [one for server in declared.servers.values() for one in server.secrets]
    return frozenset(one.name for one in held)


def find_server(declared: Declared, name: str) -> Server:
    """Give a declared server; raises `mcp_server_unknown` and `mcp_server_invalid`."""
    if name in declared.servers:
        return declared.servers[name]
    wrong = declared.problems.get(name) or declared.problems.get("")
    if wrong:
        raise refused(
            "mcp_server_invalid",
            f"the server {name} cannot be used: {'; '.join(wrong)}",
            next="correct mcp.toml in LEGATO_HOME, then `legato mcp list`",
            details={"problems": list(wrong)},
        )
    raise refused(
        "mcp_server_unknown",
        f"no server {name} is declared",
        cause=f"declared are: {', '.join(declared.servers) or 'none'}",
        next=f"declare it in mcp.toml in LEGATO_HOME under [servers.{name}]",
    )


def read_server(name: str, table: object) -> tuple[Server | None, list[str]]:
    """Read one server from its fields; None with everything that is wrong, values never quoted."""
    found: list[str] = []
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        found.append("its name is not made of letters, digits, - and single _, 40 at most")
    if not isinstance(table, dict):
        return None, [*found, "it is no table of fields"]
    fields = cast("dict[str, object]", table)
    found += _shape_problems(fields)
    server = Server(
        name=name,
        url=_url(fields.get("url"), found),
        headers=_headers(fields.get("headers", {}), found),
        names=_names(fields.get("names", {}), found),
        reads=_patterns("reads", fields.get("reads", ()), found),
        repeats=_patterns("repeats", fields.get("repeats", ()), found),
        timeout=_seconds(fields.get("timeout", _SECONDS), found),
    )
    return (None, found) if found else (server, [])


def _placed(exc: tomllib.TOMLDecodeError) -> str:
    """Say where a text is no TOML; the parser's own words may quote it."""
    where = re.search(r"\(at (?:line \d+, column \d+|end of document)\)", str(exc))
    return where[0].strip("()") if where else "somewhere"


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(map(on_one_line, keys))


def _shape_problems(fields: Mapping[str, object]) -> list[str]:
    """Find fields that mean another kind of server, or nothing."""
    found: list[str] = []
    if _PROCESS & fields.keys():
        found.append(
            "it is started by a command (stdio), which Legato does not do: serve it over "
            "Streamable HTTP and name its url"
        )
    kinds = [fields[one] for one in ("type", "transport") if one in fields]
    if any(not isinstance(one, str) or one.lower() not in _HTTP for one in kinds):
        found.append("its transport is not streamable-http, the only one that Legato speaks")
    unknown = sorted(fields.keys() - _KEYS - _PROCESS)
    if unknown:
        found.append(f"it holds fields that mean nothing: {_listed(unknown)}")
    return found


def _url(given: object, found: list[str]) -> str | Secret:
    if isinstance(given, dict):
        return _secret("url", cast("dict[str, object]", given), found)
    if not isinstance(given, str) or not given:
        found.append('it has no url; write url = "https://..."')
        return ""
    problem = address_problem(given)
    if problem:
        found.append(problem)
    return given


def _headers(given: object, found: list[str]) -> dict[str, Secret]:
    if not isinstance(given, dict):
        found.append("its headers are no table")
        return {}
    headers: dict[str, Secret] = {}
    for name, value in cast("dict[str, object]", given).items():
        if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
            found.append(f"{name[:40]!r} is no header that can be set")
        else:
            headers[name] = _secret(f"header {name}", value, found)
    if len({name.lower() for name in headers}) < len(headers):
        found.append("a header is set twice")
    return headers


def _secret(where: str, given: object, found: list[str]) -> Secret:
    """Read a reference to a secret; a literal is refused unseen."""
    fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    name, scheme = fields.get("secret"), fields.get("scheme", "")
    known = fields.keys() <= {"secret", "scheme"} and scheme in ("", *_SCHEMES)
    if not isinstance(name, str) or not _ENVIRONMENT.fullmatch(name) or not known:
        found.append(
            f'{where} must be {{secret = "NAME"}}, NAME being a variable of the worker\'s '
            f"environment; {', '.join(_SCHEMES)} before it is its scheme"
        )
        return Secret("")
    if environment_problems([name]):
        found.append(f"{where} names {name}, which belongs to Legato or to a model's provider")
    return Secret(name, str(scheme))


def _names(given: object, found: list[str]) -> dict[str, str]:
    names = cast("dict[str, object]", given) if isinstance(given, dict) else {"": None}
    if not all(isinstance(value, str) and value for value in names.values()):
        found.append('its names must be a table: names = {tool = "other_name"}')
        return {}
    taken = [str(value) for value in names.values()]
    if len(set(taken)) < len(taken):
        found.append("its names give two tools one name")
    return {tool: str(value) for tool, value in names.items()}


def _patterns(where: str, given: object, found: list[str]) -> tuple[str, ...]:
    values: object = [HINTED] if given == HINTED else given
    if not isinstance(values, list | tuple):
        values = [None]
    listed = cast("list[object]", values)
    if not all(isinstance(one, str) and one for one in listed):
        found.append(f'its {where} must be a list of tools\' names, or "{HINTED}"')
        return ()
    return tuple(str(one) for one in listed)


def _seconds(given: object, found: list[str]) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        given = -1
    if not 0 < given <= _MOST_SECONDS:
        found.append("its timeout must be more than 0 and at most 3600 seconds")
        return _SECONDS
    return float(given)
