"""What a killed supervisor left running: found by the state file, ended before a start."""

from __future__ import annotations

import signal
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias

from . import postgres, temporal, worker
from .processes import ProcessId, command_line, end, is_alive

if TYPE_CHECKING:
    from .state import StackState

SUPERVISOR_MODULE = "legato.embedded.supervisor"

_KILL = (signal.SIGKILL, 5.0)
_Signals: TypeAlias = tuple[tuple[signal.Signals, float], ...]

# Reverse order of the start: each with a word that its command line must hold, and how it
# is ended. A worker and Temporal lose nothing by SIGKILL; Postgres would have to recover.
_PARTS: tuple[tuple[str, str, _Signals], ...] = (
    (worker.NAME, "workers", (_KILL,)),
    (temporal.NAME, "temporal", (_KILL,)),
    (postgres.NAME, "postgres", ((signal.SIGINT, 8.0), _KILL)),
)
_SUPERVISOR: _Signals = ((signal.SIGTERM, 20.0), _KILL)


async def end_leftovers(state: StackState) -> tuple[str, ...]:
    """End the processes that this state names and that still are what it says they are.

    The pid, the start time and the command line must all fit. To be called by the
    holder of the home's lock. The result names the parts that were ended.
    """
    found = [(SUPERVISOR_MODULE, SUPERVISOR_MODULE, _SUPERVISOR, state.supervisor)]
    for name, word, signals in _PARTS:
        process = state.part(name).process
        if process is not None:
            found.append((name, word, signals, process))
    return tuple(
        [name for name, word, signals, process in found if await _end_if(process, word, signals)]
    )


async def _end_if(process: ProcessId, word: str, signals: _Signals) -> bool:
    if not is_alive(process):
        return False
    if word not in {PurePath(argument).name for argument in command_line(process.pid)}:
        return False
    await end(process, signals)
    return True
