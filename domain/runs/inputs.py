"""Questions to people: what is asked, who may answer, and what an answer may be."""

from __future__ import annotations

from enum import StrEnum

from domain.errors import LegatoError, refused
from domain.runs.conversation import Frozen

OPERATOR = "temporal-operator"
"""The actor of a plain Temporal signal; it may answer only where a question names it."""

OWNER = "owner"
"""Whoever owns the deployment: the operating-system user until accounts exist."""


CLOCK = "ledger-clock"
"""Who settles a question whose time is over."""


class InputKind(StrEnum):
    """Why a person is asked."""

    QUESTION = "question"
    APPROVAL = "approval"
    UNKNOWN = "unknown_effect"


class How(StrEnum):
    """How an input was settled."""

    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    DISMISSED = "dismissed"


class Question(Frozen):
    """What a person is asked.

    `choices` empty means free text; `who` names who may answer (`owner`,
    `temporal-operator`, `person:<name>`); `expires_in` is in seconds, None is never;
    `on_expiry` is a choice taken in silence, and empty means the call ends as expired.
    An approval may not have one: silence is never approval.
    """

    text: str
    kind: InputKind = InputKind.QUESTION
    choices: tuple[str, ...] = ()
    who: tuple[str, ...] = (OWNER,)
    expires_in: float | None = None
    on_expiry: str = ""


def question_problems(question: Question) -> list[str]:
    """List everything that makes a question unfit to be asked."""
    found: list[str] = []
    if not question.text.strip():
        found.append("the question has no text")
    if not question.who:
        found.append("nobody is named to answer")
    if question.expires_in is not None and question.expires_in <= 0:
        found.append("expires_in must be more than 0 seconds")
    if len(set(question.choices)) != len(question.choices):
        found.append("two choices are the same")
    if question.on_expiry and question.kind is not InputKind.QUESTION:
        found.append("only a question may have an outcome for silence")
    if question.on_expiry and question.choices and question.on_expiry not in question.choices:
        found.append(f"on_expiry {question.on_expiry!r} is not one of the choices")
    return found


def check_answer(question: Question, answer: str, actor: str, *, owner: bool) -> LegatoError | None:
    """Refuse an answer from the wrong person or outside the choices; None where it stands."""
    named = actor in question.who or (owner and OWNER in question.who)
    if actor == OPERATOR and (OPERATOR not in question.who or question.kind is InputKind.APPROVAL):
        named = False
    if not named:
        return refused(
            "answer_not_allowed",
            f"{actor} is not named to answer this question",
            cause=f"it names {', '.join(question.who)}",
            next="let one of the named people answer, with `legato answer`",
        )
    if question.choices and answer not in question.choices:
        return refused(
            "answer_unclear",
            f"{answer!r} is not one of the choices",
            cause=f"the choices are {', '.join(repr(c) for c in question.choices)}",
            next="answer with one of the choices, written exactly so",
            details={"choices": list(question.choices)},
        )
    if not question.choices and not answer.strip():
        return refused("answer_unclear", "the answer is empty", next="answer with some text")
    return None
