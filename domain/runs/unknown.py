"""A call whose effect nobody can tell: what a person is asked, and what the answer makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.runs.inputs import OWNER, InputKind, Question
from domain.tools.results import Outcome, error, ok

if TYPE_CHECKING:
    from domain.ids import CallAt

HAPPENED = "it happened"
NOT_HAPPENED = "it did not happen"
AGAIN = "run it again"

CHOICES = (HAPPENED, NOT_HAPPENED, AGAIN)


def unknown_input(call: CallAt, round_: int) -> str:
    """Name the question about one round of a call."""
    return f"unknown-{call.key}.{round_}"


def unknown_question(name: str, reason: str) -> Question:
    """Ask what became of a call."""
    text = (
        f"The call of {name} was begun and its end was not seen ({reason}). "
        "Look at what it would have changed, then say which it is."
    )
    return Question(text=text, kind=InputKind.UNKNOWN, choices=CHOICES, who=(OWNER,))


def settled_by_person(answer: str) -> Outcome:
    """Turn a person's word on an unknown call into its outcome."""
    if answer == HAPPENED:
        return ok("A person looked: the effect of this call happened. Its result was not seen.")
    return error(
        "effect_absent",
        "A person looked: this call had no effect. Call it again if it is still needed.",
    )
