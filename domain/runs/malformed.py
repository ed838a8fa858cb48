"""Calls that are none, and how often a model is told so before its step fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.tools.results import Tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.tools.results import Outcome

MALFORMED = frozenset({"arguments_invalid", "tool_unknown", "call_nested"})
"""The codes of calls that could not be made as they were written."""

MOST_TOLD_BACK = 3
"""So many answers in a row, whose calls were all none, are told to the model; the next one ends
the run."""

MALFORMED_CALLS = "malformed_calls"
"""The end of a run whose model does not come to write a call."""

SAID = (
    f"{MOST_TOLD_BACK + 1} answers in a row asked for calls that cannot be made as written "
    "(arguments that are not JSON or do not fit, tools that there are not), though the model was "
    "told what is wrong: look at them with `legato log RUN`, or choose another model"
)


def counted(so_far: int, outcomes: Sequence[Outcome | None]) -> int:
    """Count the steps in a row whose calls were none, once all of a step have outcomes."""
    known = [one for one in outcomes if one is not None]
    if len(known) < len(outcomes):
        return so_far
    bad = any(one.tag is Tag.ERROR and one.code in MALFORMED for one in known)
    return so_far + 1 if bad and not any(one.tag is Tag.OK for one in known) else 0
