"""Calls of one response are grouped in order; no two that could meet run together."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain.runs.groups import Planned, call_groups
from domain.runs.steps import CallRef
from tests.support.histories import PROPERTY


@st.composite
def responses(draw: st.DrawFn) -> list[Planned]:
    """The calls of one response: reads, and effectful ones on a few resources."""
    kinds = draw(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=12))
    return [
        Planned(CallRef(1, 1, position, f"tool{position}", 10.0), reads, resource)
        for position, (reads, resource) in enumerate(kinds)
    ]


def grouped(calls: list[Planned]) -> list[list[Planned]]:
    """The groups, as the calls they were made of."""
    by_ref = {call.ref: call for call in calls}
    return [[by_ref[ref] for ref in group] for group in call_groups(calls)]


@PROPERTY
@given(responses())
def test_the_order_is_kept_and_every_call_is_there_once(calls: list[Planned]) -> None:
    """Groups one after another are the response; none is empty."""
    groups = grouped(calls)

    assert [call for group in groups for call in group] == calls
    assert all(groups)


@PROPERTY
@given(responses())
def test_reads_are_never_mixed_with_effects(calls: list[Planned]) -> None:
    """A group only reads, or every call of it changes something."""
    assert all(len({call.reads for call in group}) == 1 for group in grouped(calls))


@PROPERTY
@given(responses())
def test_no_two_effects_on_one_resource_run_together(calls: list[Planned]) -> None:
    """They run one after another, in the order written."""
    for group in grouped(calls):
        resources = [call.resource for call in group if not call.reads]
        assert len(set(resources)) == len(resources)


@PROPERTY
@given(responses())
def test_nothing_waits_without_a_reason(calls: list[Planned]) -> None:
    """A new group begins only where its first call could not join the group before."""
    for before, after in pairwise(grouped(calls)):
        first = after[0]
        same_kind = before[0].reads == first.reads
        held = {call.resource for call in before}
        assert not same_kind or (not first.reads and first.resource in held)
