"""Answers that are odd on the wire: each takes a good stream's events and spoils them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.support.model_wire import Call, Object, Says, sse

Spoil: TypeAlias = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Spoiled:
    """A whole answer whose events are changed by `spoil` before they are sent."""

    spoil: Spoil
    says: Says = field(default_factory=lambda: Says("All is well."))


CALL = Says(calls=(Call("look", '{"path": "a"}'),))


def edited(edit: Callable[[Object], object]) -> Spoil:
    """Change each event's data in place; one for which False is given is left out."""

    def spoil(events: list[str]) -> list[str]:
        return [made for event in events if (made := _edited(event, edit))]

    return spoil


def _edited(event: str, edit: Callable[[Object], object]) -> str:
    lines = dict(line.split(": ", 1) for line in event.splitlines() if line)
    if not lines.get("data", "").startswith("{"):
        return event
    data: Object = json.loads(lines["data"])
    return "" if edit(data) is False else sse(data, lines.get("event", ""))


def _choices(data: Object) -> list[Object]:
    return data.get("choices") or []


def _candidates(data: Object) -> list[Object]:
    return data.get("candidates") or []


def _no_choices(data: Object) -> object:
    data["choices"] = []
    return data.get("type") not in {"content_block_start", "content_block_delta"} and (
        data.get("type") != "content_block_stop"
    )


def _no_usage(data: Object) -> None:
    data.pop("usage", None)
    if "message" in data:
        data["message"].pop("usage", None)
    data.pop("usageMetadata", None)


def _null_content(data: Object) -> object:
    for choice in _choices(data):
        choice["delta"]["content"] = None
    for candidate in _candidates(data):
        candidate["content"] = None
    return not str(data.get("type", "")).startswith("content_block")


def _object_arguments(data: Object) -> None:
    for choice in _choices(data):
        calls: list[Object] = choice["delta"].get("tool_calls") or []
        for call in calls:
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    delta: Object = data.get("delta") or {}
    if delta.get("type") == "input_json_delta":
        delta["partial_json"] = json.loads(delta["partial_json"])


def finishing(reason: str | None) -> Spoil:
    """End with this reason, whatever was said."""

    def edit(data: Object) -> None:
        for choice in _choices(data):
            if choice.get("finish_reason"):
                choice["finish_reason"] = reason
        if data.get("type") == "message_delta":
            data["delta"]["stop_reason"] = reason
        for candidate in _candidates(data):
            if "finishReason" in candidate:
                candidate["finishReason"] = reason

    return edited(edit)


def with_comments(events: list[str]) -> list[str]:
    """Put comments and keep-alives between the events."""
    return [part for event in events for part in (": keep-alive\n\n", ":\n", event)]


def with_crlf(events: list[str]) -> list[str]:
    """End lines as Windows does."""
    return [event.replace("\n", "\r\n") for event in events]


def _refusal(data: Object) -> None:
    for choice in _choices(data):
        if choice["delta"].get("content"):
            choice["delta"] = {"refusal": choice["delta"]["content"]}


REFUSAL = Spoiled(edited(_refusal))
NO_FINISH = Spoiled(finishing(None))
NOTHING_FOR_CALLS = Spoiled(finishing("tool_calls"), Says(""))
NO_CHOICES = Spoiled(edited(_no_choices))
NO_USAGE = Spoiled(edited(_no_usage))
NULL_CONTENT = Spoiled(edited(_null_content))
OBJECT_ARGUMENTS = Spoiled(edited(_object_arguments), CALL)
COMMENTS = Spoiled(with_comments)
CRLF = Spoiled(with_crlf)
UNKNOWN_FINISH = Spoiled(finishing("because"))
STOP_WITH_CALLS = Spoiled(finishing("stop"), CALL)
CALLS_WITHOUT = Spoiled(finishing("tool_calls"))
