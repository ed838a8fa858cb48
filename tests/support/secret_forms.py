"""Every form in which a provider can say something in a failure, a planted text in each."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.gemini_wire import GEMINI
from tests.support.model_conditions import TAKEN, cases
from tests.support.model_server import BadJson, Behaviour, BreaksDown, Refuses
from tests.support.model_wire import ANTHROPIC, OPENAI, Says

if TYPE_CHECKING:
    from collections.abc import Mapping

_STREAM = "text/event-stream"
_HEADERS = ("request-id", "x-request-id", "www-authenticate", "set-cookie", "server", "x-error")


def spoken(text: str) -> dict[str, Behaviour]:
    """Give each failure that a well-made server tells, the text in its words and headers."""
    told = {
        f"{seen}, {n}": _telling(case.plays, text)
        for seen, all_ in cases().items()
        for n, case in enumerate(all_)
        if case.came != TAKEN
    }
    return {seen: behaviour for seen, behaviour in told.items() if behaviour is not None}


def _telling(plays: Behaviour, text: str) -> Behaviour | None:
    """Put the text into a failure's words and headers; None for what has no words."""
    match plays:
        case Refuses():
            headers = {**dict.fromkeys(_HEADERS, text), **plays.headers}
            return replace(plays, message=f"{plays.message} {text}", headers=headers)
        case BreaksDown(says, refuses):
            return BreaksDown(says, replace(refuses, message=f"{refuses.message} {text}"))
        case BadJson(body, media_type):
            return BadJson(f"{body}\n{text}", media_type)
        case _:
            return None


def good(provider: str) -> bytes:
    """Give an answer that is one."""
    dialects = {"openai": OPENAI, "anthropic": ANTHROPIC, "google": GEMINI}
    body = "".join(dialects[provider].stream(Says("Done."), "m"))
    return _answer("200 OK", body, {"content-type": _STREAM})


def raw(text: str) -> dict[str, bytes]:
    """Give answers byte for byte, the text wherever bytes may stand."""
    return {**_heads(text), **_refusals(text), **_streams(text)}


def _answer(
    status: str, body: bytes | str = b"", headers: Mapping[str, str] | None = None
) -> bytes:
    """Write one whole answer."""
    data = body.encode() if isinstance(body, str) else body
    given = {"content-length": str(len(data)), **(headers or {})}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join((*lines, "", "")).encode() + data


def _heads(text: str) -> dict[str, bytes]:
    """The text before any body."""
    coded = {"content-encoding": "gzip", "content-type": _STREAM}
    return {
        **{f"the reason of {n}": _answer(f"{n} {text}") for n in (200, 302, 400, 401, 404, 500)},
        **{
            f"the location of {n}": _answer(f"{n} moved", headers={"location": f"/{text}"})
            for n in (301, 302, 303, 307, 308)
        },
        "the location elsewhere": _answer("307 x", headers={"location": f"http://{text}/"}),
        "no status line": f"{text}\r\n\r\n".encode(),
        "a status that is none": f"HTTP/1.1 {text}\r\n\r\n".encode(),
        "a header that is none": f"HTTP/1.1 200 OK\r\n{text}\r\n\r\n".encode(),
        "a header's name": f"HTTP/1.1 200 OK\r\n{text}: x\r\n\r\n".encode(),
        "a length that is none": f"HTTP/1.1 200 OK\r\ncontent-length: {text}\r\n\r\n".encode(),
        "a delay": _answer("429 x", headers={"retry-after": text}),
        "a delay beside an overload": _answer("529 x", headers={"retry-after": text}),
        "a type": _answer("200 OK", "data: {}\n\n", {"content-type": text}),
        "a charset": _answer(
            "200 OK", "data: {}\n\n", {"content-type": f"{_STREAM}; charset={text}"}
        ),
        "what is not packed": _answer("200 OK", text, coded),
        "a body that is cut off": _answer("200 OK", f"data: {text}", {"content-length": "9999"}),
        "a chunk's size": (
            f"HTTP/1.1 200 OK\r\ncontent-type: {_STREAM}\r\n"
            f"transfer-encoding: chunked\r\n\r\n{text}\r\n"
        ).encode(),
    }


def _refusals(text: str) -> dict[str, bytes]:
    """Errors whose body holds the text, for each status that means something else."""
    error = dict.fromkeys(("message", "type", "code", "param", "status", "details"), text)
    bodies: dict[str, bytes | str] = {
        "an object": json.dumps({"error": error, "message": text, "detail": [{"msg": text}]}),
        "a text": json.dumps(text),
        "a list": json.dumps([{"error": {text: text}}]),
        "a page": f"<html><title>{text}</title></html>",
        "bytes": b"\xff\xfe" + text.encode(),
    }
    return {
        f"{kind} with {status}": _answer(f"{status} x", body, {"content-type": "application/json"})
        for status in (400, 401, 402, 403, 404, 413, 422, 429, 500, 503, 529)
        for kind, body in bodies.items()
    }


def _streams(text: str) -> dict[str, bytes]:
    """Answers that begin well and whose events hold the text where nothing can be read."""
    error = dict.fromkeys(("message", "type", "code", "status"), text)
    data: dict[str, object] = {
        "an error": {"error": error, "type": "error"},
        "an error by its number": {"error": {**error, "code": 500}, "type": "error"},
        "a list": [text],
        "a text": text,
        "an unknown event": {"type": text, text: text},
        "choices of another type": {"choices": text, "id": text, "model": text, "usage": text},
        "a choice of another type": {"choices": [{"delta": text, "finish_reason": [text]}]},
        "a block of another type": {"type": "content_block_delta", "index": text, "delta": text},
        "a message of another type": {"type": "message_start", "message": {"usage": text}},
        "candidates of another type": {"candidates": [{"content": {"parts": text}}]},
    }
    bodies = {name: json.dumps(value) for name, value in data.items()}
    bodies |= {"no JSON": text, "half of an object": f'{{"{text}": '}
    events = {
        "": "",
        " in an error event": "event: error\n",
        " in a start": "event: message_start\n",
    }
    typed = {"content-type": _STREAM}
    return {
        f"{name}{where}": _answer("200 OK", f"{event}data: {body}\n\n", typed)
        for name, body in bodies.items()
        for where, event in events.items()
    } | {
        "no events": _answer(
            "200 OK", json.dumps({"error": error}), {"content-type": "application/json"}
        )
    }
