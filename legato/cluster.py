"""Makes servers of one's own ready: the ledger's tables, Temporal's namespace and attributes."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import LegatoError
from domain.runs.attributes import KEYWORDS
from ledger.migrate import migrate
from legato.client import connect

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import Client

    from legato.embedded import Stack

RETENTION = timedelta(days=90)
"""How long Temporal keeps an ended run's history; the ledger keeps its facts for ever."""

_PATIENCE = 60.0
_LOOK = 0.5
_NOT_YET = (RPCStatusCode.NOT_FOUND, RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED)


async def prepare_cluster(stack: Stack, progress: Callable[[str], None]) -> None:
    """Bring both servers to what this version needs; what is there already stays.

    Raises:
        LegatoError: `ledger_unreachable`, `ledger_newer`, `temporal_unreachable`,
            `cluster_refused`.

    """
    progress("bringing the ledger's tables up to date")
    await migrate(stack.database_url)
    progress(f"registering the namespace {stack.temporal_namespace} and the search attributes")
    client = await connect(stack.temporal_address, stack.temporal_namespace)
    try:
        await _register_namespace(client)
        await register_attributes(client)
    except RPCError as error:
        raise LegatoError(
            "cluster_refused",
            f"Temporal refused to be set up: {error.status.name.lower()}",
            cause=error.message,
            next=(
                f"register the namespace {client.namespace} and the Keyword attributes "
                f"{', '.join(KEYWORDS)} yourself"
            ),
        ) from None


async def _register_namespace(client: Client) -> None:
    retention = Duration()
    retention.FromTimedelta(RETENTION)
    request = RegisterNamespaceRequest(
        namespace=client.namespace,
        description="Runs of Legato",
        workflow_execution_retention_period=retention,
    )
    try:
        await client.workflow_service.register_namespace(request)
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise


async def register_attributes(client: Client, *, patience: float = _PATIENCE) -> None:
    """Add the search attributes that are missing; returns once they can be used.

    A namespace just registered is not known everywhere at once: it is tried again for
    `patience` seconds. Raises RPCError where the server refuses or does not know it then.
    """
    until = time.monotonic() + patience
    while True:
        try:
            missing = await missing_attributes(client)
            if not missing or time.monotonic() > until:
                return
            keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(
                    namespace=client.namespace, search_attributes=dict.fromkeys(missing, keyword)
                )
            )
        except RPCError as error:
            if error.status not in _NOT_YET or time.monotonic() > until:
                raise
        await asyncio.sleep(_LOOK)


async def missing_attributes(client: Client) -> list[str]:
    """Name the search attributes that the namespace does not have; raises RPCError."""
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [name for name in KEYWORDS if name not in listed.custom_attributes]
