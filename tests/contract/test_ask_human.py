"""`ask_human` asks a fit question and refuses an unfit one with everything wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from activities.tools.people import PEOPLE_TOOLS
from domain.errors import LegatoError
from domain.ports import Absent, Asks
from domain.runs.inputs import OWNER, InputKind, Question
from domain.tools.registry import Effect, Writes, build_registry
from domain.tools.schema import argument_problems
from tests.support.tool_context import by_name, tool_context

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json

ASK = by_name(PEOPLE_TOOLS)["ask_human"]


def asked(tmp_path: Path, **arguments: Json) -> Question:
    """Ask, as the engine does."""
    assert argument_problems(ASK.spec.schema, arguments) == []
    returned = ASK.execute(arguments, tool_context(tmp_path))
    assert isinstance(returned, Asks)
    return returned.question


def test_it_needs_a_person_and_writes_to_the_ledger_only() -> None:
    (spec,) = build_registry([ASK.spec]).specs.values()

    assert (spec.effect, spec.writes, spec.needs) == (
        Effect.TRANSACTIONAL,
        Writes.LEDGER,
        ("person",),
    )


def test_a_bare_question_waits_for_the_owner_as_long_as_it_takes(tmp_path: Path) -> None:
    assert asked(tmp_path, question="Which one?") == Question(text="Which one?", who=(OWNER,))


def test_choices_expiry_and_the_outcome_of_silence_are_taken_over(tmp_path: Path) -> None:
    question = asked(
        tmp_path, question="Go?", choices=["yes", "no"], expires_in_seconds=60, on_expiry="no"
    )

    assert question.kind is InputKind.QUESTION
    assert (question.choices, question.expires_in, question.on_expiry) == (
        ("yes", "no"),
        60.0,
        "no",
    )


def test_an_unfit_question_is_refused_with_every_problem(tmp_path: Path) -> None:
    with pytest.raises(LegatoError) as caught:
        asked(tmp_path, question=" ", choices=["a", "a", " "], on_expiry="b")

    assert caught.value.code == "question_invalid"
    assert len(cast("list[str]", caught.value.details["problems"])) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": ""},
        {"question": "q", "expires_in_seconds": 0},
        {"question": "q", "expires_in_seconds": True},
        {"question": "q", "choices": [""]},
        {"question": "q", "who": ["anyone"]},
    ],
)
def test_unfit_arguments_do_not_pass_the_schema(arguments: dict[str, Json]) -> None:
    assert argument_problems(ASK.spec.schema, arguments) != []


def test_broken_unicode_is_made_storable(tmp_path: Path) -> None:
    assert (
        asked(tmp_path, question="why \ud800?").text.encode()
        == "why \N{REPLACEMENT CHARACTER}?".encode()
    )


def test_an_earlier_execution_asked_nothing_that_is_not_recorded(tmp_path: Path) -> None:
    assert ASK.probe is not None
    assert isinstance(ASK.probe({}, tool_context(tmp_path)), Absent)
