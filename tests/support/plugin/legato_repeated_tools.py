"""Plug-in tools that are safe to repeat, and misbehave each time, for tests of the engine."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from domain.ports import Executed, Tool, ToolReturn
from domain.tools.registry import Effect, Writes, tool_spec
from domain.tools.results import ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import ToolContext

_LONGEST: Final = 60.0
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "then": {"enum": ["die", "hang", "raise"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def count(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Append one line at an outside counter, then do as `then` says; deaf to a stop."""
    with Path(str(arguments["path"])).open("a", encoding="utf-8") as stream:
        stream.write(f"{context.call_id}\n")
        stream.flush()
        os.fsync(stream.fileno())
    match arguments.get("then"):
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            time.sleep(_LONGEST)
        case "raise":
            message = "raised after the effect"
            raise RuntimeError(message)
        case _:
            pass
    return Executed(ok("counted"))


TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        tool_spec(
            "count_again",
            "Append one line to the file at path, then do as `then` says.",
            _SCHEMA,
            effect=Effect.IDEMPOTENT,
            writes=Writes.LASTING,
            timeout=1.0,
        ),
        count,
    ),
    Tool(
        tool_spec(
            "count_reading",
            "Look at path, leaving a line there for the test, then do as `then` says.",
            _SCHEMA,
            effect=Effect.READ,
            writes=Writes.NOTHING,
            timeout=1.0,
        ),
        count,
    ),
)
"""What the entry point gives."""
