"""The one error type, its codes, and what each code means at every door."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Kind(StrEnum):
    """Whose fault an error is: it decides who acts on it and whether a retry can help."""

    BUG = "bug"
    REFUSED = "refused"
    WORLD = "world"


@dataclass(frozen=True)
class Rule:
    """What a code means: exit status, HTTP status, and whether Temporal may retry."""

    exit: int
    http: int
    retry: bool


class LegatoError(Exception):
    """An error as an instruction.

    `code` is stable and machine-readable, `message` says what happened in one sentence,
    `cause` what it came from, `next` a true next step, `details` plain values (all that
    is wrong at once, under "problems" where there are several).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        kind: Kind = Kind.WORLD,
        cause: str = "",
        next: str = "",  # noqa: A002 - the field's name at every door
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.kind = kind
        self.cause = cause
        self.next = next
        self.details: Mapping[str, object] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def refused(
    code: str,
    message: str,
    *,
    cause: str = "",
    next: str = "",  # noqa: A002 - the field's name at every door
    details: Mapping[str, object] | None = None,
) -> LegatoError:
    """Build an error that is the caller's to mend."""
    return LegatoError(code, message, kind=Kind.REFUSED, cause=cause, next=next, details=details)


def bug(code: str, message: str, **details: object) -> LegatoError:
    """Build an error that is ours to mend."""
    return LegatoError(
        code,
        message,
        kind=Kind.BUG,
        next="report this with the output of `legato doctor`",
        details=details,
    )


def problems(
    code: str,
    message: str,
    found: Sequence[str],
    *,
    next: str = "",  # noqa: A002 - the field's name at every door
) -> LegatoError:
    """Build one refusal that lists everything wrong at once."""
    listed = "; ".join(found)
    return refused(
        code,
        f"{message}: {listed}",
        cause=listed,
        next=next,
        details={"problems": list(found)},
    )


_BY_KIND = {
    Kind.BUG: Rule(exit=1, http=500, retry=False),
    Kind.REFUSED: Rule(exit=3, http=409, retry=False),
    Kind.WORLD: Rule(exit=1, http=503, retry=True),
}

_BY_CODE = {
    "usage": Rule(exit=2, http=400, retry=False),
    "not_found": Rule(exit=4, http=404, retry=False),
    "run_not_found": Rule(exit=4, http=404, retry=False),
    "run_ambiguous": Rule(exit=4, http=404, retry=False),
    "request_not_found": Rule(exit=4, http=404, retry=False),
    "input_ambiguous": Rule(exit=4, http=404, retry=False),
    "input_not_found": Rule(exit=4, http=404, retry=False),
    "agent_not_found": Rule(exit=4, http=404, retry=False),
    "agents_path_not_found": Rule(exit=4, http=404, retry=False),
    "workspace_not_found": Rule(exit=4, http=404, retry=False),
    "cursor_invalid": Rule(exit=2, http=400, retry=False),
    "token_missing": Rule(exit=3, http=401, retry=False),
    "token_wrong": Rule(exit=3, http=401, retry=False),
    "host_not_allowed": Rule(exit=3, http=403, retry=False),
    "origin_not_allowed": Rule(exit=3, http=403, retry=False),
    "viewers_too_many": Rule(exit=1, http=503, retry=True),
    "waits_for_person": Rule(exit=5, http=202, retry=False),
    "run_stopped": Rule(exit=6, http=409, retry=False),
    "interrupted": Rule(exit=130, http=503, retry=False),
    "stack_not_ready": Rule(exit=7, http=503, retry=True),
    "stack_failed": Rule(exit=7, http=503, retry=True),
    "temporal_unreachable": Rule(exit=7, http=503, retry=True),
    "ledger_unreachable": Rule(exit=7, http=503, retry=True),
    "version_conflict": Rule(exit=1, http=409, retry=True),
    "ledger_behind": Rule(exit=1, http=503, retry=True),
}


def rule_of(code: str, kind: Kind) -> Rule:
    """Tell what a code means at every door; a code without a row follows its kind."""
    return _BY_CODE.get(code, _BY_KIND[kind])


def to_json(error: LegatoError) -> dict[str, object]:
    """Render an error as `{ok: false, error: {code, message, cause, next, details}}`."""
    body = {
        "code": error.code,
        "message": error.message,
        "cause": error.cause,
        "next": error.next,
        "details": dict(error.details),
    }
    return {"ok": False, "error": body}
