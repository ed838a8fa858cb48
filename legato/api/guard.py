"""Lets in who holds the home's token, from this machine's own pages and programs only."""

from __future__ import annotations

import hmac
import os
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp

from domain.errors import refused, rule_of, to_json

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

    from domain.errors import LegatoError

OPEN = frozenset({"/health"})
"""What anybody may ask: it tells nothing of any run."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class Guard:
    """Checks the host asked for, the page that asks, and the token, before anything else.

    A page of another site reaches a local port through the browser of whoever visits it:
    the names of the host and of the page's origin give it away.
    """

    app: ASGIApp
    token: str
    hosts: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        problem = self._problem(str(scope["path"]), Headers(scope=scope))
        if problem is None:
            await self.app(scope, receive, send)
        else:
            await error_response(problem)(scope, receive, send)

    def _problem(self, path: str, headers: Headers) -> LegatoError | None:
        if _host(f"//{headers.get('host', '')}") not in self.hosts:
            return refused(
                "host_not_allowed",
                "this address is not one under which Legato answers",
                cause=f"it answers as {', '.join(sorted(self.hosts))}",
                next="ask for the address that `legato status` shows",
            )
        origin = headers.get("origin")
        if origin is not None and _host(origin) not in self.hosts:
            return refused(
                "origin_not_allowed",
                "a page of another site asked",
                next="ask from a program, or from a page of this address",
            )
        if path in OPEN:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        good = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if kind.lower() == "bearer" and good:
            return None
        return refused(
            "token_missing" if not given else "token_wrong",
            "the request carries no token of this home",
            next="send `Authorization: Bearer TOKEN` with the text of api_token in LEGATO_HOME",
        )


def error_response(error: LegatoError) -> JSONResponse:
    """Answer with an error, as JSON, under the status of its code."""
    return JSONResponse(to_json(error), rule_of(error.code, error.kind).http)


def read_token(home: Path) -> str:
    """Read the home's token, made at the first time; the file is its owner's alone."""
    path = home / "api_token"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    token = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token)
    return token


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
