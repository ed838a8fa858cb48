"""Runs one call of a server's tool, and says of every end of it what is known of the effect."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, cast

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT, InputRequiredResult

from activities.mcp.ask import call, connected, offered
from activities.mcp.content import outcome_of
from activities.mcp.servers import Opened, open_server
from activities.mcp.wire import CONNECT, Trace
from domain.agents.profile import require_writer
from domain.mcp.bring import server_of
from domain.mcp.declared import find_server
from domain.ports import Executed, Tool, Unclear
from domain.tools.registry import Effect, Writes
from domain.tools.results import Outcome, error

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from activities.mcp.servers import Servers
    from domain.codec import Json
    from domain.ports import StopSignal, ToolContext, ToolReturn
    from domain.tools.registry import ToolSpec

LOOK = 0.1
"""Seconds between two looks at whether the call must end."""

_CLOSING = 1.0
_MOST_SAID = 2000
_NO_ANSWER = frozenset({CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT})
"""Codes by which the SDK itself says that it has no answer."""

_REFUSALS = frozenset({307, 308, *range(400, 500)} - {408})
"""By these a server says that it has not begun a call; 408 does not say so."""

_OK = 200


@dataclass
class Talk:
    """What has come of one conversation with a server so far."""

    opened: Opened
    trace: Trace = field(default_factory=Trace)
    outcome: Outcome | None = None
    failed: BaseException | None = None
    ended: str = ""


def remote_tool(servers: Servers, spec: ToolSpec) -> Tool:
    """Bind the contract of a server's tool to what calls it."""
    return Tool(spec, partial(_execute, servers, spec))


def _execute(
    servers: Servers, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext
) -> ToolReturn:
    """Call the tool; raises what makes the server unfit to be asked, before anything is sent."""
    if spec.writes is Writes.LASTING:
        require_writer(context.claim, spec.name)
    talk = Talk(open_server(servers, find_server(servers.declared(), server_of(spec))))
    converse(talk, _call(talk, spec, arguments, context), context.limit, context.stop)
    if talk.outcome is not None:
        return Executed(talk.outcome)
    return _unanswered(spec, talk)


async def _call(
    talk: Talk, spec: ToolSpec, arguments: Mapping[str, Json], context: ToolContext
) -> None:
    """Compare the live tool with the accepted one, then call it, once, whatever happens."""
    async with connected(talk.opened, talk.trace, context.limit) as session:
        live = await offered(session, talk.opened, spec.remote)
        if not live or live[0].hash != spec.accepted:
            talk.outcome = _changed(spec, gone=not live)
            return
        talk.trace.calling = True
        result = await call(session, spec.remote, arguments, context.call_id)
        if isinstance(result, InputRequiredResult):
            talk.outcome = _asks(spec)
            return
        said = outcome_of(result)
        talk.outcome = said.model_copy(update={"text": talk.opened.struck(said.text)})


def converse(
    talk: Talk, work: Coroutine[object, object, None], limit: float, stop: StopSignal | None = None
) -> None:
    """Run a conversation on a loop of its own, within its limit; how it failed stands in `talk`.

    The loop is closed without waiting for what cannot be cancelled, such as a name's look-up.
    """
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(_watched(talk, work, time.monotonic() + limit, stop))
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _watched(
    talk: Talk,
    work: Coroutine[object, object, None],
    deadline: float,
    stop: StopSignal | None,
) -> None:
    task = asyncio.ensure_future(work)
    while not task.done() and talk.outcome is None:
        left = deadline - time.monotonic()
        if left <= 0 or (stop is not None and stop.is_set()):
            talk.ended = "time_limit" if left <= 0 else "stopped"
            break
        await asyncio.wait({task}, timeout=min(LOOK, left))
    if not task.done() and talk.outcome is not None:
        await asyncio.wait({task}, timeout=_CLOSING)
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_CLOSING)
    if task.done() and not task.cancelled():
        talk.failed = task.exception()


def _changed(spec: ToolSpec, *, gone: bool) -> Outcome:
    server = server_of(spec)
    what = "is no longer offered" if gone else "is not what a person accepted any more"
    return error(
        "tool_changed",
        f"{spec.name} was not run: on the server {server} it {what}.\n"
        f"Next: go on without it. `legato mcp check {server}` shows a person the difference; "
        f"after `legato mcp accept {server}` a new run has it as it is then.",
    )


