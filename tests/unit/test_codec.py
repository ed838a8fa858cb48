"""JSON from outside is read or refused with one error, however deep it goes."""

from __future__ import annotations

import pytest

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
