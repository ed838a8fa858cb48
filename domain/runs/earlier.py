"""What a run's earlier steps asked for and got, and how arguments quote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from domain.ports import Disposition, ModelFailure
from domain.runs.conversation import AssistantMessage, CallRequest, Message, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.codec import Json

_QUOTE = re.compile(r"\{\{\s*(?:result\.(-?\d+)(?:\.([A-Za-z_][\w-]*))?|(ordinal))\s*\}\}")
_CAPTURE_KEYS = {"step", "call", "regex"}


@dataclass(frozen=True)
class Taken:
    """One step that was taken: the calls it asked for and their results, in order."""

    text: str
    calls: tuple[CallRequest, ...]
    results: tuple[ToolMessage, ...]


@dataclass(frozen=True)
class Earlier:
    """The steps of one pass that are in view; `first` is the ordinal the pass began at."""

    ordinal: int
    first: int
    steps: dict[int, Taken]

    @property
    def results(self) -> list[ToolMessage]:
        """All results of the pass, oldest first."""
        return [result for _, taken in sorted(self.steps.items()) for result in taken.results]


def taken_steps(messages: Sequence[Message], ordinal: int, first: int = 0) -> Earlier:
    """Read the run's own steps off a conversation, by ordinal from `first` on.

    A conversation may begin with other runs' messages and lose its oldest to compaction,
    so that steps are counted back from the newest.
    """
    steps: dict[int, Taken] = {}
    number = ordinal
    for index in range(len(messages) - 1, -1, -1):
        if number <= first:
            break
        message = messages[index]
        if isinstance(message, AssistantMessage):
            number -= 1
            following = messages[index + 1 : index + 1 + len(message.calls)]
            results = tuple(m for m in following if isinstance(m, ToolMessage))
            steps[number] = Taken(message.text, message.calls, results)
    return Earlier(ordinal, first, dict(sorted(steps.items())))


def quoted(value: Json, earlier: Earlier) -> Json:
    """Fill in what arguments quote; raises ModelFailure `quote_unresolved`.

    `{{result.N}}` is the text of the pass's N-th result (negative counts from the end),
    `{{result.N.NAME}}` the word after `NAME: ` in it, `{{ordinal}}` the number of the step,
    `{"from": {"step", "call", "regex"}}` what a pattern captures in one call's result.
    """
    if isinstance(value, str):
        return _QUOTE.sub(lambda match: _inline(match, earlier), value)
    if isinstance(value, (list, tuple)):
        return [quoted(item, earlier) for item in value]
    if isinstance(value, dict):
        capture = capture_of(value)
        if capture is not None:
            return _captured(capture, earlier)
        return {name: quoted(item, earlier) for name, item in value.items()}
    return value


def capture_of(value: dict[str, Json]) -> dict[str, Json] | None:
    """Give the capture that an object stands for, None where it is an ordinary object."""
    inner = value.get("from")
    if set(value) != {"from"} or not isinstance(inner, dict):
        return None
    return inner if {"step", "regex"} <= set(inner) <= _CAPTURE_KEYS else None


def quote_problems(value: Json, step: int) -> list[str]:
    """List what is wrong with the quotes in the arguments of one step, before any is played."""
    if isinstance(value, (list, tuple)):
        return [problem for item in value for problem in quote_problems(item, step)]
    if not isinstance(value, dict):
        return []
    capture = capture_of(value)
    if capture is None:
        return [problem for item in value.values() for problem in quote_problems(item, step)]
    found: list[str] = []
    number = capture["step"]
    if not isinstance(number, int) or not 0 <= number < step:
        found.append(f"quotes step {number!r}, which is not an earlier step")
    if not isinstance(capture.get("call", 0), int):
        found.append("quotes a call that is not a number")
    try:
        re.compile(cast("str", capture["regex"]))
    except (re.error, TypeError):
        found.append(f"quotes with {capture['regex']!r}, which is not a regular expression")
    return found


def _inline(match: re.Match[str], earlier: Earlier) -> str:
    number, label, _ = match.groups()
    if number is None:
        return str(earlier.ordinal)
    index, results = int(number), earlier.results
    if index >= 0 and earlier.first < earlier.ordinal and earlier.first not in earlier.steps:
        raise _unresolved(match.group(), "the first step is no longer in view")
    if not -len(results) <= index < len(results):
        raise _unresolved(match.group(), f"there are {len(results)} results so far")
    text = results[index].text
    if label is None:
        return text
    return _first(rf"(?<![\w-]){re.escape(label)}: ([^\s(),;]+)", text, match.group())


def _captured(capture: dict[str, Json], earlier: Earlier) -> str:
    step, call = cast("int", capture["step"]), cast("int", capture.get("call", 0))
    taken = earlier.steps.get(earlier.first + step)
    what = f"step {step}, call {call}"
    if taken is None or not 0 <= call < len(taken.results):
        raise _unresolved(what, "there is no such result")
    return _first(cast("str", capture["regex"]), taken.results[call].text, what)


def _first(pattern: str, text: str, what: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise _unresolved(what, f"{pattern!r} is not found in {text[:200]!r}")
    return match.group(1) if match.re.groups else match.group()


def _unresolved(what: str, why: str) -> ModelFailure:
    return ModelFailure(
        "quote_unresolved",
        f"arguments quote {what} and {why}",
        Disposition.REFUSE,
        next="correct the quote, or the step that it quotes",
    )
