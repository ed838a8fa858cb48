"""A slot's line, compared with a plain model: any requests, turns and leavings, in any order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.events import (
    Decision,
    Fact,
    OnCollision,
    SlotCollided,
    SlotLeft,
    SlotReleased,
    SlotTaken,
)
from domain.runs.slots import Slot, decide, evolve_slot, fold_slot

STEPS = st.lists(st.sampled_from([*OnCollision, "end", "leave"]), max_size=40)


def tell(slot: Slot, told: list[Fact], *facts: Fact) -> Slot:
    """Append facts and fold them."""
    for fact in facts:
        told.append(fact)
        slot = evolve_slot(slot, len(told), fact)
    return slot


def turn(slot: Slot, run_id: str) -> SlotTaken:
    left = [one.version for one in slot.line if one.run_id != run_id]
    return SlotTaken(run_id=run_id, n=slot.n + 1, since=min((*left, slot.version + 1)))


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_a_line_is_what_a_plain_list_says(steps: list[OnCollision | str]) -> None:
    """First who supersedes, then as they came; what is read from `since` on says the same."""
    slot, told, line, holder = Slot(), list[Fact](), list[str](), ""
    for number, step in enumerate(steps):
        name = f"r{number}"
        if step == "end" and holder:
            facts: list[Fact] = [SlotReleased(run_id=holder, n=slot.n)]
            facts += [turn(slot, line[0])] if line else []
            slot, holder, line = tell(slot, told, *facts), line[0] if line else "", line[1:]
        elif step == "leave" and line:
            slot, line = tell(slot, told, SlotLeft(run_id=line[-1])), line[:-1]
        elif isinstance(step, OnCollision):
            came = decide(slot, name, step, "alike" if step is OnCollision.COALESCE else "")
            if came.decision is Decision.STARTED:
                slot, holder = tell(slot, told, turn(slot, name)), name
                continue
            if came.replaces is not None:
                slot, line = tell(slot, told, SlotLeft(run_id=line[0])), line[1:]
            met = SlotCollided(
                request=name, on_collision=step, decision=came.decision, run_id=came.run_id,
                holder=holder, n=slot.n, digest="",
                alike="alike" if step is OnCollision.COALESCE else "",
            )  # fmt: skip
            slot = tell(slot, told, met)
            if came.run_id == name:
                line = [name, *line] if step is OnCollision.SUPERSEDE else [*line, name]
        assert (slot.holder, [one.run_id for one in slot.line]) == (holder, line)
    since = max((one.since for one in told if isinstance(one, SlotTaken)), default=1)
    late = fold_slot((n, fact) for n, fact in enumerate(told, start=1) if n >= since)
    assert (late.holder, late.n, [one.run_id for one in late.line]) == (slot.holder, slot.n, line)
