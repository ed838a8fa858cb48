"""The one table of roles: why an agent is launched, and what that gives it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.rows import conversations, review_fix, reviewers, steps, upkeep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.role import Role

REVIEW_FIX = review_fix.REVIEW_FIX
CHECK_AND_FIX = review_fix.CHECK_AND_FIX
GENERIC = conversations.GENERIC
PLAN_STEP = steps.PLAN_STEP

_ROWS = (
    *review_fix.ROWS,
    *conversations.ROWS,
    *steps.ROWS,
    *reviewers.ROWS,
    *upkeep.ROWS,
)

ROLES: Mapping[str, Role] = MappingProxyType({row.name: row for row in _ROWS})
"""Every role by name."""
