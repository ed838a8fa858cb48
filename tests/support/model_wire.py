"""What OpenAI's chat completions and Anthropic's messages look like on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One tool call; `arguments` is sent as it stands."""

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True)
class Says:
    """One complete answer.

    Text is sent in `pieces` pieces with `pause` seconds before each event; `input_tokens`
    counts the cached ones in; `finish` "" is what follows from the calls.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    signature: str = ""
    input_tokens: int = 100
    output_tokens: int = 20
    cached_tokens: int = 0
    pieces: int = 3
    pause: float = 0
    finish: str = ""

    @property
    def cut(self) -> list[str]:
        """The text in pieces, none of them empty."""
        size = max(1, -(-len(self.text) // self.pieces))
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]

    def id_of(self, index: int) -> str:
        """The id of a call."""
        return self.calls[index].id or f"toolu_{index}"


@dataclass(frozen=True)
class Dialect:
    """One provider's way to say it: a stream, its part before the end, a whole, a failure."""

    stream: Callable[[Says, str], list[str]]
    beginning: Callable[[Says, str], list[str]]
    whole: Callable[[Says, str], Object]
    failure: Callable[[int, str, str], Object]


def sse(data: Object, event: str = "") -> str:
    """One event of a stream."""
    return (f"event: {event}\n" if event else "") + f"data: {json.dumps(data)}\n\n"


def _chat_chunk(model: str, delta: Object, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return sse(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": model,
            "choices": [choice],
        }
    )


def _chat_call(says: Says, index: int) -> Object:
    call = says.calls[index]
    function = {"name": call.name, "arguments": call.arguments}
    return {"index": index, "id": says.id_of(index), "type": "function", "function": function}


def _chat_beginning(says: Says, model: str) -> list[str]:
    events = [_chat_chunk(model, {"role": "assistant", "content": ""})]
    if says.thinking:
        events.append(_chat_chunk(model, {"reasoning_content": says.thinking}))
    events += [_chat_chunk(model, {"content": piece}) for piece in says.cut]
    for index in range(len(says.calls)):
        events.append(_chat_chunk(model, {"tool_calls": [_chat_call(says, index)]}))
    return events


def _chat_finish(says: Says) -> str:
    return says.finish or ("tool_calls" if says.calls else "stop")


def _chat_usage(says: Says) -> Object:
    return {
        "prompt_tokens": says.input_tokens,
        "completion_tokens": says.output_tokens,
        "total_tokens": says.input_tokens + says.output_tokens,
        "prompt_tokens_details": {"cached_tokens": says.cached_tokens},
    }


def _chat_stream(says: Says, model: str) -> list[str]:
    end = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": model,
        "choices": list[Object](),
        "usage": _chat_usage(says),
    }
    finish = _chat_chunk(model, {}, _chat_finish(says))
    return [*_chat_beginning(says, model), finish, sse(end), "data: [DONE]\n\n"]


def _chat_whole(says: Says, model: str) -> Object:
    message: Object = {"role": "assistant", "content": says.text or None}
    if says.calls:
        message["tool_calls"] = [_chat_call(says, index) for index in range(len(says.calls))]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": _chat_finish(says)}],
        "usage": _chat_usage(says),
    }


def _chat_failure(_status: int, kind: str, message: str) -> Object:
    return {"error": {"message": message, "type": kind, "code": kind, "param": None}}


def _blocks(says: Says) -> list[Object]:
    blocks: list[Object] = []
    if says.thinking:
        blocks.append({"type": "thinking", "thinking": says.thinking, "signature": says.signature})
    if says.text:
        blocks.append({"type": "text", "text": says.text})
    for index, call in enumerate(says.calls):
        named = {"type": "tool_use", "id": says.id_of(index), "name": call.name}
        blocks.append({**named, "input": call.arguments})
    return blocks


def _deltas(block: Object, says: Says) -> list[Object]:
    if block["type"] == "thinking":
        return [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if block["type"] == "text":
        return [{"type": "text_delta", "text": piece} for piece in says.cut]
    return [{"type": "input_json_delta", "partial_json": block["input"]}]


def _emptied(block: Object) -> Object:
    empty: Object = {"thinking": "", "signature": "", "text": "", "input": {}}
    return {name: empty.get(name, value) for name, value in block.items()}


def _block_events(index: int, block: Object, says: Says) -> list[str]:
    start = {"type": "content_block_start", "index": index, "content_block": _emptied(block)}
    deltas = [
        {"type": "content_block_delta", "index": index, "delta": delta}
        for delta in _deltas(block, says)
    ]
    stop = {"type": "content_block_stop", "index": index}
    return [sse(event, str(event["type"])) for event in [start, *deltas, stop]]


def _message(says: Says, model: str) -> Object:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": says.input_tokens - says.cached_tokens,
            "cache_read_input_tokens": says.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1,
        },
    }


def _messages_beginning(says: Says, model: str) -> list[str]:
    start = {"type": "message_start", "message": _message(says, model)}
    events = [sse(start, "message_start")]
    for index, block in enumerate(_blocks(says)):
        events += _block_events(index, block, says)
    return events


def _stop_reason(says: Says) -> str:
    ours = {"": "tool_use" if says.calls else "end_turn", "length": "max_tokens"}
    return ours.get(says.finish, says.finish)


def _messages_stream(says: Says, model: str) -> list[str]:
    delta = {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(says), "stop_sequence": None},
        "usage": {"output_tokens": says.output_tokens},
    }
    stop = {"type": "message_stop"}
    return [
        *_messages_beginning(says, model),
        sse(delta, "message_delta"),
        sse(stop, "message_stop"),
    ]


def _messages_whole(says: Says, model: str) -> Object:
    content = [
        {**block, "input": json.loads(block["input"])} if "input" in block else block
        for block in _blocks(says)
    ]
    message = _message(says, model)
    usage = {**message["usage"], "output_tokens": says.output_tokens}
    return {**message, "content": content, "stop_reason": _stop_reason(says), "usage": usage}


def _messages_failure(_status: int, kind: str, message: str) -> Object:
    return {"type": "error", "error": {"type": kind, "message": message}}


OPENAI = Dialect(_chat_stream, _chat_beginning, _chat_whole, _chat_failure)
ANTHROPIC = Dialect(_messages_stream, _messages_beginning, _messages_whole, _messages_failure)
