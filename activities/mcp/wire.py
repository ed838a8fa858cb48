"""The HTTP under the client: secrets to the server alone, bounded, and what became of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from domain.mcp.address import address_problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from activities.mcp.servers import Opened

MOST_RECEIVED = 20_000_000
"""Bytes of one answer that are read."""

CONNECT = 10.0
"""Seconds until a server must have taken the connection."""

_KINDS = ("application/json", "text/event-stream")
_BEFORE_SENDING = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass
class Trace:
    """What the wire knows of one connection: whether the call left, and how it was answered.

    `calling` is set when the next request is the call itself; `sent` once it may have reached
    the server. `status` is that of the answer to it, or to the last request before it, and
    `readable` tells whether that was of a kind that MCP speaks. `problem` is why the wire
    itself refused something.
    """

    calling: bool = False
    sent: bool = False
    status: int = 0
    readable: bool = False
    problem: str = ""


class _Bounded(httpx2.AsyncByteStream):
    """An answer's bytes, up to what is read."""

    def __init__(self, inner: httpx2.AsyncByteStream, trace: Trace) -> None:
        self._inner = inner
        self._trace = trace

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for piece in self._inner:
            total += len(piece)
            if total > MOST_RECEIVED:
                self._trace.problem = f"its answer has more than {MOST_RECEIVED} bytes"
                raise httpx2.ReadError(self._trace.problem)
            yield piece

    async def aclose(self) -> None:
        """Close what is read from."""
        await self._inner.aclose()


class Wire(httpx2.AsyncBaseTransport):
    """Sends to fit addresses only, whoever asks: also what a redirect or a library makes up."""

    def __init__(self, trace: Trace, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        self._trace = trace
        self._inner = inner or httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and note what becomes of it."""
        trace = self._trace
        problem = address_problem(str(request.url), from_secret=True)
        if problem:
            trace.problem = problem
            raise httpx2.ConnectError(problem)
        is_call = trace.calling and request.method == "POST"
        before, trace.sent = trace.sent, trace.sent or is_call
        if is_call:
            trace.status, trace.readable = 0, False
        try:
            response = await self._inner.handle_async_request(request)
        except _BEFORE_SENDING:
            trace.sent = before
            raise
        if is_call or not trace.sent:
            trace.status = response.status_code
            kind = response.headers.get("content-type", "").lower()
            trace.readable = kind.startswith(_KINDS)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            trace.problem = "it compresses its answer, which was not asked for"
            await response.aclose()
            raise httpx2.ReadError(trace.problem)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, trace)
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()


def http_client(opened: Opened, trace: Trace, limit: float) -> httpx2.AsyncClient:
    """Make the client of one server.

    It takes no proxy, netrc or cookie of the surroundings, and follows no redirect by itself;
    the SDK follows those within the server's own origin. `limit` is in seconds.
    """
    return httpx2.AsyncClient(
        transport=Wire(trace),
        headers={**opened.headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(limit, connect=min(CONNECT, limit)),
        trust_env=False,
        follow_redirects=False,
    )
