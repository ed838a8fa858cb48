"""Numbers as people read them: with their noun in the singular where there is one."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun; `many` is the plural where that is not `one` with an s."""
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"
