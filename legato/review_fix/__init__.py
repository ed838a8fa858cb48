"""Review+Fix on a person's own repository: prepared before the run, finished after it."""

from __future__ import annotations

from .finish import Finished, finish, finish_command, finished_json
from .prepare import Asked, Prepared, abandon, begin, prepare

__all__ = [
    "Asked",
    "Finished",
    "Prepared",
    "abandon",
    "begin",
    "finish",
    "finish_command",
    "finished_json",
    "prepare",
]
