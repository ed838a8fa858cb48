"""The scripted model: a YAML file read, and its steps played over real time."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from domain.errors import refused
from domain.ports import Disposition, ModelFailure
from domain.runs.script import (
    Script,
    parse_script,
    play,
    script_invalid,
    script_step,
    scripted_failure,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.ports import Model, ModelAnswer, ModelRequest
    from domain.runs.script import ScriptStep

_PIECES = 5

_failures: dict[tuple[str, int], int] = {}
"""How often each step of each file has failed in this process since it last answered."""


def read_script(path: str) -> Script:
    """Read and check a script; raises `script_unreadable` and `script_invalid`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise refused(
            "script_unreadable",
            f"the script {path} cannot be read: {why}",
            cause=str(why),
            next="name an existing YAML file after `script:`",
        ) from None
    return _parsed(text, path)


@lru_cache(maxsize=16)
def _parsed(text: str, path: str) -> Script:
    """Parse a script once for all requests that find the same text in the file."""
    try:
        document: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise script_invalid(path, [f"it is not YAML: {' '.join(str(error).split())}"]) from None
    return parse_script(document, path)


def scripted_model(script: Script, source: str) -> Model:
    """Give the model that plays a script; `source` names it where failures are counted."""

    async def ask(request: ModelRequest, on_text: Callable[[str], None]) -> ModelAnswer:
        step = script_step(script, request.ordinal)
        answer = play(script, request)
        failure = _due(step, source, request.ordinal)
        await _speak(failure.partial if failure else answer.text, step.delay_seconds, on_text)
        if failure is not None:
            raise failure
        return answer

    return ask


def _due(step: ScriptStep, source: str, ordinal: int) -> ModelFailure | None:
    """Count one request of a step that fails; None once it is to be answered."""
    if step.fail is None:
        return None
    failed = _failures.pop((source, ordinal), 0)
    if step.answers and failed >= step.fail.times:
        return None
    if step.fail.disposition is not Disposition.REFUSE:
        _failures[source, ordinal] = failed + 1
    return scripted_failure(step.fail)


async def _speak(text: str, seconds: float, on_text: Callable[[str], None]) -> None:
    """Hand over the text, in a few pieces where it is to take time."""
    if seconds <= 0:
        if text:
            on_text(text)
        return
    size = -(-len(text) // _PIECES)
    for number in range(_PIECES):
        await asyncio.sleep(seconds / _PIECES)
        piece = text[number * size : (number + 1) * size]
        if piece:
            on_text(piece)
