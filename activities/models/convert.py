"""Our conversation in pydantic-ai's messages, and its responses in ours."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as ProviderRequest

from domain.codec import clean_text
from domain.ports import ModelAnswer
from domain.runs.conversation import (
    AssistantMessage,
    CallRequest,
    Native,
    ToolMessage,
)
from domain.runs.model_name import Provider

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from domain.ports import ModelRequest
    from domain.runs.conversation import Usage
    from domain.runs.model_name import ModelName

_NATIVE_ERRORS = (Provider.ANTHROPIC, Provider.GOOGLE)
"""Who takes a failed result as such; the others would get the text wrapped in escaped JSON."""

_ANY_PROVIDERS_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_FINISHES = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


def history_of(request: ModelRequest, name: ModelName) -> list[ModelMessage]:
    """Render a request's messages; the same messages always render the same."""
    history: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    used: set[str] = set()
    waiting: list[str] = []
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            response, waiting = _response(message, name, len(history), used)
            if response.parts:
                history += _requested(parts, request.instructions)
                history.append(response)
                parts = []
        elif isinstance(message, ToolMessage):
            parts.append(_result(message, waiting, name))
        else:
            parts.append(UserPromptPart(message.text))
    return history + _requested(parts, request.instructions)


def _requested(parts: list[ModelRequestPart], instructions: str) -> list[ModelMessage]:
    return [ProviderRequest(parts=parts, instructions=instructions or None)] if parts else []


def _result(message: ToolMessage, waiting: list[str], name: ModelName) -> ModelRequestPart:
    """Answer the oldest open call: results stand in the order of the calls."""
    if not waiting:
        return UserPromptPart(f"Result of {message.name}:\n{message.text}")
    failed = message.failed and name.provider in _NATIVE_ERRORS
    return ToolReturnPart(
        tool_name=message.name,
        content=message.text,
        tool_call_id=waiting.pop(0),
        outcome="failed" if failed else "success",
    )


def _response(
    message: AssistantMessage, name: ModelName, index: int, used: set[str]
) -> tuple[ModelResponse, list[str]]:
    native = _native_of(message, name)
    own = native is not None
    ids = [_wire_id(call, index, used, own=own) for call in message.calls]
    if native is None:
        text: list[ModelResponsePart] = [TextPart(message.text)] if message.text else []
        calls = [
            ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=wire)
            for call, wire in zip(message.calls, ids, strict=True)
        ]
        return ModelResponse(parts=[*text, *calls]), ids
    left = iter(ids)
    parts = [
        replace(part, tool_call_id=next(left)) if isinstance(part, ToolCallPart) else part
        for part in native.parts
    ]
    return replace(native, parts=parts), ids


def _wire_id(call: CallRequest, index: int, used: set[str], *, own: bool) -> str:
    """Give a call's id on the wire: the provider's, save where it is missing, repeated or odd."""
    given = call.provider_id
    usable = bool(given) and given not in used
    if not usable or not (own or _ANY_PROVIDERS_ID.fullmatch(given)):
        given = f"call_{index}_{call.position}"
        while given in used:
            given += "_"
    used.add(given)
    return given


def _native_of(message: AssistantMessage, name: ModelName) -> ModelResponse | None:
    """Read native bytes back, None where they are another model's or no longer readable."""
    if message.native is None or message.native.key != name.key:
        return None
    try:
        data = base64.b64decode(message.native.data, validate=True)
        (response,) = ModelMessagesTypeAdapter.validate_json(data)
    except (ValidationError, ValueError, binascii.Error):
        return None
    if not isinstance(response, ModelResponse):
        return None
    calls = sum(isinstance(part, ToolCallPart) for part in response.parts)
    return response if calls == len(message.calls) else None


def answer_of(response: ModelResponse, name: ModelName, usage: Usage) -> ModelAnswer:
    """Read a complete response."""
    calls = tuple(
        CallRequest(
            position=position,
            provider_id=clean_text(part.tool_call_id),
            name=clean_text(part.tool_name),
            arguments=_arguments(part),
        )
        for position, part in enumerate(p for p in response.parts if isinstance(p, ToolCallPart))
    )
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    finish = _FINISHES.get(response.finish_reason or "", "stop")
    return ModelAnswer(
        text=clean_text(text),
        calls=calls,
        usage=usage,
        finish="tool_calls" if calls and finish == "stop" else finish,
        native=_native(response, name),
    )


def _arguments(part: ToolCallPart) -> str:
    """Give the arguments as they were written; a call without any has the empty object."""
    if isinstance(part.args, str):
        return clean_text(part.args) if part.args.strip() else "{}"
    return json.dumps(part.args or {}, ensure_ascii=False)


def _native(response: ModelResponse, name: ModelName) -> Native | None:
    """Keep a response in its provider's form, where ours does not hold all of it."""
    if all(_is_plain(part) for part in response.parts):
        return None
    data = ModelMessagesTypeAdapter.dump_json([response])
    return Native(key=name.key, data=base64.b64encode(data).decode("ascii"))


def _is_plain(part: ModelResponsePart) -> bool:
    return isinstance(part, TextPart | ToolCallPart) and not part.provider_details
