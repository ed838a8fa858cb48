"""The rules of taking findings on and of closing them: bounded claims, proved receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.review.findings import Finding, State, claimed, same_module

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_CLAIMED = 5
"""So many findings may be claimed and without receipt at one time."""


def claim_problems(findings: Mapping[str, Finding], wanted: Sequence[str]) -> list[str]:
    """List everything that keeps a batch from being claimed."""
    found = [] if wanted else ["claim_empty: no finding is named"]
    found += [
        f"finding_twice: {one} is named twice"
        for one in dict.fromkeys(wanted)
        if wanted.count(one) > 1
    ]
    for one in dict.fromkeys(wanted):
        finding = findings.get(one)
        if finding is None:
            found.append(f"finding_unknown: no finding is called {one}")
        elif finding.state is not State.OPEN:
            found.append(f"finding_not_open: {one} is {finding.state} already")
    held = len(claimed(findings))
    if held + len(set(wanted)) > MOST_CLAIMED:
        found.append(
            f"claim_too_large: at most {MOST_CLAIMED} may be claimed at once, {held} are; "
            "write receipts first or claim fewer"
        )
    return found


def closable(
    findings: Mapping[str, Finding], module: str, named: Sequence[str] | None
) -> tuple[str, ...]:
    """Give what a receipt closes: the named findings, else all claimed ones of the module."""
    if named is not None:
        return tuple(dict.fromkeys(named))
    return tuple(one.fingerprint for one in claimed(findings) if same_module(one.module, module))


def receipt_problems(
    findings: Mapping[str, Finding],
    module: str,
    result: str,
    closes: Sequence[str],
    proof: str,
) -> list[str]:
    """List everything that keeps a receipt from being written; `changed` needs proof."""
    found: list[str] = []
    if not closes:
        found.append(f"receipt_without_claim: nothing of module {module!r} is claimed")
    for one in closes:
        finding = findings.get(one)
        if finding is None:
            found.append(f"finding_unknown: no finding is called {one}")
        elif finding.state is not State.CLAIMED:
            found.append(f"receipt_without_claim: {one} is {finding.state}, not claimed")
        elif not same_module(finding.module, module):
            found.append(f"finding_of_other_module: {one} belongs to {finding.module!r}")
        elif result == State.CHANGED and not finding.touched:
            found.append(
                f"changed_without_change: no change is recorded since {one} was claimed; "
                "make it, or write the receipt as unchanged or deferred"
            )
    if result == State.CHANGED and not proof.strip():
        found.append(
            "changed_without_proof: say which file changed how, and what you ran or read "
            "afterwards and what it said"
        )
    return found
