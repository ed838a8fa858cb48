"""The two authority profiles and the typed claim that every mutating executor checks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from domain.errors import LegatoError, refused
from domain.tools.registry import Writes


class Profile(StrEnum):
    """The only authority an agent has."""

    READER = "reader"
    WRITER = "writer"


@dataclass(frozen=True)
class Claim:
    """What a running call may prove of itself: its run, workspace and profile."""

    run_id: str
    workspace: str
    profile: Profile


def may_have(profile: Profile, writes: Writes) -> bool:
    """Tell whether a profile's definition may hold a tool: `lasting` is for Writers only."""
    return profile is Profile.WRITER or writes is not Writes.LASTING


def require_writer(claim: Claim, tool: str) -> None:
    """Refuse a lasting change to a run without the claim; raises `not_a_writer`."""
    error = writer_problem(claim, tool)
    if error is not None:
        raise error


def writer_problem(claim: Claim, tool: str) -> LegatoError | None:
    """Tell why a claim does not carry a lasting change, or None where it does."""
    if claim.profile is Profile.WRITER:
        return None
    return refused(
        "not_a_writer",
        f"{tool} changes lasting state and this run is a Reader",
        cause=f"run {claim.run_id} holds a reader claim",
        next="report what should change instead of changing it",
    )
