"""Keys of a header that must not be lost: ours misspelt, and those by which others restrict."""

from __future__ import annotations

import difflib
import re
import unicodedata
from functools import lru_cache

from domain.agents.files.agent_file import KEYS
from domain.agents.files.problems import Problem, problem

AUTHORITY = ("tools", "disallowedTools", "permissionMode", "hooks")
"""Losing one of these would give an agent more than its author meant."""

_RESTRICTING = frozenset({
    "allow", "allowed", "allowedtools", "allowtools", "approvalmode", "approvalpolicy", "denied",
    "deniedtools", "deny", "denytools", "disallowed", "excludedtools", "excludetools", "isolation",
    "permission", "permissions", "readonly", "sandbox", "sandboxmode",
})  # fmt: skip
_NEAR = 0.87
_WORD = re.compile(r"\W*([A-Za-z][\w-]*)[\"']?\s*[:=]")


def _squeezed(key: str) -> str:
    folded = unicodedata.normalize("NFKC", key).casefold()
    return "".join(each for each in folded if each.isascii() and each.isalnum())


_OURS = {_squeezed(key): key for key in AUTHORITY}


def key_problem(key: str, line: int) -> Problem | None:
    """Tell why a key that is none of ours must not be passed over; None where it may."""
    if key in KEYS:
        return None
    meant = _meant(key)
    if meant:
        return problem("key_misspelt", line, field=meant)
    return problem("key_restricts", line) if _squeezed(key) in _RESTRICTING else None


@lru_cache(maxsize=4096)
def _meant(key: str) -> str:
    """Find the key of authority that a key is nearly spelt like; "" for none."""
    squeezed = _squeezed(key)
    known = squeezed in _RESTRICTING
    near = [] if known else difflib.get_close_matches(squeezed, _OURS, n=1, cutoff=_NEAR)
    return _OURS[near[0]] if near else ""


def hidden_key(line: str) -> str:
    """Find a key of authority at the beginning of a line of text; "" for none.

    Sees through indentation, list marks, quotes, invisible characters and look-alike colons.
    """
    plain = unicodedata.normalize("NFKC", line)
    visible = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    found = _WORD.match(visible)
    return _meant(found[1]) if found else ""
