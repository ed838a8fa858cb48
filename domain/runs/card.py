"""The short Markdown card that describes a run where operators watch Temporal."""

from __future__ import annotations

from dataclasses import dataclass

from domain.runs.position import Position  # noqa: TC001 - decoded from the run's start
from domain.runs.shapes import count, shape_at


@dataclass(frozen=True)
class Shown:
    """What is shown of a run beside its position. No secrets, no personal text.

    `model` is its short name, "" for a run without one.
    """

    agent: str
    workspace: str
    session: str
    profile: str
    entry: str
    model: str = ""


def waiting_on(at: Position) -> str:
    """Name what a run waits for, why and until when as far as that is known, or ""."""
    if at.wait is None:
        return ""
    until = f"until {at.wait.until[:19]}Z" if at.wait.until else ""
    return " ".join(part for part in (at.wait.on, at.wait.why, until) if part)


def place(at: Position) -> str:
    """Say where in the sequence a run is."""
    if not at.items:
        return "being defined"
    shape = shape_at(at.items, at.item)
    where = f"item {at.item + 1} of {count(at.items)}"
    if shape.name:
        where += f" ({shape.name})"
    if at.repair:
        where += f", repair {at.repair} of {shape.repairs}"
    if at.turn:
        where += f", turn {at.turn}, step {at.step}"
    return where


def doing(at: Position) -> str:
    """Say what a run is doing now."""
    match at.phase:
        case "define":
            return "building the agent's definition"
        case "step":
            return "asking the model"
        case "compact":
            return "summing up the conversation, which was too long"
        case "calls":
            return "running " + ", ".join(call.name for call in at.groups[0])
        case "check":
            return "running the item's checks"
        case "wait":
            return f"waiting: {waiting_on(at)} {at.wait.ref if at.wait else ''}".strip()
        case "close":
            return f"ending as {at.ending.status if at.ending else 'failed'}"


def card(shown: Shown, at: Position) -> str:
    """Render the card; a cost that is not known is said to be unknown, never to be nothing."""
    cost = f"${at.spent_cost}" if at.spent_cost else "cost unknown"
    lines = "\n".join(
        (
            f"**{shown.agent}** in `{shown.workspace or 'no workspace'}`",
            "",
            f"- model: {shown.model or 'none'}",
            f"- now: {doing(at)}",
            f"- where: {place(at)}",
            f"- waits for: {waiting_on(at) or 'nothing'}",
            f"- spent: {at.spent_tokens} tokens, {cost}",
        )
    )
    return f"{lines}\n- budget: {at.budget}" if at.budget else lines
