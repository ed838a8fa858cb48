"""Asks a server over Streamable HTTP: what it offers, and to do one call."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    PaginatedRequestParams,
    Tool,
)
from pydantic import TypeAdapter

from activities.mcp.wire import MOST_RECEIVED, Trace, http_client
from domain.mcp.snapshot import Hints, OfferedTool, schema_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from mcp.client.session import ClientSession
    from mcp_types import RequestParamsMeta

    from activities.mcp.servers import Opened
    from domain.codec import Json

MOST_TOOLS = 1000
_MOST_PAGES = 100
_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    CallToolResult | InputRequiredResult
)


@asynccontextmanager
async def connected(opened: Opened, trace: Trace, limit: float) -> AsyncGenerator[ClientSession]:
    """Connect; what fails is raised as the SDK raises it, mostly in groups."""
    async with http_client(opened, trace, limit) as http:
        transport = streamable_http_client(
            opened.url, http_client=http, max_sse_event_size=MOST_RECEIVED
        )
        async with Client(transport, cache=None, read_timeout_seconds=limit) as client:
            yield client.session


async def offered(session: ClientSession, opened: Opened, only: str = "") -> list[OfferedTool]:
    """Read a server's tools, all pages, or the one named `only` if it is there.

    Secrets that it tells back are struck. Raises ValueError for a list without end.
    """
    found: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        listed = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for tool in listed.tools:
            if not only:
                found.append(_offered(tool, opened))
            elif tool.name == only:
                return [_offered(tool, opened)]
        cursor = listed.next_cursor
        if cursor is None:
            return found
        if len(found) > MOST_TOOLS:
            break
    message = f"it lists more than {MOST_TOOLS} tools, or without end"
    raise ValueError(message)


def _offered(tool: Tool, opened: Opened) -> OfferedTool:
    said = tool.annotations
    hints = Hints()
    if said is not None:
        hints = Hints(
            read_only=said.read_only_hint,
            destructive=said.destructive_hint,
            idempotent=said.idempotent_hint,
            open_world=said.open_world_hint,
        )
    return OfferedTool(
        name=opened.struck(tool.name),
        title=opened.struck(tool.title or (said.title if said is not None else None) or ""),
        description=opened.struck(tool.description or ""),
        argument_schema=opened.struck(schema_text(tool.input_schema)),
        result_schema=opened.struck(schema_text(tool.output_schema)),
        hints=hints,
    )


async def call(
    session: ClientSession, tool: str, arguments: Mapping[str, Json], call_id: str
) -> CallToolResult | InputRequiredResult:
    """Send one call, once; the server is told our id of it, by which it may know a second one.

    The SDK's own `call_tool` is not used: it raises where a result does not fit the tool's
    result schema, though the call was done.
    """
    meta = cast("RequestParamsMeta", {"legato/call-id": call_id})
    params = CallToolRequestParams(name=tool, arguments=dict(arguments), _meta=meta)
    return await session.send_request(CallToolRequest(params=params), _RESULT)
