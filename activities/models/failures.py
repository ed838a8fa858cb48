"""The one table from a provider's errors to what the engine does about them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import httpx2
from pydantic import ValidationError
from pydantic_ai import exceptions as pai

from domain.ports import Disposition, ModelFailure
from domain.runs.model_name import KEYS, ModelName

SHORT_WAIT = 30.0
"""Seconds up to which a wait is a retry's delay; a longer one is a wait of the run."""

LONGEST_WAIT = 366 * 86400.0
"""Seconds that a provider's word for a delay may mean: some send numbers that are no delay."""

MOST_READ = 20_000
_REDIRECTS = 3  # the hundreds of their statuses
_DATE = re.compile(
    r"(?:until|access on|resets? (?:on|at)) (\d{4}-\d\d-\d\d)(?:[t ](?:at )?(\d\d:\d\d(?::\d\d)?))?"
)


@dataclass(frozen=True)
class Row:
    """What one kind of failure means, and what on the wire it is known by.

    `says` follows the model's name in the message; `statuses` narrows `errors` to some HTTP
    statuses, `words` to bodies that say one of them. `seen` lists the conditions that come
    here, as the page about models and the tests name them. `falls_back` tells that another
    model may do better.
    """

    errors: tuple[type[BaseException], ...]
    code: str
    disposition: Disposition
    says: str
    next: str
    seen: tuple[str, ...] = ()
    statuses: frozenset[int] = frozenset()
    words: tuple[str, ...] = ()
    falls_back: bool = False


@dataclass(frozen=True)
class Odd:
    """What is odd about an answer and is taken all the same; `code` "" changes nothing."""

    seen: tuple[str, ...]
    code: str
    done: str


_RETRIED = "nothing to do: it is sent again, a few times"
_WAITS = "nothing to do: it is sent again, a few times; or start a new run with another model"
_SMALLER = "start a new run with a smaller task, or with a model that takes longer conversations"
_REPORT = "report this with the output of `legato doctor`"
_LOOK = "look at what was sent with `legato show RUN --request N`"
_CREDIT = "add credit at the provider, or start a new run with another model"
_CONTENT = "change what was asked, or start a new run with another model"
_QUOTA_WORDS = ("usage limits", "credit balance", "quota exceeded", "exceeded your current quota")
_BROKEN = (AttributeError, TypeError, LookupError, ValueError, AssertionError)
"""What the clients raise when they read something that they did not expect."""

EMPTY = Row(
    (),
    "empty_answer",
    Disposition.RETRY,
    "gave an answer with nothing in it",
    _RETRIED,
    ("null content", "an answer without text and calls", "a finish for calls, and nothing"),
    falls_back=True,
)
"""An answer to somebody's words that is none; after a call's result it may be the end."""

CUT_EMPTY = Row(
    (),
    "output_limit_reached",
    Disposition.REFUSE,
    "used up its output tokens before it had said anything",
    "start a new run with a higher --max-output-tokens",
    ("the output's limit reached before any text or call",),
    falls_back=True,
)
"""The whole of `max_tokens` went into reasoning: a second request would end the same way."""

FILTERED = Row(
    (pai.ContentFilterError,),
    "content_filtered",
    Disposition.REFUSE,
    "refused the content",
    _CONTENT,
    ("a content filter", "a refusal"),
    falls_back=True,
)

HALF_STREAM = Row(
    (),
    "half_stream",
    Disposition.RETRY,
    "broke off in the middle of an answer",
    _RETRIED,
    (
        "a stream that closes cleanly before its end",
        "a stream cut in the middle of a chunk",
        "a stream that never says how it ended",
        "no choices",
    ),
    falls_back=True,
)
"""An answer that began and whose end the provider never sent."""

_QUOTA = Row(
    (pai.ModelQuotaExceededError,),
    "quota_exhausted",
    Disposition.CAPACITY,
    "has no quota or credit left",
    _CREDIT,
    ("402", "429 with the provider's word for a spent quota"),
    falls_back=True,
)

REDIRECTED = Row(
    (),
    "model_redirected",
    Disposition.REFUSE,
    "was sent on to another address, where nothing is sent",
    "check the model's address: write the one that answers itself, after an @ in its name",
    ("a redirect",),
    falls_back=True,
)
"""A redirect is never followed: a conversation is for the address that was named."""

