"""Every condition on the wire by the name that the table of failures gives it, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from tests.support import model_faults as faults
from tests.support.model_server import (
    BadJson,
    Behaviour,
    BreaksDown,
    Drips,
    HalfStream,
    Refuses,
    Silence,
    Stalls,
)
from tests.support.model_wire import Call, Says

HALF = Says("Half of it")
LIMITED = "rate_limit_error"
TAKEN = "taken"
EACH = ("openai", "anthropic", "google")
_WHEN = "%Y-%m-%d at %H:%M"


@dataclass(frozen=True)
class Case:
    """One condition: what the provider sends, and what the step comes to.

    `came` is "retry", "capacity", "overflow", "failed", or TAKEN. `providers` have it, `delay` is
    what they ask for in seconds, `silent` tells that it is known by a silence.
    """

    plays: Behaviour
    came: str
    providers: tuple[str, ...] = ("openai", "anthropic")
    delay: float | None = None
    silent: bool = False


def later(seconds: float) -> str:
    """A date as HTTP writes it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def _limited(after: str) -> Refuses:
    return Refuses(429, LIMITED, headers={"retry-after": after})


def _spent() -> Refuses:
    until = datetime.now(UTC) + timedelta(hours=2)
    words = (
        f"You have reached your API usage limits. You will regain access on {until:{_WHEN}} UTC."
    )
    return Refuses(400, "invalid_request_error", words)


def cases() -> dict[str, tuple[Case, ...]]:
    """All conditions by name; dates are told from now."""
    return {**_waits(), **_failures(), **_broken(), **_odd()}


def _waits() -> dict[str, tuple[Case, ...]]:
    return {
        "402": (Case(Refuses(402), "capacity", delay=60),),
        "429 with the provider's word for a spent quota": (
            Case(Refuses(429, "insufficient_quota"), "capacity", ("openai",), 60),
        ),
        "a quota that is spent until a date": (Case(_spent(), "capacity", delay=7200),),
        "429 without Retry-After": (Case(Refuses(429, LIMITED), "retry"),),
        "429 with a Retry-After that says nothing": (
            Case(_limited("soon"), "retry"),
            Case(_limited("-5"), "retry"),
        ),
        "429 with Retry-After in seconds, 30 at most": (Case(_limited("7"), "retry", delay=7),),
        "429 with Retry-After in seconds, more than 30": (
            Case(_limited("90"), "capacity", delay=90),
        ),
        "429 with Retry-After as a date": (
            Case(_limited(later(20)), "retry", delay=20),
            Case(_limited(later(600)), "capacity", delay=600),
        ),
        "503 with Retry-After in seconds, more than 30": (
            Case(Refuses(503, headers={"retry-after": "60"}), "capacity", delay=60),
        ),
    }


def _failures() -> dict[str, tuple[Case, ...]]:
    overload = Refuses(529, "overloaded_error")
    long = "prompt is too long: 9 > 8"
    return {
        "a conversation that is too long": (
            Case(Refuses(400, "context_length_exceeded"), "overflow", ("openai",)),
            Case(Refuses(400, "invalid_request_error", long), "overflow", ("anthropic",)),
        ),
        "413": (Case(Refuses(413), "overflow"),),
        **{status: (Case(Refuses(int(status)), "failed"),) for status in ("400", "401", "403")},
        "404": (Case(Refuses(404), "failed"),),
        "a redirect": (
            Case(Refuses(302, headers={"location": "/v1/messages"}), "failed", EACH),
            Case(Refuses(307, headers={"location": "/v1/messages"}), "failed", EACH),
            Case(Refuses(308, headers={"location": "//localhost/"}), "failed", EACH),
        ),
        "another status": (Case(Refuses(418), "failed"),),
        "a content filter": (
            Case(Says("Half", finish="content_filter"), "failed", ("openai",)),
            Case(Says("Half", finish="SAFETY"), "failed", ("google",)),
        ),
        "a refusal": (
            Case(faults.REFUSAL, "failed", ("openai",)),
            Case(Says("Half", finish="refusal"), "failed", ("anthropic",)),
        ),
        **{status: (Case(Refuses(int(status)), "retry"),) for status in ("500", "502", "503")},
        "529": (Case(overload, "retry"),),
        "408": (Case(Refuses(408), "retry"),),
        "an overload told in the middle of a stream": (
            Case(BreaksDown(HALF, overload), "retry", ("anthropic",)),
        ),
    }


def _broken() -> dict[str, tuple[Case, ...]]:
    page = BadJson("<html>welcome</html>", "text/html")
    return {
        "a connection that is taken, and then silence": (Case(Stalls(), "retry", silent=True),),
        "silence in the middle of an answer": (Case(Silence(HALF), "retry", silent=True),),
        "broken JSON": (Case(BadJson(), "retry"),),
        "a page instead of a stream": (Case(page, "retry"),),
        "missing usage, from Anthropic": (Case(faults.NO_USAGE, "retry", ("anthropic",)),),
        "a stream that closes cleanly before its end": (Case(HalfStream(HALF), "retry"),),
        "a stream cut in the middle of a chunk": (Case(HalfStream(HALF, broken=True), "retry"),),
        "a stream that never says how it ended": (Case(faults.NO_FINISH, "retry"),),
        "no choices": (Case(faults.NO_CHOICES, "retry", ("openai",)),),
        "null content": (Case(faults.NULL_CONTENT, "retry"),),
        "an answer without text and calls": (Case(Says(""), "retry"),),
        "a finish for calls, and nothing": (Case(faults.NOTHING_FOR_CALLS, "retry"),),
        "the output's limit reached before any text or call": (
            Case(Says("", finish="length"), "failed"),
        ),
    }


def _odd() -> dict[str, tuple[Case, ...]]:
    twice = Says(calls=(Call("look", id="x"), Call("look", id="x")))
    return {
        "missing usage": (Case(faults.NO_USAGE, TAKEN, ("openai", "google")),),
        "an unknown finish": (Case(faults.UNKNOWN_FINISH, TAKEN),),
        "a finish for calls, and only text": (Case(faults.CALLS_WITHOUT, TAKEN),),
        "a finish for a stop, and calls": (Case(faults.STOP_WITH_CALLS, TAKEN),),
        "comments and keep-alives": (Case(faults.COMMENTS, TAKEN),),
        "CRLF": (Case(faults.CRLF, TAKEN),),
        "one byte at a time": (Case(Drips(Says("One, two.")), TAKEN),),
        "arguments as an object": (Case(faults.OBJECT_ARGUMENTS, TAKEN),),
        "two calls with one id": (Case(twice, TAKEN),),
        "arguments that are cut off": (Case(Says(calls=(Call("look", '{"pa'),)), TAKEN),),
        "a tool that there is not": (Case(Says(calls=(Call("fly"),)), TAKEN),),
    }
