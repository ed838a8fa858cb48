"""What people are shown of a long text: its first line, or its end."""

from __future__ import annotations

MOST_LINES = 40
MOST_CHARS = 6000


def first_line(text: str) -> str:
    """Give the first line that says something, without the colon that led to the next."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line), "").removesuffix(":")


def tail(text: str, lines: int = MOST_LINES, chars: int = MOST_CHARS) -> str:
    """Give the last lines of a text, at most so many and so many characters.

    A first line tells how many lines before them are left out.
    """
    every = text.rstrip().splitlines()
    kept: list[str] = []
    room = chars
    for line in reversed(every[-lines:]):
        cut = line if len(line) <= room else f"...{line[len(line) - room :]}"
        if room <= 0:
            break
        kept.append(cut.rstrip())
        room -= len(line) + 1
    left = len(every) - len(kept)
    if not left:
        return "\n".join(reversed(kept))
    before = f"[{left} {'line' if left == 1 else 'lines'} before these: see `log --raw`]"
    return "\n".join([before, *reversed(kept)])
