"""Plain values to canonical bytes and back, and the digests taken of them."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, TypeAlias, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

Json: TypeAlias = (
    "bool | int | float | str | list[Json] | tuple[Json, ...] | dict[str, Json] | None"
)

_LONE = re.compile("[\ud800-\udfff]")
_LEAVES = frozenset({str, int, bool, type(None)})
_ROWS = frozenset({list, tuple})
_TOO_DEEP = "the value is nested too deeply"


def canonical(value: object) -> bytes:
    """Encode a JSON value as the bytes that are hashed: sorted keys, no spaces, UTF-8.

    Raises ValueError for what JSON cannot hold, and for a value nested too deeply.
    """
    if _is_plain(value):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:  # such as a number of more than 64 bits: the other way tells
            pass
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return text.encode("utf-8")


def _is_plain(value: object) -> bool:
    """Tell whether both encoders write the same bytes: not so of numbers with fractions."""
    try:
        return _holds_plain([value])
    except RecursionError:
        return False


def _holds_plain(values: Iterable[object]) -> bool:
    for each in values:
        kind = type(each)
        if kind in _LEAVES:
            continue
        if kind is dict:
            inner: Iterable[object] = cast("dict[object, object]", each).values()
        elif kind in _ROWS:
            inner = cast("list[object]", each)
        else:
            return False
        if not _holds_plain(inner):
            return False
    return True


def canonical_list(parts: Iterable[bytes]) -> bytes:
    """Put canonical values together to the canonical bytes of the list of them."""
    return b"[" + b",".join(parts) + b"]"


def decode(data: bytes | str) -> Json:
    """Decode JSON; what is no JSON, or nested too deeply, is a ValueError."""
    return cast("Json", _loaded(data))


def decode_object(data: bytes | str) -> dict[str, Json]:
    """Decode bytes that hold a JSON object; anything else is a ValueError."""
    value = _loaded(data)
    if not isinstance(value, dict):
        message = f"expected a JSON object, got {type(value).__name__}"
        raise ValueError(message)  # noqa: TRY004 - one error type for all bad input
    return cast("dict[str, Json]", value)


def digest(value: object) -> str:
    """Take the hexadecimal SHA-256 of a value's canonical bytes."""
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Take the hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def clean_text(text: str) -> str:
    """Make text storable as UTF-8: each lone surrogate becomes one U+FFFD."""
    return _LONE.sub("\ufffd", text)


def _loaded(data: bytes | str) -> object:
    try:
        value: object = json.loads(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return value
