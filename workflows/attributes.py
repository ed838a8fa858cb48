"""Sets a run's search attributes, only when they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from domain.runs.attributes import STATUS, WAITING_ON

if TYPE_CHECKING:
    from temporalio.common import SearchAttributeUpdate

_STATUS = SearchAttributeKey.for_keyword(STATUS)
_WAITING_ON = SearchAttributeKey.for_keyword(WAITING_ON)


def show(status: str, waiting_on: str) -> None:
    """Upsert status and what the run waits for, where they differ from what stands.

    A run that was started without attributes is on a server that does not have them:
    setting one there would fail the workflow's task for ever.
    """
    known = workflow.info().typed_search_attributes
    if known.get(_STATUS) is None:
        return
    updates: list[SearchAttributeUpdate[str]] = []
    if known.get(_STATUS) != status:
        updates.append(_STATUS.value_set(status))
    if (known.get(_WAITING_ON) or "") != waiting_on:
        updates.append(_WAITING_ON.value_set(waiting_on))
    if updates:
        workflow.upsert_search_attributes(updates)  # pyright: ignore[reportUnknownMemberType]
