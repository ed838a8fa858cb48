"""The embedded stack: Postgres, Temporal and a worker under one supervisor."""

from __future__ import annotations

from .stack import Stack, down, ensure_up, has_ledger, read_state
from .state import PartState, Reason, StackState, Status
from .status import PartStatus, StackStatus, stack_status

__all__ = [
    "PartState",
    "PartStatus",
    "Reason",
    "Stack",
    "StackState",
    "StackStatus",
    "Status",
    "down",
    "ensure_up",
    "has_ledger",
    "read_state",
    "stack_status",
]
