"""What a tool call can come to, and how a large result is handed to a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, field_validator

from domain.codec import clean_text

HEAD_BYTES = 12 * 1024
TAIL_BYTES = 4 * 1024


class Tag(StrEnum):
    """The closed list of outcomes; nothing infers failure from text."""

    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    PROPOSED = "proposed"
    EXPIRED = "expired"
    NOT_RUN = "not_run"


class Outcome(BaseModel):
    """One call's outcome: a tag, a stable code for all but ok, and the text for the model.

    `text` is whole, in characters; what the model is shown is cut by `bounded`.
    `changed` lists workspace paths (relative) that the call is known to have changed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tag: Tag
    code: str = ""
    text: str = ""
    changed: tuple[str, ...] = ()

    @field_validator("code", "text")
    @classmethod
    def storable(cls, text: str) -> str:
        """Take text that cannot be stored as UTF-8 with its broken pieces replaced."""
        return clean_text(text)

    @field_validator("changed")
    @classmethod
    def storable_paths(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Take paths that are not UTF-8 with their broken pieces replaced."""
        return tuple(clean_text(path) for path in paths)


def ok(text: str, *, changed: tuple[str, ...] = ()) -> Outcome:
    """Build the outcome of a call that did what it was asked."""
    return Outcome(tag=Tag.OK, text=text, changed=changed)


def error(code: str, text: str, *, changed: tuple[str, ...] = ()) -> Outcome:
    """Build the outcome of a call that failed: the text says why and what to do next."""
    return Outcome(tag=Tag.ERROR, code=code, text=text, changed=changed)


def denied(code: str, text: str) -> Outcome:
    """Build the outcome of a call that this agent may not make."""
    return Outcome(tag=Tag.DENIED, code=code, text=text)


def not_run(code: str, text: str) -> Outcome:
    """Build the outcome of a call that was never begun."""
    return Outcome(tag=Tag.NOT_RUN, code=code, text=text)


def expired(text: str) -> Outcome:
    """Build the outcome of a call whose question nobody answered in time."""
    return Outcome(tag=Tag.EXPIRED, code="expired", text=text)


@dataclass(frozen=True)
class Bounded:
    """A result cut for a model: the text, and the size in bytes of the whole."""

    text: str
    total: int
    cut: bool


def _cut_front(data: bytes, limit: int) -> str:
    """Keep at most `limit` leading bytes, ending on a line where one ends in the last half."""
    piece = data[:limit]
    line_end = piece.rfind(b"\n")
    if line_end >= limit // 2:
        piece = piece[: line_end + 1]
    return piece.decode("utf-8", "ignore")


def _cut_back(data: bytes, limit: int) -> str:
    """Keep at most `limit` trailing bytes, beginning on a line where one begins early."""
    piece = data[-limit:]
    line_start = piece.find(b"\n")
    if 0 <= line_start <= limit // 2:
        piece = piece[line_start + 1 :]
    return piece.decode("utf-8", "ignore")


def bounded(text: str, result_id: str) -> Bounded:
    """Cut a result to head and tail on line and rune boundaries, saying how to read the rest."""
    data = text.encode("utf-8", "replace")
    if len(data) <= HEAD_BYTES + TAIL_BYTES:
        return Bounded(text=text, total=len(data), cut=False)
    head, tail = _cut_front(data, HEAD_BYTES), _cut_back(data, TAIL_BYTES)
    offset = len(head.encode())
    left_out = len(data) - offset - len(tail.encode())
    note = (
        f"\n[... {left_out} of {len(data)} bytes left out; read on with "
        f'read_result(id="{result_id}", offset={offset}) ...]\n'
    )
    return Bounded(text=head + note + tail, total=len(data), cut=True)
