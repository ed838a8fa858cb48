"""Which question an answer is for: the one that is named, else the only one that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from legato.cli.answer import addressed
from tests.support import facts as f
from tests.support.recorded import recorded

if TYPE_CHECKING:
    from domain.events import Fact

RUN = "01a22cdb-de41"


def asked(*inputs: str) -> tuple[Fact, ...]:
    """A run that has asked questions."""
    return (f.accepted(RUN), f.attached(), f.defined(), *(f.asked(one) for one in inputs))


def refusal(words: list[str], *inputs: str) -> LegatoError:
    with pytest.raises(LegatoError) as refused:
        addressed(RUN, recorded(*asked(*inputs)), words)
    return refused.value


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["ask-1.1.0", "yes"], ("ask-1.1.0", "yes")),
        (["ask-1.1.0", "yes", "do"], ("ask-1.1.0", "yes do")),
        (["yes"], ("ask-1.1.0", "yes")),
        (["yes", "do"], ("ask-1.1.0", "yes do")),
        (["ask-7.7.7", "yes"], ("ask-7.7.7", "yes")),
        (["unknown-1.1.0.1", "it happened"], ("unknown-1.1.0.1", "it happened")),
    ],
)
def test_the_only_question_needs_no_name(words: list[str], found: tuple[str, str]) -> None:
    assert addressed(RUN, recorded(*asked("ask-1.1.0")), words) == found


def test_several_questions_are_listed_with_what_to_type() -> None:
    refused = refusal(["yes"], "ask-1.1.0", "ask-1.1.1")

    assert refused.code == "input_ambiguous"
    assert refused.details["questions"] == ["ask-1.1.0", "ask-1.1.1"]
    assert f"legato answer {RUN} ask-1.1.0 " in refused.next
    assert f"legato answer {RUN} ask-1.1.1 " in refused.next


def test_an_answer_to_nothing_is_refused() -> None:
    refused = refusal(["yes"])

    assert (refused.code, refused.message) == ("input_not_found", f"the run {RUN} asks nothing")
    assert f"legato send {RUN} TEXT" in refused.next


def test_no_message_is_proposed_to_a_run_that_has_ended() -> None:
    with pytest.raises(LegatoError) as refused:
        addressed(RUN, recorded(*asked(), f.run_ended()), ["yes"])

    assert refused.value.message == f"the run {RUN} has ended and asks nothing"
    assert refused.value.next == f"see `legato show {RUN}`"


def test_a_question_without_an_answer_is_refused_with_what_to_type() -> None:
    refused = refusal(["ask-1.1.0"], "ask-1.1.0")

    assert refused.code == "usage"
    assert f"legato answer {RUN} ask-1.1.0 " in refused.next
