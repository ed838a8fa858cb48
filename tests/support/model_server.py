"""A model provider on this machine: real HTTP, programmed answers, every request recorded."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support import model_wire as wire
from tests.support.gemini_wire import GEMINI
from tests.support.model_faults import Spoiled
from tests.support.model_wire import Says

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from starlette.requests import Request


@dataclass(frozen=True)
class Refuses:
    """An HTTP error: `kind` is the provider's own word for it, `message` its body's text."""

    status: int
    kind: str = "server_error"
    message: str = "it went wrong"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class HalfStream:
    """An answer that stops before its end: closed cleanly, or in the middle of a chunk."""

    says: Says
    broken: bool = False


@dataclass(frozen=True)
class BreaksDown:
    """An answer that begins and is then ended by the provider's own error in the stream."""

    says: Says
    refuses: Refuses


@dataclass(frozen=True)
class BadJson:
    """A success whose body is not what was asked for."""

    text: str = "event: message_start\ndata: {this is not json\n\n"
    media_type: str = "text/event-stream"


@dataclass(frozen=True)
class Silence:
    """An answer whose text comes, and then nothing more until the client leaves."""

    says: Says = field(default_factory=lambda: Says("Let me "))


@dataclass(frozen=True)
class Stalls:
    """A connection that is taken, and then nothing at all until the client leaves."""


@dataclass(frozen=True)
class Drips:
    """An answer that comes one byte at a time, `pause` seconds apart."""

    says: Says
    pause: float = 0.0


Streamed: TypeAlias = Says | HalfStream | BreaksDown | Silence | Drips | Spoiled
Behaviour: TypeAlias = Streamed | Refuses | BadJson | Stalls


@dataclass
class Recorded:
    """One request, `at` a moment; `left` is set where the client closed before the answer."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    left: threading.Event = field(default_factory=threading.Event)
    at: float = field(default_factory=time.monotonic)


@dataclass
class ModelServer:
    """A running server: `queue` is played once each, then `default` answers for ever."""

    port: int
    queue: deque[Behaviour] = field(default_factory=deque[Behaviour])
    requests: list[Recorded] = field(default_factory=list[Recorded])
    default: Behaviour = field(default_factory=lambda: Says("Done."))

    @property
    def calls(self) -> int:
        """How many HTTP requests have arrived."""
        return len(self.requests)

    @property
    def openai_url(self) -> str:
        """The base address of chat completions."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base address of messages."""
        return f"http://127.0.0.1:{self.port}"

    def name_of(self, provider: str) -> str:
        """Name the model of a provider, or of any compatible one, at this server."""
        names = {
            "openai": f"openai:gpt-4o@{self.openai_url}",
            "anthropic": f"anthropic:claude-sonnet-4-6@{self.anthropic_url}",
            "google": f"google:gemini-2.5-flash@{self.anthropic_url}",
            "compatible": f"{self.openai_url}#local",
        }
        return names[provider]

    def plays(self, *behaviours: Behaviour) -> None:
        """Add to what the next requests get."""
        self.queue.extend(behaviours)

    def next(self) -> Behaviour:
        """Take what this request gets."""
        return self.queue.popleft() if self.queue else self.default


@contextmanager
def model_server() -> Generator[ModelServer]:
    """Run a server in a thread until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    state = ModelServer(port=listener.getsockname()[1])
    config = uvicorn.Config(
        _app(state), log_level="critical", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert time.monotonic() < deadline, "the model server did not start"
        time.sleep(0.01)
    try:
        yield state
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()


def _app(state: ModelServer) -> Starlette:
    async def chat(request: Request) -> Response:
        return await _answer(state, request, wire.OPENAI)

    async def messages(request: Request) -> Response:
        return await _answer(state, request, wire.ANTHROPIC)

    async def gemini(request: Request) -> Response:
        return await _answer(state, request, GEMINI)

    return Starlette(
        routes=[
            Route("/v1beta/models/{call:path}", gemini, methods=["POST"]),
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/messages", messages, methods=["POST"]),
        ]
    )


async def _answer(state: ModelServer, request: Request, dialect: wire.Dialect) -> Response:
    body: dict[str, Any] = json.loads(await request.body())
    recorded = Recorded(request.url.path, dict(request.headers), body)
    state.requests.append(recorded)
    behaviour = state.next()
    if isinstance(behaviour, Refuses):
        failure = dialect.failure(behaviour.status, behaviour.kind, behaviour.message)
        return JSONResponse(failure, behaviour.status, headers=dict(behaviour.headers))
    if isinstance(behaviour, Stalls):
        await _until_left(request, recorded)
        return Response(status_code=500)
    if isinstance(behaviour, BadJson):
        return Response(behaviour.text, media_type=behaviour.media_type)
    model = str(body.get("model", "gemini-2.5-flash"))
    if isinstance(behaviour, Says) and not (body.get("stream") or "stream" in request.url.path):
        return JSONResponse(dialect.whole(behaviour, model))
    events = _watched(_events(behaviour, dialect, model), recorded)
    return StreamingResponse(events, media_type="text/event-stream")


async def _watched(events: AsyncIterator[str], recorded: Recorded) -> AsyncIterator[str]:
    """Note the client's leaving: the server then closes what it was sending."""
    try:
        async for event in events:
            yield event
    except (asyncio.CancelledError, GeneratorExit):
        recorded.left.set()
        raise


async def _until_left(request: Request, recorded: Recorded) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    recorded.left.set()


async def _whole(
    behaviour: Says | Drips | Spoiled, dialect: wire.Dialect, model: str
) -> AsyncIterator[str]:
    says = behaviour if isinstance(behaviour, Says) else behaviour.says
    events = dialect.stream(says, model)
    pause = says.pause
    if isinstance(behaviour, Drips):
        events, pause = list("".join(events)), behaviour.pause
    if isinstance(behaviour, Spoiled):
        events = behaviour.spoil(events)
    for event in events:
        if pause:
            await asyncio.sleep(pause)
        yield event


async def _events(behaviour: Streamed, dialect: wire.Dialect, model: str) -> AsyncIterator[str]:
    if isinstance(behaviour, Says | Drips | Spoiled):
        async for event in _whole(behaviour, dialect, model):
            yield event
        return
    for event in dialect.beginning(behaviour.says, model):
        yield event
    if isinstance(behaviour, Silence):
        await asyncio.sleep(3600)
    if isinstance(behaviour, BreaksDown):
        error = behaviour.refuses
        yield wire.sse(dialect.failure(error.status, error.kind, error.message), "error")
    if isinstance(behaviour, HalfStream) and behaviour.broken:
        message = "the connection is cut here"
        raise ConnectionAbortedError(message)
