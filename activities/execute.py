"""Runs one call on a thread of its own, within its limit, and says what it came to."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import structlog

from activities.context import is_stop
from domain.errors import LegatoError
from domain.ports import Absent, Asks, Executed, Tool, ToolContext, Unclear
from domain.tools.registry import Effect
from domain.tools.results import Outcome, error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.codec import Json

T = TypeVar("T")

MOST_STORED = 10_000_000
"""Bytes of a result's text that are kept; of a longer one, its beginning and its end."""

MARGIN = 5.0
"""Seconds beyond its own limit in which a tool may still answer for itself."""

STOP_GRACE = 2.5
"""Seconds in which a tool that was told to stop must have ended."""

log = structlog.get_logger()


@dataclass(frozen=True)
class Hung:
    """The thread did not end in time; it is left behind."""

    stopped: bool


@dataclass(frozen=True)
class Raised:
    """The tool raised something other than a refusal; its text stays in the worker's log."""

    type_name: str


Came: TypeAlias = Executed | Asks | Unclear | Absent | Hung | Raised


async def on_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Start work on a daemon thread of its own: one that hangs holds nothing up."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, failed: BaseException | None) -> None:
        if future.done():
            return
        if failed is not None:
            future.set_exception(failed)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # None only where T allows it

    def body() -> None:
        result: T | None = None
        failed: BaseException | None = None
        try:
            result = work()
        except BaseException as exc:  # noqa: BLE001 - whatever a tool raises is an outcome
            failed = _harmless(exc)
        try:
            loop.call_soon_threadsafe(settle, result, failed)
        except RuntimeError:
            return  # the loop is gone: the process is ending

    threading.Thread(target=body, name="tool", daemon=True).start()
    return future


def _harmless(exc: BaseException) -> Exception:
    """Give what tool code raised as an error that no event loop takes for an order to end."""
    if isinstance(exc, Exception) and not isinstance(exc, StopIteration):
        return exc
    return RuntimeError(f"the tool ended with {type(exc).__name__}")


async def run_limited(
    work: Callable[[], Came],
    limit: float,
    stop: threading.Event,
    left: Callable[[asyncio.Future[Came]], object] = lambda _: None,
) -> Came:
    """Run tool code within its limit; a person's stop is passed on and awaited.

    Any other cancellation is raised: the worker is shutting down, or Temporal has given
    this execution up, and nothing is decided then. `left` is given what is left behind,
    done once it has ended after all.
    """
    future = await on_thread(work)
    stopped = False
    try:
        done, _ = await asyncio.wait({future}, timeout=limit + MARGIN)
    except asyncio.CancelledError:
        if not is_stop():
            left(future)
            raise
        stopped, done = True, set[asyncio.Future[Came]]()
    if not done:
        stop.set()
        done, _ = await asyncio.wait({future}, timeout=STOP_GRACE)
    if not done:
        left(future)
        return Hung(stopped)
    return taken(future)


def taken(future: asyncio.Future[Came]) -> Came:
    """Say what tool code that has ended came to."""
    try:
        return _sound(future.result())
    except LegatoError as exc:
        return Executed(refusal(exc))
    except Exception as exc:
        log.warning("tool_raised", error=type(exc).__name__, exc_info=exc)
        return Raised(type(exc).__name__)


def _sound(came: object) -> Came:
    """Take what tool code gave, checked again; raises where it is nothing that a tool may give."""
    match came:
        case Executed(outcome=Outcome() as outcome):
            return replace(came, outcome=Outcome.model_validate(outcome.model_dump()))
        case Asks() | Unclear() | Absent():
            return came
        case _:
            message = f"a tool gave {type(came).__name__}"
            raise TypeError(message)


def refusal(exc: LegatoError) -> Outcome:
    """Turn a refusal into the outcome that the model reads: what, why, what next."""
    parts = [exc.message]
    parts += [f"Cause: {exc.cause}"] if exc.cause else []
    parts += [f"Next: {exc.next}"] if exc.next else []
    return error(exc.code, "\n".join(parts))


async def execute(
    tool: Tool,
    arguments: Mapping[str, Json],
    context: ToolContext,
    stop: threading.Event,
    left: Callable[[asyncio.Future[Came]], object] = lambda _: None,
) -> Came:
    """Execute a call; `left` is given the execution where it is left behind."""
    return await run_limited(
        lambda: kept(tool.execute(arguments, context)), context.limit, stop, left
    )


async def probe(
    tool: Tool, arguments: Mapping[str, Json], context: ToolContext, stop: threading.Event
) -> Came:
    """Look for what became of an earlier execution of the call."""
    looking = tool.probe
    if looking is None:
        return Unclear("the tool cannot be probed")
    return await run_limited(lambda: kept(looking(arguments, context)), context.limit, stop)


def kept(came: Came) -> Came:
    """Cut a result to what the ledger keeps; the text says what was cut, and where."""
    if not isinstance(came, Executed) or len(came.outcome.text) * 4 <= MOST_STORED:
        return came
    data = came.outcome.text.encode("utf-8", "replace")
    if len(data) <= MOST_STORED:
        return came
    half = MOST_STORED // 2
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    note = f"[... {len(data) - 2 * half} of {len(data)} bytes are not kept: too large ...]"
    outcome = came.outcome.model_copy(update={"text": f"{head}\n{note}\n{tail}"})
    return replace(came, outcome=outcome)


def read_outcome(came: Came, name: str) -> Outcome:
    """Say what a call that only reads came to: it always has an outcome."""
    match came:
        case Executed():
            return came.outcome
        case Hung():
            code = "stopped" if came.stopped else "time_limit"
            return error(code, f"{name} did not end in time and was left. Ask for less at once.")
        case Raised():
            return raised(name, came)
        case Unclear():
            return error("unclear", came.reason)
        case Asks() | Absent():
            return error("tool_broken", f"{name} gave an answer that its class does not allow.")


def repeatable_outcome(came: Hung | Raised, name: str) -> Outcome:
    """Say what a call came to that broke or hung, where a second one does no harm."""
    outcome = read_outcome(came, name)
    more = "Whether it took effect is not known. Calling it again does no harm."
    return outcome.model_copy(update={"text": f"{outcome.text} {more}"})


def raised(name: str, came: Raised) -> Outcome:
    """Say that a tool broke."""
    return error(
        "tool_raised",
        f"{name} broke with {came.type_name}; the worker's log has the details. "
        "Calling it the same way again will most likely break again.",
    )


def acts_again(effect: Effect) -> bool:
    """Tell whether a second execution under the same key is harmless."""
    return effect in {Effect.READ, Effect.IDEMPOTENT}
