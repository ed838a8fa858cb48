"""What may travel through Temporal: brief JSON, at most 64 KiB a payload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from temporalio.exceptions import ApplicationError

from domain.runs.position import Position, Wait
from domain.runs.steps import ItemShape, SignalInput, StepInput, StepResult, Written
from legato.payloads import CONVERTER, MOST_BYTES

if TYPE_CHECKING:
    from temporalio.converter import PayloadConverter


@dataclass(frozen=True)
class Held:
    """A value with a default that is made anew."""

    text: str = ""
    listed: list[str] = field(default_factory=list[str])


@pytest.fixture
def converter() -> PayloadConverter:
    return CONVERTER.payload_converter_class()


@pytest.mark.parametrize("text", ["x" * MOST_BYTES, "\x00" * (MOST_BYTES // 6), "é" * 12_000])
def test_a_payload_over_64_kib_is_refused_typed_and_finally(
    converter: PayloadConverter, text: str
) -> None:
    with pytest.raises(ApplicationError) as refusal:
        converter.to_payloads([SignalInput("r", 1, "message", text)])

    assert refusal.value.type == "payload_too_large"
    assert refusal.value.non_retryable
    assert text[:20] not in str(refusal.value), "the refusal holds no content"


def test_the_limit_is_of_each_payload_and_not_of_all(converter: PayloadConverter) -> None:
    nearly = "x" * (MOST_BYTES - 100)

    payloads = converter.to_payloads([nearly, nearly])

    assert [p.ByteSize() <= MOST_BYTES for p in payloads] == [True, True]
    with pytest.raises(ApplicationError, match="at most 65536"):
        converter.to_payloads(["fits", "x" * MOST_BYTES])


@pytest.mark.parametrize(
    "value",
    [
        StepInput("r", 0, 1, 2, 33),
        StepResult("calls", tools=("a",), written=Written(3, 9, "ab")),
        Position(
            phase="wait",
            items=(ItemShape("one", has_turn=True, has_checks=False, repairs=3),),
            wait=Wait("input", "q"),
        ),
        Held("x", ["y"]),
    ],
)
def test_what_is_left_out_comes_back_as_it_was(converter: PayloadConverter, value: object) -> None:
    payloads = converter.to_payloads([value])

    assert converter.from_payloads(payloads, [type(value)]) == [value]


def test_a_field_with_its_default_takes_no_byte(converter: PayloadConverter) -> None:
    (payload,) = converter.to_payloads([StepResult("again")])

    assert payload.data == b'{"outcome":"again"}'


def test_there_is_no_codec() -> None:
    assert CONVERTER.payload_codec is None


@pytest.mark.parametrize(
    "sent", [{"outcome": "no such"}, {"outcome": "again", "tokens": "many"}, {"tokens": 1}, [1]]
)
def test_what_is_not_of_the_type_is_refused(converter: PayloadConverter, sent: object) -> None:
    """A wrong value, a wrong type, a missing field, and what is no object at all."""
    payloads = converter.to_payloads([sent])

    with pytest.raises(TypeError):
        converter.from_payloads(payloads, [StepResult])


def test_a_field_that_a_newer_build_wrote_is_passed_over(converter: PayloadConverter) -> None:
    payloads = converter.to_payloads([{"outcome": "again", "of_tomorrow": 1}])

    assert converter.from_payloads(payloads, [StepResult]) == [StepResult("again")]
