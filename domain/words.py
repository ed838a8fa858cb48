"""Numbers and foreign names as people read them."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun; `many` is the plural where that is not `one` with an s."""
    return f"{number} {one}" if number == 1 else f"{number} {many or f'{one}s'}"


def on_one_line(name: str) -> str:
    """Write a name that others chose so that it cannot begin a line of ours: escapes for controls.

    Hidden marks and broken bytes are escaped too; what is printable stays as it is.
    """
    if name.isprintable():
        return name
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in name
    )
