"""The one table from a provider's errors to what the engine does about them."""

from __future__ import annotations

import json
from dataclasses import dataclass

import httpx2
from pydantic import ValidationError
from pydantic_ai import exceptions as pai

from domain.ports import Disposition, ModelFailure
from domain.runs.model_name import KEYS, ModelName

SHORT_WAIT = 30.0
"""Seconds up to which a wait is a retry's delay; a longer one is a wait of the run."""


@dataclass(frozen=True)
class Row:
    """What one kind of error means; `statuses` narrows it to some HTTP statuses.

    `says` follows the model's name in the message.
    """

    errors: tuple[type[BaseException], ...]
    code: str
    disposition: Disposition
    says: str
    next: str
    statuses: frozenset[int] = frozenset()


_RETRIED = "nothing to do: it is sent again, a few times"
_WAITS = "nothing to do: it is sent again, a few times; or start a new run with another model"
_SMALLER = "start a new run with a smaller task, or with a model that takes longer conversations"
_REPORT = "report this with the output of `legato doctor`"

TABLE = (
    Row(
        (pai.ModelQuotaExceededError,),
        "quota_exhausted",
        Disposition.CAPACITY,
        "has no quota or credit left",
        "add credit at the provider, or start a new run with another model",
    ),
    Row(
        (pai.ModelRateLimitError,),
        "rate_limited",
        Disposition.RETRY,
        "limits the rate of requests",
        _WAITS,
    ),
    Row(
        (pai.ModelContextWindowExceededError,),
        "context_overflow",
        Disposition.OVERFLOW,
        "cannot take a conversation as long as this",
        _SMALLER,
    ),
    Row(
        (pai.ModelHTTPError,),
        "context_overflow",
        Disposition.OVERFLOW,
        "cannot take a request as large as this",
        _SMALLER,
        frozenset({413}),
    ),
    Row(
        (pai.ModelAuthenticationError,),
        "model_key_refused",
        Disposition.REFUSE,
        "refused the key",
        "set {keys} to a key that may use this model",
    ),
    Row(
        (pai.ModelNotFoundError,),
        "model_not_found",
        Disposition.REFUSE,
        "is not known to its provider",
        "check the model's name and, where one is given, its address",
    ),
    Row(
        (pai.ContentFilterError,),
        "content_filtered",
        Disposition.REFUSE,
        "refused the content",
        "change what was asked, or start a new run with another model",
    ),
    Row(
        (pai.ModelRequestRejectedError,),
        "request_rejected",
        Disposition.REFUSE,
        "rejected the request",
        "look at what was sent with `legato show RUN --request N`",
    ),
    Row(
        (pai.ModelOverloadedError,),
        "model_overloaded",
        Disposition.RETRY,
        "is overloaded",
        _RETRIED,
    ),
    Row(
        (pai.ModelUnavailableError, pai.ModelServerError),
        "provider_failed",
        Disposition.RETRY,
        "failed at its provider",
        _RETRIED,
    ),
    Row(
        (pai.ModelHTTPError,),
        "provider_failed",
        Disposition.RETRY,
        "could not serve the request now",
        _RETRIED,
        frozenset({408, 409, 425}),
    ),
    Row(
        (pai.ModelTimeoutError, pai.ModelRequestTimeout, httpx2.TimeoutException),
        "model_timeout",
        Disposition.RETRY,
        "was silent for too long",
        _RETRIED,
    ),
    Row(
        (pai.ModelConnectionError, httpx2.TransportError),
        "connection_failed",
        Disposition.RETRY,
        "could not be reached",
        "check the network and the model's address; it is sent again, a few times",
    ),
    Row(
        (pai.ModelHTTPError,),
        "request_rejected",
        Disposition.REFUSE,
        "rejected the request",
        "look at what was sent with `legato show RUN --request N`",
    ),
    Row(
        (
            pai.ModelAPIError,
            pai.UnexpectedModelBehavior,
            json.JSONDecodeError,
            UnicodeDecodeError,
            ValidationError,
        ),
        "bad_response",
        Disposition.RETRY,
        "answered with something that is not a response",
        _RETRIED,
    ),
    Row((pai.UserError,), "model_misused", Disposition.REFUSE, "was asked wrongly", _REPORT),
    Row((Exception,), "model_raised", Disposition.REFUSE, "failed in our own client", _REPORT),
)
"""First row that fits counts; a wait longer than SHORT_WAIT turns retry into capacity."""

HALF_STREAM = Row(
    (),
    "half_stream",
    Disposition.RETRY,
    "broke off in the middle of an answer",
    _RETRIED,
)
"""An answer that began and whose end the provider never sent."""


def failure_of(
    error: Exception, name: ModelName, *, partial: str = "", begun: bool = False
) -> ModelFailure:
    """Build the failure that an error means; `begun` says that part of an answer had come."""
    row = next(row for row in TABLE if _fits(row, error))
    if begun and row.code == "connection_failed":
        row = HALF_STREAM
    after = error.retry_after if isinstance(error, pai.ModelAPIError) else None
    disposition = row.disposition
    if disposition is Disposition.RETRY and after is not None and after > SHORT_WAIT:
        disposition = Disposition.CAPACITY
    return ModelFailure(
        row.code,
        f"{name.key} {row.says}{_detail(error, row)}",
        disposition,
        retry_after=after,
        partial=partial,
        next=row.next.format(keys=" or ".join(KEYS.get(name.provider, ("its key",)))),
    )


def half_stream(name: ModelName, partial: str) -> ModelFailure:
    """Build the failure of an answer that stopped without the provider's end."""
    return ModelFailure(
        HALF_STREAM.code,
        f"{name.key} {HALF_STREAM.says}",
        HALF_STREAM.disposition,
        partial=partial,
        next=HALF_STREAM.next,
    )


def _fits(row: Row, error: Exception) -> bool:
    if not isinstance(error, row.errors):
        return False
    return not row.statuses or (
        isinstance(error, pai.ModelHTTPError) and error.status_code in row.statuses
    )


def _detail(error: Exception, row: Row) -> str:
    """Name the HTTP status, or the kind of an error we did not foresee; never its text."""
    if isinstance(error, pai.ModelHTTPError):
        return f" (HTTP {error.status_code})"
    return f" ({type(error).__name__})" if row.errors == (Exception,) else ""
