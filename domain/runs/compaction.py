"""Where a conversation that is too long is cut, what stays word for word, and what is summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.runs.conversation import AssistantMessage, Message, ToolMessage, UserMessage
from domain.runs.run import open_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from domain.runs.run import Run
    from domain.runs.transcript import Mark, Transcript

KEPT_SHARE = 3
"""The newest steps stay as they are while they hold at most one of so many parts of the bytes."""

TOLD_SHARE = 0.4
"""The part of the old bytes that whoever sums up is told at most: all of them were too many."""

LEAST_TOLD, MOST_TOLD = 160, 6000
"""Characters of one message that are told at least, and at most."""

MOST_RECORDED = 8000
"""Characters of a summary that no model wrote."""

INSTRUCTIONS = """\
You sum up the beginning of a conversation between a user and an agent that works with tools, so \
that the agent can go on without it. Keep what is still needed: what was asked, decisions and \
their reasons, what was found and where (paths, names, numbers), what was changed, what failed and \
why, what is left to do. Write plain sentences, no greeting and no advice, at most 600 words."""


@dataclass(frozen=True)
class Cut:
    """A cut behind a whole step: `old` is left out, `kept` names what of it stays.

    `turn` and `step` are those of the last step that is left out, 0 and 0 where only
    earlier runs of the session are.
    """

    turn: int
    step: int
    old: tuple[Message, ...]
    kept: tuple[str, ...]


def plan_cut(transcript: Transcript, turn: int) -> Cut | None:
    """Choose where to cut; None where nothing lies before the step that is being taken.

    What was said to the agent in the running turn stays word for word, and so does every
    call whose effect nobody can tell.
    """
    through = _through(transcript)
    if through is None:
        return None
    count = transcript.count_through(*through)
    old = transcript.messages[:count]
    marks = transcript.marks[:count]
    kept = [
        mark.name
        for message, mark in zip(old, marks, strict=True)
        if mark.name and _stays(message, mark, transcript.run, turn)
    ]
    return Cut(*through, tuple(old), tuple(kept))


def _through(transcript: Transcript) -> tuple[int, int] | None:
    """Give the last step to leave out: as many of the newest stay as fit into their share."""
    places = sorted(
        {
            (mark.turn, mark.step) if mark.run == transcript.run else (0, 0)
            for message, mark in zip(transcript.messages, transcript.marks, strict=True)
            if isinstance(message, AssistantMessage)
        }
    )
    if not places:
        return None
    sizes = [len(one) for one in transcript.encoded]
    room = sum(sizes) / KEPT_SHARE
    for place in places:
        if sum(sizes[transcript.count_through(*place) :]) <= room:
            return place
    return places[-1]


def _stays(message: Message, mark: Mark, run: int, turn: int) -> bool:
    said = isinstance(message, UserMessage) and (mark.run, mark.turn) == (run, turn)
    return said or mark.unknown


def told_of(old: Sequence[Message], most: int) -> str:
    """Render messages for whoever sums them up, in at most `most` characters."""
    each = MOST_TOLD
    while each > LEAST_TOLD and sum(min(each, _size(one)) for one in old) > most:
        each //= 2
    text = "\n\n".join(line for one in old for line in _told(one, each))
    if len(text) <= most:
        return text
    half = max(0, most - 40) // 2
    return f"{text[:half]}\n\n[... left out ...]\n\n{text[len(text) - half :]}"


def _size(message: Message) -> int:
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    return len(message.text) + sum(len(call.name) + len(call.arguments) for call in calls) + 20


def _told(message: Message, each: int) -> Iterator[str]:
    match message:
        case UserMessage():
            yield f"user: {_cut(message.text, each)}"
        case AssistantMessage():
            if message.text:
                yield f"agent: {_cut(message.text, each)}"
            for call in message.calls:
                yield f"agent calls {call.name}: {_cut(call.arguments, each)}"
        case ToolMessage():
            yield f"result of {message.name}: {_cut(message.text, each)}"


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters ...] {text[-half:]}"


def recorded_summary(old: Sequence[Message]) -> str:
    """Sum up without a model: who said what, cut short."""
    return told_of(old, MOST_RECORDED)


def still_open(run: Run) -> str:
    """Say word for word what a person is still asked, and of which calls nobody can tell."""
    asked = [f"open question: {question.text}" for question in open_inputs(run)]
    calls = [
        f"unknown effect of {one.name} ({one.turn}.{one.step}.{one.position}): {one.reason}"
        for one in run.unknown
    ]
    return "\n".join((*asked, *calls))
