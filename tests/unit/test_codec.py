"""JSON from outside is read or refused with one error, however deep it goes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.codec import Json, canonical, clean_text, decode, decode_object, digest

DEEP = "[" * 100_000


def nested(depth: int) -> Json:
    """Put empty lists into one another."""
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("text", [DEEP, DEEP + "]" * 100_000, '{"a":' * 100_000])
def test_json_nested_too_deeply_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        decode(text.encode())
    with pytest.raises(ValueError, match="nested too deeply"):
        decode_object(text)


def test_a_value_nested_too_deeply_has_no_canonical_form() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical(nested(100_000))
    with pytest.raises(ValueError, match="nested too deeply"):
        digest(nested(100_000))


def test_a_value_of_usual_depth_is_read_back() -> None:
    assert decode(canonical(nested(50))) == nested(50)


def test_what_is_no_object_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="got list"):
        decode_object("[]")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udcff\udcfe", "\ufffd\ufffd"),
        ("gr\u00fc\u00df \U0001f600", "gr\u00fc\u00df \U0001f600"),
    ],
)
def test_each_lone_surrogate_becomes_one_replacement_character(text: str, clean: str) -> None:
    assert clean_text(text) == clean
    assert clean_text(text).encode().decode() == clean


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@given(JSON)
def test_canonical_bytes_are_those_of_the_standard_encoder(value: Json) -> None:
    """Chains and digests of every earlier build were taken of these."""
    assert canonical(value) == standard(value)


@pytest.mark.parametrize(
    "value",
    ['\x7f\x1b\x00\b\f\n\r\t"\\/', {"\U0001f600": 1, "￿": 2, "a": 3}, 2**64, -(2**63) - 1, 1e16],
)
def test_canonical_bytes_agree_where_encoders_might_differ(value: Json) -> None:
    assert canonical(value) == standard(value)


def standard(value: Json) -> bytes:
    """Encode with sorted keys, no spaces, in UTF-8, by the standard library."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("value", ["\ud800", {"a": float("nan")}, [float("inf")]])
def test_what_json_cannot_hold_has_no_canonical_form(value: Json) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical(value)
