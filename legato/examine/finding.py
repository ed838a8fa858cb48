"""What one examination came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How good it is: a warning works with less, a failure does not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `next` says what to do where it is not ok."""

    name: str
    grade: Grade
    text: str
    next: str = ""


def ok(name: str, text: str) -> Finding:
    """Say that a thing is as it should be."""
    return Finding(name, Grade.OK, text)


def warn(name: str, text: str, next_step: str) -> Finding:
    """Say that a thing works with less than it could."""
    return Finding(name, Grade.WARN, text, next_step)


def fail(name: str, text: str, next_step: str) -> Finding:
    """Say that a thing does not work."""
    return Finding(name, Grade.FAIL, text, next_step)
