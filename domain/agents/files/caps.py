"""How large a text of an agent file may be, and how it is cut: by bytes, between characters."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MOST_DESCRIPTION = 2000
"""Bytes of a description: the roster of all of them rides with every request."""

MOST_BODY = 32 * 1024
"""Bytes of a body: it is in the context of its own agent only."""

MOST_NAME = 200
MOST_WORD = 200
MOST_HEADER = 64 * 1024
MOST_FILE = 1024 * 1024

MOST_TOOLS = 256
MOST_SKILLS = 256
MOST_HOOKS = 32
MOST_SERVERS = 64
MOST_HEADERS = 32
MOST_AGENTS = 1024
"""Agents that one source may give."""

_ELLIPSIS = "\u2026"
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_NOT_IN_ID = re.compile(r"[^a-z0-9]+")
_LONGEST_ID = 64
_MARK = 6


def size(text: str) -> int:
    """Count the bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8"))


def cut(text: str, most: int) -> str:
    """Shorten a text to at most `most` bytes; one that was cut ends in an ellipsis."""
    if size(text) <= most:
        return text
    room = most - len(_ELLIPSIS.encode("utf-8"))
    return text.encode("utf-8")[:room].decode("utf-8", errors="ignore") + _ELLIPSIS


def one_line(text: str) -> str:
    """Put a text on one line: white space and controls become one space, hidden marks go."""
    if not text.isascii():
        text = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return _BLANK.sub(" ", text).strip(" ")


def id_of(name: str) -> str:
    """Derive the id that a name is addressed by: lower-case letters, digits, single dashes.

    Accents go. A name with other letters, or a very long one, gets a mark of its own, so
    that two such names do not become one id.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    letters = "".join(each for each in folded if not unicodedata.combining(each))
    plain = _NOT_IN_ID.sub("-", letters).strip("-")
    lost = any(each.isalnum() and not each.isascii() for each in letters)
    if plain and not lost and len(plain) <= _LONGEST_ID:
        return plain
    mark = hashlib.sha256(folded.encode("utf-8", errors="replace")).hexdigest()[:_MARK]
    start = plain[: _LONGEST_ID - _MARK - 1].strip("-") or "agent"
    return f"{start}-{mark}"
