"""Findings keep their identity, are claimed in bounded batches and closed with proof."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.events import (
    CallIntended,
    CallSettled,
    Fact,
    FindingRecorded,
    FindingsClaimed,
    ReceiptWritten,
)
from domain.review.closing import claim_problems, closable, receipt_problems
from domain.review.findings import Finding, State, fingerprint_of, fold_findings
from domain.tools.results import Outcome, error, ok
from tests.support.agents import codes


def filed(step: int, title: str = "leaks", detail: str = "d", module: str = "core") -> Fact:
    """File a finding in a step."""
    return FindingRecorded(
        turn=1,
        step=step,
        position=0,
        fingerprint=fingerprint_of(module, title, "a.py"),
        title=title,
        detail=detail,
        severity="high",
        module=module,
        path="a.py",
    )


def taken(step: int, *titles: str) -> Fact:
    """Claim findings of module core in a step."""
    names = tuple(fingerprint_of("core", title, "a.py") for title in titles)
    return FindingsClaimed(turn=1, step=step, position=0, fingerprints=names)


def called(step: int, name: str, outcome: Outcome) -> Fact:
    """Settle a call in a step."""
    return CallSettled(turn=1, step=step, position=0, name=name, outcome=outcome)


def closed(step: int, title: str = "leaks") -> Fact:
    """Write a receipt of a change in a step."""
    return ReceiptWritten(
        turn=1,
        step=step,
        position=0,
        module="core",
        result="changed",
        fingerprints=(fingerprint_of("core", title, "a.py"),),
        proof="seen",
        text="done",
    )


def only(*facts: Fact) -> Finding:
    """Fold facts that concern one finding."""
    (finding,) = fold_findings(facts).values()
    return finding


@pytest.mark.parametrize(
    ("module", "title", "path"),
    [
        ("Core", "Leaks the handle", "src/a.py"),
        ("core", "leaks the  handle.", "./src/a.py"),
        ("CORE", "Leaks-the-handle", "src/a.py:12"),
        ("core ", "leaks_the_handle!", "src//a.py:12:4"),
    ],
)
def test_the_same_defect_has_one_fingerprint(module: str, title: str, path: str) -> None:
    assert fingerprint_of(module, title, path) == fingerprint_of(
        "core", "leaks the handle", "src/a.py"
    )


@pytest.mark.parametrize(
    ("module", "title", "path"),
    [
        ("core", "leaks the handle", "src/b.py"),
        ("core", "leaks the handle", ""),
        ("web", "leaks the handle", "src/a.py"),
        ("core", "leaks the pool", "src/a.py"),
    ],
)
def test_another_defect_has_another(module: str, title: str, path: str) -> None:
    assert fingerprint_of(module, title, path) != fingerprint_of(
        "core", "leaks the handle", "src/a.py"
    )


def test_titles_in_any_script_are_told_apart() -> None:
    titles = ["утечка памяти", "гонка", "内存泄漏", "竞争", "!!!", "???"]

    assert len({fingerprint_of("m", title, "") for title in titles}) == len(titles)


@given(st.text(), st.text(), st.text())
def test_any_text_has_a_fingerprint_of_twelve_digits(module: str, title: str, path: str) -> None:
    assert len(fingerprint_of(module, title, path)) == 12


def test_filing_again_updates_the_one_finding() -> None:
    finding = only(filed(1), filed(2, title="Leaks!", detail="better"))

    assert (finding.detail, finding.filed, finding.state) == ("better", 2, State.OPEN)


def test_filing_again_keeps_a_claim_and_what_was_changed_under_it() -> None:
    edit = called(3, "edit_file", ok("", changed=("a.py",)))
    finding = only(filed(1), taken(2, "leaks"), edit, filed(4))

    assert (finding.state, finding.touched) == (State.CLAIMED, ("a.py",))


def test_filing_again_opens_a_closed_finding() -> None:
    finding = only(filed(1), taken(2, "leaks"), closed(3), filed(4))

    assert (finding.state, finding.filed, finding.proof) == (State.OPEN, 2, "")


@pytest.mark.parametrize(
    ("call", "touched"),
    [
        (("edit_file", ok("", changed=("a.py", "b.py"))), ("a.py", "b.py")),
        (("edit_file", error("half_done", "", changed=("a.py",))), ("a.py",)),
        (("shell", ok("")), ("shell",)),
        (("shell", error("exit_status", "")), ()),
        (("read_file", ok("")), ()),
    ],
)
def test_a_claimed_finding_knows_what_changed_since(
    call: tuple[str, Outcome], touched: tuple[str, ...]
) -> None:
    finding = only(filed(1), taken(2, "leaks"), called(3, *call))

    assert finding.touched == touched


def test_a_change_before_the_claim_does_not_count() -> None:
    edit = called(2, "edit_file", ok("", changed=("a.py",)))

    assert only(filed(1), edit, taken(3, "leaks")).touched == ()


def test_a_command_run_through_another_name_counts_as_itself() -> None:
    intended = CallIntended(
        turn=1, step=3, position=0, round=1, owner="o", name="shell", binding="b", limit=1.0
    )
    facts = (filed(1), taken(2, "leaks"), intended, called(3, "call_tool", ok("")))

    assert only(*facts).touched == ("shell",)


def test_at_most_five_are_claimed_at_once() -> None:
    titles = [f"t{n}" for n in range(7)]
    names = [fingerprint_of("core", title, "a.py") for title in titles]
    facts = [filed(n, title=title) for n, title in enumerate(titles)]

    assert claim_problems(fold_findings(facts), names[:5]) == []
    assert codes(claim_problems(fold_findings(facts), names[:6])) == {"claim_too_large"}
    facts.append(taken(9, *titles[:4]))
    assert claim_problems(fold_findings(facts), names[4:5]) == []
    assert codes(claim_problems(fold_findings(facts), names[4:6])) == {"claim_too_large"}


def test_a_claim_is_refused_with_every_problem() -> None:
    findings = fold_findings([filed(1), filed(2, "open"), taken(3, "leaks")])
    leaks, free = (fingerprint_of("core", title, "a.py") for title in ("leaks", "open"))

    assert codes(claim_problems(findings, [leaks, "0" * 12, free, free])) == {
        "finding_not_open",
        "finding_unknown",
        "finding_twice",
    }
    assert codes(claim_problems(findings, [])) == {"claim_empty"}


def problems_of(
    *facts: Fact, result: str = "changed", proof: str = "p", module: str = "Core"
) -> set[str]:
    """Give the codes for which a receipt of a module would be refused."""
    findings = fold_findings(facts)
    closes = closable(findings, module, None)
    return codes(receipt_problems(findings, module, result, closes, proof))


def test_a_receipt_of_a_change_needs_a_claim_a_change_and_a_proof() -> None:
    claimed = (filed(1), taken(2, "leaks"))
    edit = called(3, "edit_file", ok("", changed=("a.py",)))

    assert problems_of(*claimed, edit) == set()
    assert problems_of(*claimed, edit, proof="  ") == {"changed_without_proof"}
    assert problems_of(*claimed) == {"changed_without_change"}
    assert problems_of(filed(1), edit) == {"receipt_without_claim"}


@pytest.mark.parametrize("result", ["unchanged", "deferred"])
def test_other_receipts_need_the_claim_only(result: str) -> None:
    assert problems_of(filed(1), taken(2, "leaks"), result=result, proof="") == set()
    assert problems_of(filed(1), result=result, proof="") == {"receipt_without_claim"}


def test_a_second_receipt_for_the_same_claim_is_refused() -> None:
    assert problems_of(filed(1), taken(2, "leaks"), closed(3)) == {"receipt_without_claim"}


def test_a_receipt_closes_findings_of_its_own_module_only() -> None:
    findings = fold_findings([filed(1), taken(2, "leaks")])
    named = closable(findings, "web", [fingerprint_of("core", "leaks", "a.py")])

    assert codes(receipt_problems(findings, "web", "deferred", named, "")) == {
        "finding_of_other_module"
    }
