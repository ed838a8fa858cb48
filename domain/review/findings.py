"""Findings folded from a run's facts: one per stable fingerprint, with what became of it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from domain.codec import digest
from domain.events import (
    CallIntended,
    CallSettled,
    Fact,
    FindingRecorded,
    FindingsClaimed,
    ReceiptWritten,
)
from domain.tools.results import Tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UNLISTED_CHANGES = (
    "mutate_workflow_db",
    "shell",
    "write_note",
    "delete_note",
    "write_learning",
    "delete_learning",
)
"""Tools that may change something without naming a path in their outcome."""

_LENGTH = 12
_LINE = re.compile(r"(:\d+)+$")


class State(StrEnum):
    """Where a finding stands; the last three are what its receipt said."""

    OPEN = "open"
    CLAIMED = "claimed"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DEFERRED = "deferred"


@dataclass(frozen=True)
class Finding:
    """One finding as it stands now.

    `filed` counts how often it was filed; `touched` lists, for a claimed one, what was
    changed since the claim: paths, or names of tools that do not list theirs.
    """

    fingerprint: str
    module: str
    title: str
    path: str
    detail: str
    severity: str
    filed: int = 1
    state: State = State.OPEN
    touched: tuple[str, ...] = ()
    proof: str = ""


def fingerprint_of(module: str, title: str, path: str) -> str:
    """Name a finding by what it is about: 12 hexadecimal digits of module, title and path.

    Case, punctuation, Unicode form, a line number after the path and a leading `./` make
    no difference, so that filing the same defect again meets the same finding.
    """
    return digest([_plain(module), _plain(title), _place(path)])[:_LENGTH]


def same_module(one: str, other: str) -> bool:
    """Tell whether two spellings name one module."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-") or folded.strip()


def _place(path: str) -> str:
    bare = _LINE.sub("", unicodedata.normalize("NFC", path.strip()))
    return str(PurePosixPath(bare)) if bare else ""


def fold_findings(facts: Iterable[Fact]) -> Mapping[str, Finding]:
    """Fold a run's facts, oldest first, into its findings by fingerprint, as first filed."""
    found: dict[str, Finding] = {}
    ran: dict[str, str] = {}
    for fact in facts:
        match fact:
            case CallIntended():
                ran[f"{fact.turn}.{fact.step}.{fact.position}"] = fact.name
            case FindingRecorded():
                found[fact.fingerprint] = _filed(found.get(fact.fingerprint), fact)
            case FindingsClaimed():
                _set(found, fact.fingerprints, state=State.CLAIMED, touched=(), proof="")
            case ReceiptWritten():
                _set(found, fact.fingerprints, state=State(fact.result), proof=fact.proof)
            case CallSettled():
                _touch(found, _changes(fact, ran.get(fact.key(), fact.name)))
            case _:
                pass
    return found


def claimed(findings: Mapping[str, Finding]) -> tuple[Finding, ...]:
    """List the findings that are claimed and have no receipt yet."""
    return tuple(one for one in findings.values() if one.state is State.CLAIMED)


def _filed(before: Finding | None, fact: FindingRecorded) -> Finding:
    """File a finding, or again: its words follow, and one that was closed is open again."""
    fresh = Finding(
        fact.fingerprint, fact.module, fact.title, fact.path, fact.detail, fact.severity
    )
    if before is None:
        return fresh
    again = replace(fresh, filed=before.filed + 1)
    if before.state is State.CLAIMED:
        return replace(again, state=State.CLAIMED, touched=before.touched)
    return again


def _set(
    found: dict[str, Finding],
    fingerprints: Iterable[str],
    *,
    state: State,
    proof: str,
    touched: tuple[str, ...] | None = None,
) -> None:
    for one in fingerprints:
        if one in found:
            kept = found[one].touched if touched is None else touched
            found[one] = replace(found[one], state=state, proof=proof, touched=kept)


def _changes(fact: CallSettled, name: str) -> tuple[str, ...]:
    """Name what a settled call changed: what it lists, else itself where it lists nothing."""
    if fact.outcome.changed:
        return fact.outcome.changed
    unlisted = name in UNLISTED_CHANGES and fact.outcome.tag is Tag.OK
    return (name,) if unlisted else ()


def _touch(found: dict[str, Finding], changes: tuple[str, ...]) -> None:
    if not changes:
        return
    for one in claimed(found):
        touched = tuple(dict.fromkeys([*one.touched, *changes]))
        found[one.fingerprint] = replace(one, touched=touched)
