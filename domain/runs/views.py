"""Pure folds from a run's facts to what people look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.runs.budget_view import figures
from domain.runs.run import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.events import Fact


def final_card(facts: Sequence[Fact], seconds: float = 0.0) -> str:
    """Describe an ended run in a few lines of Markdown: what stays to be seen in Temporal.

    `seconds` is how long it has worked.
    """
    run = fold(facts)
    ended, accepted = run.ended, run.accepted
    if ended is None or accepted is None:
        return "the run has not ended"
    items = len(run.defined.items) if run.defined is not None else 0
    cost = "unknown" if run.spent.cost_unknown else f"${run.spent.cost}"
    lines = [
        f"**{accepted.agent}** in `{accepted.workspace}`: **{ended.status}**",
        "",
        f"- why: {ended.reason} (by {ended.by})",
        f"- items done: {ended.items_done} of {items}",
        f"- spent: {run.spent.steps} model calls, {run.spent.tokens} tokens, {cost}",
    ]
    if limits := figures(run, seconds):
        lines.append(f"- budget: {limits}")
    if run.spent.tokens_unknown:
        lines.append(f"- requests that count as reserved: {run.spent.tokens_unknown}")
    if run.unknown:
        lines.append(f"- effects nobody can tell: {len(run.unknown)}")
    return "\n".join(lines)
