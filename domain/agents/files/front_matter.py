"""Splits a file into the header and the text below it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import KEYS
from domain.agents.files.caps import MOST_HEADER, size
from domain.agents.files.problems import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Sequence

_BREAK = re.compile("[\x85\u2028\u2029]")  # YAML ends a line there too
_DASHES = re.compile(r"-{3,}[ \t]*")
_HEADER_LINE = re.compile(rf"(?:{'|'.join(KEYS)})\s*:|\s+\S|-\s|#")
_KEY_LINE = re.compile(rf"(?:{'|'.join(KEYS)})\s*:")


@dataclass(frozen=True, slots=True)
class Split:
    """The header's text with the number of its first line, and the body, trimmed."""

    header: str
    first_line: int
    body: str
    found: tuple[Problem, ...] = ()


def split(text: str) -> Split | Problem:
    """Split a file: forgiving of its delimiters, never taking a whole file for instructions.

    A line of three or more dashes opens and closes the header, and blank lines may stand
    before it. Where what follows the closing line reads like more of a header, nothing is
    given: a field that restricts the agent could be in it.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    opens = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    if opens == len(lines) or not _DASHES.fullmatch(lines[opens]):
        return problem("not_an_agent", 1)
    closes = _next_dashes(lines, opens + 1)
    if closes is None:
        return problem("header_unclosed", opens + 1)
    header = _BREAK.sub("\n", "\n".join(lines[opens + 1 : closes]))
    if size(header) > MOST_HEADER:
        return problem("header_too_large", opens + 1, most=MOST_HEADER)
    if _goes_on(lines, closes):
        return problem("header_cut", closes + 1)
    unusual = opens > 0 or lines[opens] != "---" or lines[closes] != "---"
    found = (problem("header_delimiter", (opens or closes) + 1),) if unusual else ()
    body = "\n".join(lines[closes + 1 :]).strip()
    return Split(header, opens + 2, body, found)


def _next_dashes(lines: Sequence[str], begin: int) -> int | None:
    found = (n for n in range(begin, len(lines)) if lines[n][:3] == "---")
    return next((n for n in found if _DASHES.fullmatch(lines[n])), None)


def _goes_on(lines: Sequence[str], closes: int) -> bool:
    """Tell whether another closing line follows, with only a header's lines between them."""
    again = _next_dashes(lines, closes + 1)
    if again is None:
        return False
    between = [line for line in lines[closes + 1 : again] if line.strip()]
    keys = any(_KEY_LINE.match(line) for line in between)
    return keys and all(_HEADER_LINE.match(line) for line in between)
