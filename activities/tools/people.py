"""The tool that asks a person and waits for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.tools.arguments import object_schema, text
from activities.tools.review import nothing_happened
from domain.codec import clean_text
from domain.errors import problems
from domain.ports import Asks, Tool
from domain.runs.inputs import Question, question_problems
from domain.tools.registry import Effect, Writes, tool_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json
    from domain.ports import ToolContext, ToolReturn

LONGEST_WAIT = 30 * 24 * 3600
"""A question may wait so many seconds for its answer: 30 days."""


def ask_human(arguments: Mapping[str, Json], context: ToolContext) -> ToolReturn:
    """Ask a person; raises `question_invalid` with everything wrong with the question."""
    del context
    choices, wait = arguments.get("choices"), arguments.get("expires_in_seconds")
    question = Question(
        text=clean_text(text(arguments, "question") or ""),
        choices=tuple(clean_text(str(one)) for one in choices) if isinstance(choices, list) else (),
        expires_in=float(wait) if isinstance(wait, int | float) else None,
        on_expiry=clean_text(text(arguments, "on_expiry") or ""),
    )
    found = question_problems(question)
    if question.on_expiry and question.expires_in is None:
        found.append("on_expiry is never used without expires_in_seconds")
    if any(not choice.strip() for choice in question.choices):
        found.append("a choice is empty")
    if found:
        raise problems(
            "question_invalid",
            "the question was not asked",
            found,
            next="mend what is named and ask again",
        )
    return Asks(question)


_SCHEMA = object_schema(
    ["question"],
    question={
        "type": "string",
        "minLength": 1,
        "maxLength": 4000,
        "description": "What you must know, with all that is needed to answer it.",
    },
    choices={
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 200},
        "maxItems": 20,
        "description": "The only answers that count; leave out for free text.",
    },
    expires_in_seconds={
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": LONGEST_WAIT,
        "description": "How long to wait; without it for as long as it takes.",
    },
    on_expiry={
        "type": "string",
        "maxLength": 200,
        "description": "The answer to go on with when nobody answers in time.",
    },
)

PEOPLE_TOOLS: tuple[Tool, ...] = (
    Tool(
        spec=tool_spec(
            "ask_human",
            "Ask a person and wait for the answer. Only for what you cannot find out yourself "
            "and what would change what you do.",
            _SCHEMA,
            effect=Effect.TRANSACTIONAL,
            writes=Writes.LEDGER,
            timeout=10.0,
            resource="person",
            needs=("person",),
        ),
        execute=ask_human,
        probe=nothing_happened,
    ),
)
"""Questions to people."""
