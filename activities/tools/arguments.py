"""Arguments of the file tools as Python values; the published schema was checked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json

PATH: dict[str, object] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4096,
    "description": "path relative to the workspace",
}
REVISION_PATTERN = "^[0-9a-f]{16}$"


def object_schema(required: list[str], **properties: dict[str, object]) -> dict[str, object]:
    """Build the schema of a tool's arguments: nothing beside the named properties."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def text(arguments: Mapping[str, Json], name: str) -> str | None:
    """Return a text argument, None where it is missing or null."""
    value = arguments.get(name)
    return value if isinstance(value, str) else None


def whole(arguments: Mapping[str, Json], name: str, default: int) -> int:
    """Return a whole-number argument (JSON's 3.0 is 3), its default where it is missing."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return int(value)


def yes(arguments: Mapping[str, Json], name: str, *, default: bool) -> bool:
    """Return a truth argument, its default where it is missing."""
    value = arguments.get(name)
    return value if isinstance(value, bool) else default


def encoded(content: str, name: str) -> bytes:
    """Encode text as UTF-8; raises `invalid_text` for a lone surrogate."""
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise refused(
            "invalid_text",
            f"{name} holds broken Unicode at character {exc.start}",
            next="send the text again without it",
        ) from None
