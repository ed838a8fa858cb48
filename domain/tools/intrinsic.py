"""The tools that every agent has where they apply: their contracts and what they answer."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.tools.registry import Effect, ToolSpec, Writes, tool_spec
from domain.tools.results import HEAD_BYTES, TAIL_BYTES, Outcome, error, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

GET_API_SPEC = "get_api_spec"
CALL_TOOL = "call_tool"
READ_SKILL = "read_skill"
READ_RESULT = "read_result"

PIECE_BYTES = HEAD_BYTES + TAIL_BYTES - 256
"""How much of a stored result one `read_result` hands over: with its note it is shown uncut."""

_FORGIVING_OBJECT = {"anyOf": [{"type": "object"}, {"type": "string"}]}
_FORGIVING_NAMES = {
    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}],
    "description": "Names of tools, exactly as listed.",
}


def _spec(
    name: str, description: str, properties: Mapping[str, object], *required: str
) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return tool_spec(
        name,
        description,
        schema,
        effect=Effect.READ,
        writes=Writes.NOTHING,
        timeout=10.0,
        resource="",
        source="intrinsic",
    )


INTRINSIC_SPECS: Mapping[str, ToolSpec] = MappingProxyType(
    {
        GET_API_SPEC: _spec(
            GET_API_SPEC,
            "Give the descriptions and argument schemas of tools by name, all or none.",
            {"tool_names": _FORGIVING_NAMES, "server_name": {"description": "Ignored."}},
            "tool_names",
        ),
        CALL_TOOL: _spec(
            CALL_TOOL,
            "Call a tool by its name; the same checks apply as when it is called directly.",
            {"name": {"type": "string"}, "arguments": _FORGIVING_OBJECT},
            "name",
        ),
        READ_SKILL: _spec(
            READ_SKILL,
            "Read one of your skills whole, by its name.",
            {"name": {"type": "string"}},
            "name",
        ),
        READ_RESULT: _spec(
            READ_RESULT,
            "Read on in a result that was cut: its id, and the byte to begin at.",
            {"id": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}},
            "id",
        ),
    }
)
"""The intrinsic contracts by name; each only reads."""


def read_skill(skills: Mapping[str, str], name: str) -> Outcome:
    """Give a skill's text whole; an unknown name is told which there are."""
    if name in skills:
        return ok(skills[name])
    listed = ", ".join(sorted(skills)) or "none"
    return error("skill_unknown", f"There is no skill {name!r}. Your skills are: {listed}.")


def read_piece(text: str, result_id: str, offset: int) -> Outcome:
    """Give the part of a stored result that begins at a byte, saying where to read on."""
    data = text.encode("utf-8", "replace")
    if offset >= len(data):
        return error(
            "offset_past_end",
            f"The result {result_id!r} has {len(data)} bytes; offset {offset} is past its end.",
        )
    piece = data[_rune_start(data, offset) : _rune_start(data, offset + PIECE_BYTES)]
    end = _rune_start(data, offset) + len(piece)
    note = "the end" if end >= len(data) else f"read on with offset {end}"
    return ok(f"{piece.decode()}\n[bytes {offset} to {end} of {len(data)}: {note}]")


def _rune_start(data: bytes, offset: int) -> int:
    """Step back from within a UTF-8 sequence to where it begins."""
    at = min(offset, len(data))
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8's own marks
        at -= 1
    return at
