"""What Google's Gemini API looks like on the wire."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from tests.support.model_wire import Dialect, sse

if TYPE_CHECKING:
    from tests.support.model_wire import Object, Says

_STATUS = {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 400: "INVALID_ARGUMENT"}


def _parts(says: Says) -> list[Object]:
    thought: list[Object] = [{"text": says.thinking, "thought": True}] if says.thinking else []
    texts: list[Object] = [{"text": piece} for piece in says.cut]
    calls: list[Object] = []
    for index, call in enumerate(says.calls):
        arguments = json.loads(call.arguments or "{}")
        function = {"name": call.name, "args": arguments, "id": says.id_of(index)}
        calls.append({"functionCall": function})
    parts = [*thought, *texts, *calls]
    if says.signature:
        parts[-1]["thoughtSignature"] = base64.b64encode(says.signature.encode()).decode()
    return parts


def _chunk(model: str, parts: list[Object], more: Object | None = None) -> Object:
    candidate: Object = {"content": {"role": "model", "parts": parts}, "index": 0}
    return {"candidates": [{**candidate, **(more or {})}], "modelVersion": model}


def _usage(says: Says) -> Object:
    return {
        "promptTokenCount": says.input_tokens,
        "cachedContentTokenCount": says.cached_tokens,
        "candidatesTokenCount": says.output_tokens,
        "totalTokenCount": says.input_tokens + says.output_tokens,
    }


def _beginning(says: Says, model: str) -> list[str]:
    return [sse(_chunk(model, [part])) for part in _parts(says)]


def _finish(says: Says) -> Object:
    ours = {"": "STOP", "length": "MAX_TOKENS"}
    return {"finishReason": ours.get(says.finish, "SAFETY")}


def _stream(says: Says, model: str) -> list[str]:
    end = {**_chunk(model, [], _finish(says)), "usageMetadata": _usage(says)}
    return [*_beginning(says, model), sse(end)]


def _whole(says: Says, model: str) -> Object:
    return {**_chunk(model, _parts(says), _finish(says)), "usageMetadata": _usage(says)}


def _failure(status: int, kind: str, message: str) -> Object:
    return {"error": {"code": status, "message": message, "status": _STATUS.get(status, kind)}}


GEMINI = Dialect(_stream, _beginning, _whole, _failure)
