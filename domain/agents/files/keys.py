"""Keys of a header that must not be lost: ours misspelt, and those by which others restrict."""

from __future__ import annotations

import difflib
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from domain.agents.files.agent_file import KEYS
from domain.agents.files.nodes import Fields, Items
from domain.agents.files.problems import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from domain.agents.files.nodes import Node

AUTHORITY = ("tools", "disallowedTools", "permissionMode", "hooks")
"""Losing one of these would give an agent more than its author meant."""

_RESTRICTING = frozenset({
    "allow", "allowed", "allowedtools", "allowtools", "approvalmode", "approvalpolicy", "denied",
    "deniedtools", "deny", "denytools", "disallowed", "excludedtools", "excludetools", "isolation",
    "permission", "permissions", "readonly", "sandbox", "sandboxmode",
})  # fmt: skip
_OF_SERVERS = frozenset({"disabled", "enabled", "enabledtools", "disabledtools"})
_NEAR = 0.87
_WORD = re.compile(r"\W*([A-Za-z][\w-]*)[\"']?\s*[:=]")


def _squeezed(key: str) -> str:
    folded = unicodedata.normalize("NFKC", key).casefold()
    return "".join(each for each in folded if each.isascii() and each.isalnum())


_OURS = {_squeezed(key): key for key in AUTHORITY}


def key_problem(key: str, line: int, given: Collection[str] = ()) -> Problem | None:
    """Tell why a key that is none of ours must not be passed over; None where it may.

    What is spelt nearly like one of those `given` is not lost.
    """
    if key in KEYS:
        return None
    meant = _meant(key)
    if meant:
        return None if meant in given else problem("key_misspelt", line, field=meant)
    return problem("key_restricts", line) if _squeezed(key) in _RESTRICTING else None


def restricts(key: str) -> bool:
    """Tell whether a key of a server limits what the server may be used for."""
    squeezed = _squeezed(key)
    return squeezed in _RESTRICTING or squeezed in _OURS or squeezed in _OF_SERVERS


@lru_cache(maxsize=4096)
def _meant(key: str) -> str:
    """Find the key of authority that a key is nearly spelt like; "" for none."""
    squeezed = _squeezed(key)
    known = squeezed in _RESTRICTING
    near = [] if known else difflib.get_close_matches(squeezed, _OURS, n=1, cutoff=_NEAR)
    return _OURS[near[0]] if near else ""


def swallowed(
    header: Sequence[str], first_line: int, fields: Fields, given: Collection[str]
) -> Iterator[Problem]:
    """Find lines of good YAML that read like a field of authority and are part of a text.

    One that is `given` elsewhere is not lost, so that its name in a text is just text.
    """
    lines: set[int] | None = None
    for line, text in enumerate(header, first_line):
        key = hidden_key(text)
        if not key or key in given:
            continue
        lines = set(_key_lines(fields)) if lines is None else lines
        if line not in lines:
            yield problem("field_hidden", line, field=key)


def _key_lines(node: Node) -> Iterator[int]:
    if isinstance(node, Fields):
        for key, value in node.pairs:
            yield key.line
            yield from _key_lines(value)
    elif isinstance(node, Items):
        for value in node.values:
            yield from _key_lines(value)


def hidden_key(line: str) -> str:
    """Find a key of authority at the beginning of a line of text; "" for none.

    Sees through indentation, list marks, quotes, invisible characters and look-alike colons.
    A comment is none.
    """
    if line.lstrip()[:1] == "#":
        return ""
    visible = line
    if not line.isascii():
        plain = unicodedata.normalize("NFKC", line)
        visible = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    if ":" not in visible and "=" not in visible:
        return ""
    found = _WORD.match(visible)
    return _meant(found[1]) if found else ""
