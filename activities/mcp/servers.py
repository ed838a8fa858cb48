"""What the worker gives the client of MCP servers: what is declared, and the secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.errors import LegatoError, refused
from domain.mcp.address import address_problem
from domain.mcp.declared import Declared, Secret, Server

HIDDEN_FROM = 4
"""Characters from which on a secret is struck from what a server says."""


@dataclass(frozen=True)
class Servers:
    """`declared` reads what is declared now, `secret` one variable at the moment of its use."""

    declared: Callable[[], Declared] = Declared
    secret: Callable[[str], str | None] = lambda _name: None


@dataclass(frozen=True, repr=False)
class Opened:
    """A server with its secrets in place: it lives for one call and is printed nowhere.

    `hidden` gives, for each value that must be seen nowhere, what stands in its place.
    """

    server: Server
    url: str
    headers: dict[str, str]
    hidden: tuple[tuple[str, str], ...]

    def struck(self, text: str) -> str:
        """Strike every secret from a text that a server gave."""
        for value, instead in self.hidden:
            text = text.replace(value, instead)
        return text


def open_server(servers: Servers, server: Server) -> Opened:
    """Put the secrets in place; raises `mcp_secret_missing`, `mcp_secret_unfit`, `mcp_url_unfit`.

    No error holds a value.
    """
    values = {one.name: servers.secret(one.name) or "" for one in server.secrets}
    missing = sorted(name for name, value in values.items() if not value)
    if missing:
        raise refused(
            "mcp_secret_missing",
            f"{', '.join(missing)} is not set here, and the server {server.name} is not asked "
            "without",
            next="set it in the environment of `legato up`, and of `legato mcp check`; then "
            "`legato down` and `legato up`",
        )
    unfit = sorted(name for name, value in values.items() if not _is_fit(value))
    if unfit:
        raise refused(
            "mcp_secret_unfit",
            f"{', '.join(unfit)} holds a line break, or characters that are not ASCII",
            next="set it to the secret alone, without quotes or line breaks",
        )
    url = values[server.url.name] if isinstance(server.url, Secret) else server.url
    problem = address_problem(url, from_secret=isinstance(server.url, Secret))
    if problem:
        raise _unfit_address(server, problem)
    headers = {
        name: f"{one.scheme} {values[one.name]}".strip() for name, one in server.headers.items()
    }
    return Opened(server, url, headers, _hidden(values))


def _hidden(values: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Say what is struck and what stands instead: values as they are and as JSON writes them."""
    forms = {
        form: f"[{name}]"
        for name, value in values.items()
        for form in (value, json.dumps(value)[1:-1], urlsplit(value).path if "/" in value else "")
        if len(form) >= HIDDEN_FROM
    }
    return tuple(sorted(forms.items(), key=lambda item: -len(item[0])))


def _is_fit(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _unfit_address(server: Server, problem: str) -> LegatoError:
    return refused(
        "mcp_url_unfit",
        f"the server {server.name} cannot be used: {problem}",
        next="correct its url in mcp.toml, or the variable that holds it",
    )
