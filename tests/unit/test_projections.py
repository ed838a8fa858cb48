"""What a run folds to, and what is projected of it, are the same, whatever happened."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given

from domain.errors import LegatoError
from domain.events import encode
from domain.projections.budgeting import budget_of, seconds
from domain.projections.project import DECODED, KNOWN, Needs, check_known, project
from domain.projections.tables import Sequenced, Tables
from domain.runs.conversation import Usage
from domain.runs.overview import overview
from domain.runs.recorded import stamp
from domain.runs.run import Run, evolve
from tests.support import facts
from tests.support.histories import ANY_FACTS, PROPERTY, runs
from tests.support.recorded import recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.events import Fact
    from domain.projections.rows import RunRow
    from domain.runs.recorded import Recorded


def lived(told: Sequence[Fact]) -> list[Recorded]:
    """Record facts by executions that had lived for some seconds, or by none."""
    return [replace(one, worked=one.version * 7 % 5 / 2) for one in recorded(*told)]


def sequenced(told: Sequence[Fact]) -> list[Sequenced]:
    """Give a run's facts as the feed gives them."""
    return [
        Sequenced("run", "r", one.version, one.fact.type, one.at,
                  orjson.loads(encode(one.fact)), worked=one.worked)
        for one in lived(told)
    ]  # fmt: skip


def projected(told: Sequence[Fact]) -> Tables:
    """Project a run's facts from the beginning."""
    tables = Tables()
    for event in sequenced(told):
        project(tables, event)
    return tables


def why(row: RunRow) -> dict[str, object]:
    """Give what a run's row and its overview both tell."""
    return {
        **{name: getattr(row, name) for name in ("status", "version", "turn", "step")},
        **{name: getattr(row, name) for name in ("items_done", "calls", "tokens", "cost_unknown")},
        **{name: getattr(row, name) for name in ("steps", "unknown_effects", "open_questions")},
        "cost": format(row.cost, "f"),
        "seconds": round(seconds(row), 3),
        "budget": tuple(asdict(one) for one in budget_of(row)),
        "waiting_on": row.waiting_on or "",
        "model": row.model,
        "fingerprint": row.fingerprint or "",
        "stamps": (row.accepted_at, row.started_at, row.ended_at),
    }


@PROPERTY
@given(ANY_FACTS | runs())
def test_the_projected_status_is_the_folded_one_whatever_facts_there_are(told: list[Fact]) -> None:
    tables, run = Tables(), Run()
    for fact, event in zip(told, sequenced(told), strict=True):
        project(tables, event)
        run = evolve(run, fact)
        row = tables.runs["r"]

        assert row.damaged is None
        assert row.status == run.status
        assert row.version == run.version
        assert row.answered == run.ordinal
        assert (row.waiting_on is None) == (run.waiting is None)
        assert row.stuck == (run.stuck.code if run.stuck is not None else None)


@PROPERTY
@given(runs())
def test_a_run_s_row_and_its_overview_tell_the_same(told: list[Fact]) -> None:
    """Each figure of each prefix of whatever the engine writes."""
    row, seen = projected(told).runs["r"], overview(lived(told))

    assert seen is not None
    flat = seen.flat()
    assert {
        **{name: flat[name] for name in why(row) if name in flat},
        "unknown_effects": len(seen.waits.unknown_effects),
        "open_questions": len(seen.waits.open_questions),
    } == {name: value for name, value in why(row).items() if name != "stamps"}
    stamps = (seen.state.accepted_at, seen.state.started_at, seen.state.ended_at)
    assert stamps == tuple(stamp(at) for at in (row.accepted_at, row.started_at, row.ended_at))


@PROPERTY
@given(runs())
def test_usage_adds_up_to_its_run_whichever_way_it_is_summed(told: list[Fact]) -> None:
    """By item and day, and by step, as in the run's own row."""
    tables = projected(told)
    row, used, steps = tables.runs["r"], tables.usage.values(), tables.steps.values()

    for name in ("steps", "calls", "tokens", "cost", "cost_unknown", "tokens_unknown"):
        assert sum(getattr(one, name) or 0 for one in used) == getattr(row, name)
    for name in ("input_tokens", "output_tokens", "cached_tokens"):
        known = [getattr(one, name) for one in used if getattr(one, name) is not None]
        assert getattr(row, name) == (sum(known) if known else None)
    assert sum(one.tokens for one in steps) == row.tokens
    assert sum(one.cost or 0 for one in steps) == row.cost
    assert sum(one.requests for one in steps) == row.steps


@PROPERTY
@given(runs())
def test_a_batch_needs_no_row_that_it_does_not_name(told: list[Fact]) -> None:
    """Going on from the named rows alone gives the rows that the whole gives."""
    whole, kept = Tables(), Tables()
    for event in sequenced(told):
        needs, alone = Needs(), Tables()
        needs.add(event)
        for name in ("runs", "items", "steps", "calls", "inputs", "sessions"):
            there = getattr(kept, name)
            wanted = getattr(needs.used, name) - getattr(needs.made, name)
            getattr(alone, name).update({key: there[key] for key in wanted if key in there})
        project(alone, event)
        project(whole, event)
        for name in ("runs", "items", "steps", "calls", "inputs", "sessions"):
            getattr(kept, name).update(getattr(alone, name))
    for name in ("runs", "items", "steps", "calls", "inputs", "sessions"):
        assert getattr(kept, name) == getattr(whole, name)


def test_what_nobody_said_is_unknown_and_not_zero() -> None:
    """A request without a usage counts its reservation; its own tokens stay unknown."""
    silent = facts.responded().model_copy(update={"usage": Usage()})
    free = facts.responded().model_copy(update={"usage": Usage(input_tokens=0, output_tokens=0)})
    begun = (facts.accepted("r"), facts.attached(), facts.defined(), facts.turn_started())

    unknown = projected((*begun, facts.requested(), silent)).runs["r"]
    zero = projected((*begun, facts.requested(), free)).runs["r"]

    assert (unknown.input_tokens, unknown.tokens, unknown.tokens_unknown) == (None, 500, 1)
    assert (zero.input_tokens, zero.tokens, zero.tokens_unknown) == (0, 0, 0)


@pytest.mark.parametrize(("type_name", "version"), [("run.ended", 2), ("run.renamed", 1)])
def test_an_event_of_another_build_is_refused_with_the_way_on(type_name: str, version: int) -> None:
    """Skipping it would make rows that no rebuild gives again."""
    with pytest.raises(LegatoError) as caught:
        check_known("run/r", 7, type_name, version)

    assert caught.value.code == "event_too_new"
    assert "newest build" in caught.value.next


def test_every_type_that_is_decoded_is_a_known_one() -> None:
    """And every known one is checked for its version."""
    assert set(KNOWN) > DECODED
