"""A server's answer to a call as an outcome: text for the model, errors tagged as such."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from domain.tools.results import Outcome, error, ok

if TYPE_CHECKING:
    from mcp_types import ContentBlock


def outcome_of(result: CallToolResult) -> Outcome:
    """Turn a result into an outcome; only what the server tagged as an error is one."""
    text = "\n".join(_shown(block) for block in result.content)
    if not text.strip() and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        return error("tool_failed", text or "The server says that the call failed, and not why.")
    return ok(text)


def _shown(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.mime_type}, {len(block.data) * 3 // 4} bytes, not shown]"
        case ResourceLink():
            return f"[{block.name}: {block.uri}]"
        case EmbeddedResource(resource=TextResourceContents() as resource):
            return resource.text
        case EmbeddedResource(resource=resource):
            return f"[{resource.uri}, not text, not shown]"
