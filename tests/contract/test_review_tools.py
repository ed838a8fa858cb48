"""The review tools keep what they are told as facts of the call, or refuse with all reasons."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from activities.tools.review import REVIEW_TOOLS
from domain.errors import LegatoError
from domain.events import (
    CallSettled,
    Fact,
    FindingRecorded,
    FindingsClaimed,
    ReceiptWritten,
    decode,
    encode,
)
from domain.ids import CallAt, call_id
from domain.ports import Absent, Executed
from domain.tools.registry import Effect, Writes, build_registry
from domain.tools.results import Tag, ok
from domain.tools.schema import argument_problems
from tests.support.tool_context import by_name, tool_context

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from domain.codec import Json
    from domain.ports import ToolContext

TOOLS = by_name(REVIEW_TOOLS)


class Board:
    """A run whose calls are made one after another, each in a step of its own."""

    def __init__(self, context: ToolContext) -> None:
        self.context = context
        self.facts: list[Fact] = []
        self.step = 0

    def call(self, tool: str, **arguments: Json) -> str:
        """Make one call as the engine does: validated, then run, its facts kept."""
        self.step += 1
        assert argument_problems(TOOLS[tool].spec.schema, arguments) == []
        named = call_id("run-1", CallAt(2, self.step, 1))
        context = replace(self.context, call_id=named, facts=tuple(self.facts))
        returned = TOOLS[tool].execute(arguments, context)
        assert isinstance(returned, Executed)
        assert returned.outcome.tag is Tag.OK
        self.facts += returned.facts
        return returned.outcome.text

    def file(self, title: str = "leaks", **more: Json) -> str:
        """File a finding and give its fingerprint."""
        given: dict[str, Json] = {
            "module": "core",
            "title": title,
            "detail": "how it is known",
            "severity": "high",
            "path": "a.py",
        }
        self.call("record_finding", **{**given, **more})
        fact = self.facts[-1]
        assert isinstance(fact, FindingRecorded)
        return fact.fingerprint

    def edited(self) -> None:
        """Let the run change a file."""
        self.step += 1
        done = ok("", changed=("a.py",))
        self.facts.append(
            CallSettled(turn=2, step=self.step, position=0, name="edit_file", outcome=done)
        )

    def listed(self, **arguments: Json) -> list[dict[str, object]]:
        """Give the rows of `list_findings`."""
        body = json.loads(self.call("list_findings", **arguments))
        return cast("list[dict[str, object]]", body["findings"])

    def refused(self, tool: str, **arguments: Json) -> LegatoError:
        """Expect a refusal that leaves nothing."""
        with pytest.raises(LegatoError) as caught:
            self.call(tool, **arguments)
        return caught.value


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """An empty board."""
    return Board(tool_context(tmp_path))


def problems_of(error: LegatoError) -> Sequence[str]:
    """Give the codes of a refusal's problems."""
    listed = cast("list[str]", error.details["problems"])
    return [problem.partition(":")[0] for problem in listed]


def test_the_contracts_are_fit_and_change_nothing_but_the_ledger() -> None:
    registry = build_registry([tool.spec for tool in REVIEW_TOOLS])

    assert {
        name: (spec.effect, spec.writes, spec.needs) for name, spec in registry.specs.items()
    } == {
        "record_finding": (Effect.TRANSACTIONAL, Writes.LEDGER, ()),
        "list_findings": (Effect.READ, Writes.NOTHING, ()),
        "claim_findings": (Effect.TRANSACTIONAL, Writes.LEDGER, ()),
        "write_receipt": (Effect.TRANSACTIONAL, Writes.LEDGER, ()),
    }


@pytest.mark.parametrize("name", ["record_finding", "claim_findings", "write_receipt"])
def test_an_earlier_execution_left_nothing_but_its_facts(name: str, board: Board) -> None:
    probe = TOOLS[name].probe

    assert probe is not None
    assert isinstance(probe({}, board.context), Absent)


def test_facts_stand_at_the_place_of_their_call(board: Board) -> None:
    board.file()
    (fact,) = board.facts

    assert isinstance(fact, FindingRecorded)
    assert (fact.turn, fact.step, fact.position) == (2, 1, 1)
    assert decode(fact.type, fact.version, encode(fact)) == fact


def test_a_finding_goes_from_filed_to_closed(board: Board) -> None:
    one = board.file()
    board.call("claim_findings", fingerprints=[one])
    board.edited()
    said = board.call(
        "write_receipt", module="core", result="changed", text="mended", proof="a.py:3, tests pass"
    )
    claim, receipt = board.facts[1], board.facts[-1]

    assert said == "Receipt for core: changed, 1 closed, 0 left claimed."
    assert isinstance(claim, FindingsClaimed)
    assert isinstance(receipt, ReceiptWritten)
    assert receipt.fingerprints == claim.fingerprints == (one,)
    assert receipt.proof == "a.py:3, tests pass"
    assert [row["state"] for row in board.listed()] == ["changed"]


def test_filing_twice_says_that_it_updated(board: Board) -> None:
    one = board.file()
    again = board.call(
        "record_finding", module="Core", title="Leaks.", detail="d", severity="low", path="a.py:9"
    )

    assert again == f"Updated finding {one}, filed 2 times, was open."
    assert [(row["fingerprint"], row["severity"]) for row in board.listed()] == [(one, "low")]


def test_findings_are_listed_by_state_and_module(board: Board) -> None:
    one = board.file()
    board.file("races", module="web")
    board.call("claim_findings", fingerprints=[one])

    assert [row["title"] for row in board.listed(state="open")] == ["races"]
    assert [row["title"] for row in board.listed(module="WEB")] == ["races"]
    assert [row["title"] for row in board.listed()] == ["leaks", "races"]


def test_a_refused_claim_names_every_problem_and_claims_nothing(board: Board) -> None:
    names = [board.file(f"t{n}") for n in range(6)]
    error = board.refused("claim_findings", fingerprints=[*names, "0" * 12])

    assert error.code == "claim_refused"
    assert set(problems_of(error)) == {"claim_too_large", "finding_unknown"}
    assert {row["state"] for row in board.listed()} == {"open"}


def test_changed_without_proof_or_change_is_refused(board: Board) -> None:
    board.call("claim_findings", fingerprints=[board.file()])
    error = board.refused("write_receipt", module="core", result="changed", text="trust me")

    assert error.code == "receipt_refused"
    assert problems_of(error) == ["changed_without_change", "changed_without_proof"]
    board.edited()
    error = board.refused("write_receipt", module="core", result="changed", text="t", proof=" ")
    assert problems_of(error) == ["changed_without_proof"]


def test_a_receipt_needs_claimed_findings(board: Board) -> None:
    board.file()
    error = board.refused("write_receipt", module="core", result="deferred", text="later")

    assert problems_of(error) == ["receipt_without_claim"]


def test_text_that_cannot_be_stored_is_made_storable(board: Board) -> None:
    board.file("lone \ud800 half")
    fact = board.facts[0]

    assert decode(fact.type, fact.version, encode(fact)) == fact


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("record_finding", {"module": " ", "title": "t", "detail": "d", "severity": "high"}),
        ("record_finding", {"module": "m", "title": "t", "detail": "d", "severity": "awful"}),
        ("claim_findings", {"fingerprints": []}),
        ("claim_findings", {"fingerprints": ["not one"]}),
        ("write_receipt", {"module": "m", "result": "fixed", "text": "t"}),
    ],
)
def test_unfit_arguments_do_not_pass_the_schema(tool: str, arguments: dict[str, Json]) -> None:
    assert argument_problems(TOOLS[tool].spec.schema, arguments) != []
