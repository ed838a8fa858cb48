"""A real MCP server of the SDK's: it keeps what reached it, and breaks when it is told to."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def asks(self) -> str:
        """The protocol's own name of what is asked, "" for none."""
        try:
            return str(json.loads(self.body).get("method", ""))
        except ValueError:
            return ""


@dataclass
class McpHost:
    """The server under a test's control.

    `seen` is what reached it, `posted` the effects it has had. `breaks` says what becomes of the
    next calls: `drop` has the effect and closes the connection, `hang` never answers, `elsewhere`
    redirects, a number is an HTTP status; `lists` the same of everything before a call.
    """

    server: MCPServer
    url: str = ""
    seen: list[Seen] = field(default_factory=list[Seen])
    posted: list[str] = field(default_factory=list[str])
    breaks: str | int = ""
    lists: str | int = ""
    elsewhere: str = ""

    def asked(self, what: str) -> list[Seen]:
        """Give the requests that asked for one thing."""
        return [one for one in self.seen if one.asks == what]

    def describe(self, tool: str, description: str) -> None:
        """Change what the server says of a tool."""
        self.server.remove_tool(tool)
        self.server.add_tool(_tools(self)[tool], name=tool, description=description)


def _tools(host: McpHost) -> dict[str, Any]:
    def look_up(word: str) -> str:
        return f"{word} means {word}"

    def post(text: str) -> str:
        host.posted.append(text)
        return "posted"

    def fail(text: str) -> str:
        raise ToolError(text)

    def echo_headers() -> str:
        return json.dumps(host.seen[-1].headers)

    def much(lines: int) -> str:
        return "\n".join(f"line {n}" for n in range(lines))

    async def slow(seconds: float) -> str:
        host.posted.append("slow")
        await anyio.sleep(seconds)
        return "slept"

    return {
        "look_up": look_up, "post": post, "fail": fail, "echo_headers": echo_headers,
        "much": much, "slow": slow,
    }  # fmt: skip


class _Door:
    """Keeps every request, and breaks those that are to be broken."""

    def __init__(self, app: ASGIApp, host: McpHost) -> None:
        self._app = app
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        names = cast("list[tuple[bytes, bytes]]", scope["headers"])
        headers = {name.decode(): value.decode("latin-1") for name, value in names}
        one = Seen(scope["method"], scope["path"], headers, body)
        self._host.seen.append(one)
        how = self._host.breaks if one.asks == "tools/call" else self._host.lists
        if how == "drop":
            await self._app(scope, _again(body), _nowhere)
            message = "the connection breaks here"
            raise ConnectionError(message)
        if how == "hang":
            await anyio.sleep(60)
        elif how == "elsewhere":
            await _answer(send, 307, {"location": self._host.elsewhere})
        elif isinstance(how, int):
            await _answer(send, how, {})
        else:
            await self._app(scope, _again(body), send)


async def _body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body


def _again(body: bytes) -> Receive:
    """Give a body once more; then nobody leaves."""
    given = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        for message in given:
            return message
        await anyio.sleep(60)
        return {"type": "http.disconnect"}

    return receive


async def _nowhere(_message: Message) -> None:
    await anyio.lowlevel.checkpoint()


async def _answer(send: Send, status: int, headers: dict[str, str]) -> None:
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": b""})


def make_host() -> McpHost:
    """Make a server with tools of every kind."""
    host = McpHost(MCPServer("issues", log_level="CRITICAL"))
    hints = {"look_up": ToolAnnotations(read_only_hint=True)}
    for name, function in _tools(host).items():
        host.server.add_tool(
            function, name=name, description=f"Does {name}.", annotations=hints.get(name)
        )
    return host


def serve(host: McpHost, port: int = 0) -> uvicorn.Server:
    """Make what serves a host on a port of this machine, and give the host its address."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    host.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    app = _Door(host.server.streamable_http_app(), host)
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    return server


@contextmanager
def mcp_host() -> Generator[McpHost]:
    """Serve a host while a test lasts."""
    host = make_host()
    server = serve(host)
    give_up = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < give_up, "the MCP server does not start"
        time.sleep(0.01)
    try:
        yield host
    finally:
        server.should_exit = True