def _asks(spec: ToolSpec) -> Outcome:
    return error(
        "server_asks",
        f"{spec.name} was not completed: the server {server_of(spec)} wants to ask its user "
        "something in the middle of the call, which is not possible here. Go on without it.",
    )


def _unanswered(spec: ToolSpec, talk: Talk) -> ToolReturn:
    """Say what became of a call without a result, from what is known of the wire."""
    server, trace = server_of(spec), talk.trace
    found = protocol_error(talk.failed)
    said = f" It says: {talk.opened.struck(found.message)[:_MOST_SAID]}" if found else ""
    if not trace.sent:
        if talk.ended == "stopped":
            return Executed(error("stopped", f"{spec.name} was stopped before it was sent."))
        return Executed(unavailable(talk))
    if trace.status in _REFUSALS:
        text = f"{spec.name} was refused by the server {server} (HTTP {trace.status}).{said}"
        return Executed(error("server_refused", text))
    if found and found.code not in _NO_ANSWER and trace.status == _OK and trace.readable:
        return Executed(error("tool_failed", f"{spec.name} failed.{said}"))
    why = _why_no_answer(server, talk)
    if spec.effect in {Effect.READ, Effect.IDEMPOTENT}:
        code = talk.ended or "server_unavailable"
        return Executed(error(code, f"{spec.name} has no result: {why}. Calling it again is safe."))
    return Unclear(why)


def _why_no_answer(server: str, talk: Talk) -> str:
    if talk.ended == "stopped":
        return f"it was stopped while the server {server} was at work"
    if talk.ended == "time_limit":
        return f"the server {server} did not answer within the call's limit"
    if talk.trace.problem:
        return f"the server {server} was asked, and {talk.trace.problem}"
    if talk.trace.status and talk.trace.status != _OK:
        return f"the server {server} was asked, and answered HTTP {talk.trace.status}"
    return f"the server {server} was asked, and the connection ended without an answer"


def unavailable(talk: Talk) -> Outcome:
    """Blame the server for what could not be asked of it; nothing was sent that has an effect."""
    server, status = talk.opened.server, talk.trace.status
    if status in {401, 403}:
        names = ", ".join(sorted({one.name for one in server.headers.values()}))
        step = f"a person checks {names} where the worker is started"
        step = step if names else "a person declares the header that it wants"
        text = f"The server {server.name} refuses Legato (HTTP {status}).\nNext: {step}; go on "
        return error("server_refused", f"{text}without its tools.")
    text = (
        f"The server {server.name} cannot be used now: {_why_unasked(talk)}. Other names would "
        "not help: it is the server that is missing.\n"
        f"Next: go on without its tools, or say so; `legato mcp check {server.name}` tells a "
        "person whether it is back."
    )
    return error("server_unavailable", text)


def _why_unasked(talk: Talk) -> str:
    trace = talk.trace
    if trace.problem:
        return trace.problem
    if talk.ended == "time_limit" or _has(talk.failed, httpx2.TimeoutException):
        slow = _has(talk.failed, httpx2.ConnectTimeout)
        return f"it took no connection within {CONNECT:.0f} s" if slow else "it does not answer"
    if _has(talk.failed, httpx2.ConnectError):
        return "it cannot be reached"
    if trace.status in range(300, 400):
        return f"it redirects to another place (HTTP {trace.status}), which is not followed"
    if trace.status and trace.status != _OK:
        return f"it answers HTTP {trace.status}"
    if _has(talk.failed, ValueError):
        return "its list of tools cannot be read"
    return "it ended the connection, or does not speak MCP"


def protocol_error(failed: BaseException | None) -> MCPError | None:
    """Find the protocol's error in what the SDK raised, within groups."""
    return next((one for one in _leaves(failed) if isinstance(one, MCPError)), None)


def _has(failed: BaseException | None, kind: type[BaseException]) -> bool:
    return any(isinstance(one, kind) for one in _leaves(failed))


def _leaves(failed: BaseException | None) -> list[BaseException]:
    if failed is None:
        return []
    if isinstance(failed, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", failed)
        return [leaf for one in group.exceptions for leaf in _leaves(one)]
    return [failed]
