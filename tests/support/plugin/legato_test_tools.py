"""Plug-in tools that misbehave on purpose, each in one way, for tests of the engine."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from domain.ports import Executed, Tool, ToolReturn
from domain.tools.registry import Effect, Writes, tool_spec
from domain.tools.results import Outcome, Tag, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import Execute, ToolContext

_LONGEST: Final = 120.0
"""Nothing here outlives a test by more seconds than this."""

_LATE: Final = 12.0
"""So many seconds beyond its limit nobody waits for a call any more."""

BAD_TEXT: Final = "nul \x00, escape \x1b[31m, bell \x07, lone \ud800, bidi \u202e, end"


def count_once(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Append one line at an outside counter, wait, then do as `then` says."""
    counter = Path(str(arguments["path"]))
    with counter.open("a", encoding="utf-8") as stream:
        stream.write(f"{arguments['text']}\n")
        stream.flush()
        os.fsync(stream.fileno())
    context.stop.wait(cast("float", arguments.get("sleep_seconds", 0)))
    match arguments.get("then"):
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(_LONGEST)
        case "dawdle":
            time.sleep(context.limit + _LATE)
        case "raise":
            message = "raised after the effect"
            raise RuntimeError(message)
        case "raise_first" if len(counter.read_text(encoding="utf-8").splitlines()) == 1:
            message = "raised after the first effect"
            raise RuntimeError(message)
        case _:
            pass
    return Executed(ok(f"counted {arguments['text']}"))


def raise_always(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Raise what no tool should raise."""
    message = f"call {context.call_id} with {len(arguments)} arguments was never going to work"
    raise RuntimeError(message)


def hang_read(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Block, deaf to `context.stop`."""
    seconds = min(cast("float", arguments["seconds"]), _LONGEST)
    time.sleep(seconds)
    return Executed(ok(f"{context.call_id} hung for {seconds} seconds"))


def fork_children(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Fork children that sleep on, holding every open file of the worker."""
    pids: list[int] = []
    for _ in range(cast("int", arguments["count"])):
        pid = os.fork()
        if pid == 0:
            time.sleep(_LONGEST)
            os._exit(0)
        pids.append(pid)
    return Executed(ok(json.dumps({"call": context.call_id, "pids": pids})))


def big_result(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Return exactly that many characters, in lines of 80."""
    size = cast("int", arguments["bytes"])
    line = f"{context.run_id} ".ljust(79, "x")[:79] + "\n"
    return Executed(ok((line * (size // 80 + 1))[:size]))


def bad_text(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Return text that no store and no terminal likes; see BAD_TEXT."""
    text = f"{context.call_id} {len(arguments)}: {BAD_TEXT}"
    return Executed(Outcome.model_construct(tag=Tag.OK, code="", text=text, changed=()))


def tell_secrets(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Say a secret of the environment in every way but by a result, and raise with it."""
    del arguments, context
    secret = os.environ.get("TOLD_BY_TOOLS", "")
    print(secret)  # noqa: T201 - what is tried
    sys.stderr.write(f"{secret}\n")
    echo = 'echo "$TOLD_BY_TOOLS"; echo "$TOLD_BY_TOOLS" >&2'
    subprocess.run(["/bin/sh", "-c", echo], check=True)
    logging.getLogger("told").error("it says %s", secret)
    logging.getLogger("told").error(f"it says {secret}")  # noqa: G004 - what is tried
    warnings.warn(secret, stacklevel=1)
    threading.Thread(target=_raise_with, args=(secret,), name=secret).start()
    _raise_with(secret)
    return Executed(ok(""))


def _raise_with(secret: str) -> None:
    """Raise an error whose text, arguments, notes, cause, group and local names hold a secret."""
    told = {secret: secret}
    cause = KeyError(secret, told)
    cause.add_note(secret)
    error = ExceptionGroup(secret, [ValueError(secret), OSError(5, secret, secret)])
    error.add_note(secret)
    raise error from cause


def gives_nothing(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Return what no tool may return."""
    del arguments, context
    return cast("ToolReturn", None)


def exits(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Try to end the process that runs it."""
    del arguments, context
    sys.exit(3)


def _schema(required: Mapping[str, object], **optional: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def _read(
    name: str, description: str, execute: Execute, timeout: float = 30.0, **arguments: object
) -> Tool:
    spec = tool_spec(
        name,
        description,
        _schema(arguments),
        effect=Effect.READ,
        writes=Writes.NOTHING,
        timeout=timeout,
    )
    return Tool(spec, execute)


def _count(name: str, timeout: float) -> Tool:
    spec = tool_spec(
        name,
        f"Append one line of text to the file at path, then do as `then` says ({timeout:.0f} s).",
        _schema(
            {"path": {"type": "string"}, "text": {"type": "string"}},
            sleep_seconds={"type": "number", "minimum": 0, "maximum": _LONGEST},
            then={"enum": ["dawdle", "die", "hang", "raise", "raise_first"]},
        ),
        effect=Effect.ONCE,
        writes=Writes.LASTING,
        timeout=timeout,
        resource="counter",
    )
    return Tool(spec, count_once)


_SECONDS: Final = {"type": "number", "minimum": 0}

TOOLS: Final[tuple[Tool, ...]] = (
    _count("count_once", 30.0),
    _count("count_briefly", 2.0),
    _read("raise_always", "Raise an exception.", raise_always),
    _read("hang_read", "Block for a number of seconds.", hang_read, seconds=_SECONDS),
    _read("hang_briefly", "Block, for one second at most.", hang_read, 1.0, seconds=_SECONDS),
    _read(
        "fork_children",
        "Fork children that sleep.",
        fork_children,
        count={"type": "integer", "minimum": 0, "maximum": 20},
    ),
    _read(
        "big_result",
        "Return that many characters.",
        big_result,
        bytes={"type": "integer", "minimum": 0, "maximum": 50_000_000},
    ),
    _read("tell_secrets", "Print, log and raise what is secret.", tell_secrets),
    Tool(
        tool_spec(
            "tell_secrets_once",
            "The same, as an effect of which nobody can know whether it took place.",
            _schema({}),
            effect=Effect.ONCE,
            writes=Writes.LASTING,
            timeout=30.0,
            resource="counter",
        ),
        tell_secrets,
    ),
    _read("exits", "Try to end the worker.", exits),
    _read("gives_nothing", "Return nothing at all.", gives_nothing),
    _read("bad_text", "Return text with NUL, a lone surrogate and control characters.", bad_text),
)
"""What the entry point gives."""
