"""Many items travel in few bytes, and the workflow finds each of them as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.runs.card import place
from domain.runs.position import Position, after_build
from domain.runs.shapes import MOST_NAMED, brief, count, name_at, shape_at
from domain.runs.steps import BuildResult, ItemShape
from legato.payloads import CONVERTER
from tests.support.histories import PROPERTY

KINDS = (
    ItemShape("talk"),
    ItemShape("check", has_turn=False, has_checks=True),
    ItemShape("both", has_checks=True, repairs=1),
)


@PROPERTY
@given(st.lists(st.sampled_from(KINDS), max_size=3 * MOST_NAMED))
def test_each_item_is_found_as_it_is_however_many(shapes: list[ItemShape]) -> None:
    items = brief(shapes)

    assert count(items) == len(shapes)
    for n, shape in enumerate(shapes):
        found = shape_at(items, n)
        assert (found.has_turn, found.has_checks, found.repairs) == (
            *(shape.has_turn, shape.has_checks),
            shape.repairs,
        )
        assert name_at(items, n) == (f"item {n + 1}" if len(shapes) > MOST_NAMED else shape.name)
    with pytest.raises(IndexError):
        shape_at(items, len(shapes))


def test_a_few_items_keep_their_names() -> None:
    shapes = [ItemShape(f"turn {n}") for n in range(MOST_NAMED)]

    assert brief(shapes) == tuple(shapes)


def test_five_thousand_turns_travel_in_a_hundred_bytes_and_all_are_taken() -> None:
    built = BuildResult("ok", brief([ItemShape(f"turn {n}") for n in range(5_000)]))
    (payload,) = CONVERTER.payload_converter_class().to_payloads([built])

    at = after_build(Position(), built)

    assert len(payload.data) < 100
    assert (at.phase, at.turn) == ("step", 1)
    assert place(at) == "item 1 of 5000, turn 1, step 1"