TABLE = (
    _QUOTA,
    replace(
        _QUOTA,
        errors=(pai.ModelHTTPError,),
        seen=("a quota that is spent until a date",),
        statuses=frozenset({400, 403, 429}),
        words=_QUOTA_WORDS,
    ),
    Row(
        (pai.ModelRateLimitError,),
        "rate_limited",
        Disposition.RETRY,
        "limits the rate of requests",
        _WAITS,
        (
            "429 without Retry-After",
            "429 with a Retry-After that says nothing",
            "429 with Retry-After in seconds, 30 at most",
            "429 with Retry-After in seconds, more than 30",
            "429 with Retry-After as a date",
        ),
        falls_back=True,
    ),
    Row(
        (pai.ModelContextWindowExceededError,),
        "context_overflow",
        Disposition.OVERFLOW,
        "cannot take a conversation as long as this",
        _SMALLER,
        ("a conversation that is too long",),
    ),
    Row(
        (pai.ModelHTTPError,),
        "context_overflow",
        Disposition.OVERFLOW,
        "cannot take a request as large as this",
        _SMALLER,
        ("413",),
        frozenset({413}),
    ),
    Row(
        (pai.ModelAuthenticationError,),
        "model_key_refused",
        Disposition.REFUSE,
        "refused the key",
        "set {keys} to a key that may use this model",
        ("401", "403"),
        falls_back=True,
    ),
    Row(
        (pai.ModelNotFoundError,),
        "model_not_found",
        Disposition.REFUSE,
        "is not known to its provider",
        "check the model's name and, where one is given, its address",
        ("404",),
        falls_back=True,
    ),
    FILTERED,
    Row(
        (pai.ModelRequestRejectedError,),
        "request_rejected",
        Disposition.REFUSE,
        "rejected the request",
        _LOOK,
        ("400",),
        falls_back=True,
    ),
    Row(
        (pai.ModelOverloadedError,),
        "model_overloaded",
        Disposition.RETRY,
        "is overloaded",
        _RETRIED,
        ("529", "an overload told in the middle of a stream"),
        falls_back=True,
    ),
    Row(
        (pai.ModelUnavailableError, pai.ModelServerError),
        "provider_failed",
        Disposition.RETRY,
        "failed at its provider",
        _RETRIED,
        ("500", "502", "503", "503 with Retry-After in seconds, more than 30"),
        falls_back=True,
    ),
    Row(
        (pai.ModelHTTPError,),
        "provider_failed",
        Disposition.RETRY,
        "could not serve the request now",
        _RETRIED,
        ("408",),
        frozenset({408, 409, 425}),
        falls_back=True,
    ),
    Row(
        (pai.ModelTimeoutError, pai.ModelRequestTimeout, httpx2.TimeoutException),
        "model_timeout",
        Disposition.RETRY,
        "was silent for too long",
        _RETRIED,
        (
            "a connection that is taken, and then silence",
            "silence in the middle of an answer",
        ),
        falls_back=True,
    ),
    Row(
        (pai.ModelConnectionError, httpx2.TransportError),
        "connection_failed",
        Disposition.RETRY,
        "could not be reached",
        "check the network and the model's address; it is sent again, a few times",
        ("nobody listening",),
        falls_back=True,
    ),
    Row(
        (pai.ModelHTTPError,),
        "request_rejected",
        Disposition.REFUSE,
        "rejected the request",
        _LOOK,
        ("another status",),
        falls_back=True,
    ),
    Row(
        (
            pai.ModelAPIError,
            pai.UnexpectedModelBehavior,
            json.JSONDecodeError,
            UnicodeDecodeError,
            ValidationError,
            httpx2.DecodingError,
            *_BROKEN,
        ),
        "bad_response",
        Disposition.RETRY,
        "answered with something that is not a response",
        _RETRIED,
        ("broken JSON", "a page instead of a stream", "missing usage, from Anthropic"),
        falls_back=True,
    ),
    EMPTY,
    CUT_EMPTY,
    HALF_STREAM,
    REDIRECTED,
    Row((pai.UserError,), "model_misused", Disposition.REFUSE, "was asked wrongly", _REPORT),
    Row((Exception,), "model_raised", Disposition.REFUSE, "failed in our own client", _REPORT),
)
"""First row that fits counts; a wait longer than SHORT_WAIT turns retry into capacity."""

