"""Finding a pattern in lines of text, in bounded time whatever the pattern is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from activities.tools.watch import Watch
from domain.errors import LegatoError, refused

LONGEST_LINE = 2000
"""How many characters of a line are searched."""

_LINE_SECONDS = 0.5
_TEXT_SECONDS = 0.02
_MOST_SLOW_TEXTS = 3

_LOOKS_AROUND = re.compile(
    r"""\(\?(?!:)            # lookaround, atomic groups, flags in the middle, recursion
      | [*+?}]\+             # possessive
      | \\[^bdDwWsSnrt\W_]   # \A, \Z, \B, references, properties and whatever else has a letter
      | \{(?![0-9,])         # fuzzy
    """,
    re.VERBOSE,
)
_RECURSION = re.compile(r"\(\?(?:R|&|P>|[+-]?\d)")
_LEADING_FLAGS = re.compile(r"\(\?[is]+\)")


class _Match(Protocol):
    def start(self) -> int: ...


class _Compiled(Protocol):
    def search(self, string: str, *, timeout: float) -> _Match | None: ...


class _Engine(Protocol):
    IGNORECASE: int
    MULTILINE: int
    error: type[Exception]

    def compile(self, pattern: str, flags: int) -> _Compiled: ...
    def escape(self, pattern: str) -> str: ...


def _engine() -> _Engine:
    """Load `regex`: unlike `re` it can be told to give up, and it lets other threads run.

    It has no types that every checker sees, so what is used of it is stated here.
    """
    return cast("_Engine", import_module("regex"))


@dataclass
class Pattern:
    """A compiled pattern. `in_text` is None where a whole text cannot stand for its lines."""

    watch: Watch
    in_line: _Compiled
    in_text: _Compiled | None
    slow_texts: int = 0

    def find(self, line: str) -> int:
        """Return the character at which a line matches, -1 where it does not.

        Raises `pattern_too_slow` where the line takes half a second, `time_limit`, `stopped`.
        """
        self.watch.check()
        try:
            match = self.in_line.search(line, timeout=_LINE_SECONDS)
        except TimeoutError:
            raise _too_slow() from None
        return -1 if match is None else match.start()

    def absent(self, text: str) -> bool:
        r"""Tell whether surely no line of a text (lines ended by \n) matches.

        One search instead of one a line; given up for good where it is slow.
        """
        if self.in_text is None or self.slow_texts >= _MOST_SLOW_TEXTS:
            return False
        try:
            return self.in_text.search(text, timeout=_TEXT_SECONDS) is None
        except TimeoutError:
            self.slow_texts += 1
            return False


def compile_pattern(pattern: str, watch: Watch, *, is_regex: bool, ignore_case: bool) -> Pattern:
    """Compile a pattern for lines; raises `invalid_pattern`.

    A pattern that calls itself is one: it takes memory without bound.
    """
    if is_regex and _RECURSION.search(pattern):
        raise _invalid("it calls itself, which is not supported")
    engine = _engine()
    source = pattern if is_regex else engine.escape(pattern)
    flags = engine.IGNORECASE if ignore_case else 0
    try:
        in_line = engine.compile(source, flags)
        local = not is_regex or not _LOOKS_AROUND.search(_LEADING_FLAGS.sub("", source, count=1))
        in_text = engine.compile(source, flags | engine.MULTILINE) if local else None
    except (engine.error, RecursionError, OverflowError, ValueError, TypeError) as exc:
        raise _invalid(str(exc)) from None
    return Pattern(watch, in_line, in_text)


def _invalid(why: str) -> LegatoError:
    return refused(
        "invalid_pattern",
        f"the pattern is no regular expression: {why}",
        next="mend it, or search for plain text with regex=false",
    )


def _too_slow() -> LegatoError:
    return refused(
        "pattern_too_slow",
        f"the pattern needs more than {_LINE_SECONDS} seconds for one line",
        next="use a pattern without nested repetition, or plain text with regex=false",
    )
