"""Which tools a text speaks of, so that no text promises a tool its reader does not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")


def mentioned(text: str, names: Collection[str]) -> tuple[str, ...]:
    """List, sorted, the names that a text speaks of as tools.

    A name with an underscore counts wherever it stands; a plain word, which is also
    English, only in back quotes or before an opening bracket.
    """
    seen = {word.rstrip(".-") for word in _NAME.findall(text)}
    return tuple(sorted(n for n in names if n in seen and ("_" in n or _as_code(text, n))))


def _as_code(text: str, name: str) -> bool:
    """Tell whether a plain word stands in a text as code."""
    escaped = re.escape(name)
    return re.search(rf"`{escaped}[`(]|(?<![\w.\-]){escaped}\(", text) is not None
