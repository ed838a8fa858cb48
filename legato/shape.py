"""The shape of an exception: its type and places, without any text that may hold a secret."""

from __future__ import annotations

from traceback import walk_tb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_CAUSES = 5
_MOST_FRAMES = 30


def shape(exc: BaseException) -> list[str]:
    """Give an exception's type, the places it came through, and the same of its causes.

    Its text is left out, and so are the lines of code: arguments, keys and addresses stand
    in such texts, and a log is read by more people than those.
    """
    lines: list[str] = []
    for n, one in enumerate(_with_causes(exc)):
        lines.append(f"{'caused by ' if n else ''}{type(one).__module__}.{type(one).__qualname__}")
        places = [
            f"  {frame.f_code.co_filename}:{at} {frame.f_code.co_qualname}"
            for frame, at in walk_tb(one.__traceback__)
        ]
        lines += places[-_MOST_FRAMES:]
    return lines


def broke_at(exc: BaseException) -> str:
    """Say in one line what an exception is and where it was raised, without its text."""
    places = [f"{frame.f_code.co_filename}:{at}" for frame, at in walk_tb(exc.__traceback__)]
    return f"{type(exc).__name__} at {places[-1] if places else 'an unknown place'}"


def _with_causes(exc: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = exc
    for _ in range(_MOST_CAUSES):
        if one is None:
            return
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