ODD = (
    Odd(("missing usage",), "", "taken; the request counts at its reservation"),
    Odd(
        (
            "an unknown finish",
            "a finish for a stop, and calls",
            "a finish for calls, and only text",
        ),
        "",
        "taken: what is in an answer decides, not its label",
    ),
    Odd(("comments and keep-alives", "CRLF", "one byte at a time"), "", "taken"),
    Odd(("arguments as an object",), "", "taken as JSON"),
    Odd(("two calls with one id",), "", "taken: calls are answered by their place"),
    Odd(("arguments that are cut off",), "arguments_invalid", "told to the model"),
    Odd(("a tool that there is not",), "tool_unknown", "told to the model"),
    Odd(
        ("nothing more after a call's result",),
        "",
        "taken: the model has nothing to add, and the turn ends",
    ),
)
"""What is no failure of the request: the answer counts."""


def failure_of(
    error: Exception, name: ModelName, *, partial: str = "", begun: bool = False
) -> ModelFailure:
    """Build the failure that an error means; `begun` says that part of an answer had come."""
    row = REDIRECTED if _redirected(error) else next(row for row in TABLE if _fits(row, error))
    if begun and row.code == "connection_failed":
        row = HALF_STREAM
    return failed(row, name, partial, detail=_detail(error, row), after=_retry_after(error))


def failed(
    row: Row, name: ModelName, partial: str = "", *, detail: str = "", after: float | None = None
) -> ModelFailure:
    """Build the failure of a row; `after` is the provider's delay in seconds."""
    disposition = row.disposition
    if disposition is Disposition.RETRY and after is not None and after > SHORT_WAIT:
        disposition = Disposition.CAPACITY
    failure = ModelFailure(
        row.code,
        f"{name.key} {row.says}{detail}",
        disposition,
        retry_after=after,
        partial=partial,
        next=row.next.format(keys=" or ".join(KEYS.get(name.provider, ("its key",)))),
    )
    failure.falls_back = row.falls_back
    return failure


def _fits(row: Row, error: Exception) -> bool:
    if not row.errors or not isinstance(error, row.errors):
        return False
    if row.words and not any(word in _body(error) for word in row.words):
        return False
    return not row.statuses or (
        isinstance(error, pai.ModelHTTPError) and error.status_code in row.statuses
    )


def _redirected(error: Exception) -> bool:
    """Tell whether a redirect is behind an error: only the SDKs' own errors keep its status."""
    one: BaseException | None = error
    while one is not None:
        status: object = getattr(one, "status_code", None) or getattr(one, "code", None)
        if isinstance(status, int) and status // 100 == _REDIRECTS:
            return True
        one = one.__cause__
    return False


def _body(error: Exception) -> str:
    body = error.body if isinstance(error, pai.ModelAPIError) else None
    return json.dumps(body, default=str)[:MOST_READ].lower() if body is not None else ""


def _retry_after(error: Exception) -> float | None:
    """Give the seconds that a provider asks for, in its header or in the words of a quota."""
    if not isinstance(error, pai.ModelAPIError):
        return None
    after = error.retry_after
    if after is None:
        after = seconds_until(_body(error), datetime.now(UTC))
    return None if after is None else min(after, LONGEST_WAIT)


def seconds_until(text: str, now: datetime) -> float | None:
    """Read the date from which there is quota again, as providers word it; None without one."""
    found = _DATE.search(text)
    if found is None:
        return None
    day, time = found[1], found[2] or "00:00"
    try:
        until = datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=UTC)
    except ValueError:
        return None
    left = (until - now).total_seconds()
    return left if left > 0 else None


def _detail(error: Exception, row: Row) -> str:
    """Name the HTTP status, or the kind of an error we did not foresee; never its text."""
    if isinstance(error, pai.ModelHTTPError):
        return f" (HTTP {error.status_code})"
    return f" ({type(error).__name__})" if row.errors == (Exception,) else ""
