"""Names of streams, events and Temporal workflows, all derived from a run's coordinates."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class At:
    """Where in a run something happens: turn and step count from 1 over the whole run."""

    turn: int
    step: int

    @property
    def key(self) -> str:
        """The coordinates as they stand in event ids."""
        return f"{self.turn}.{self.step}"


@dataclass(frozen=True)
class CallAt:
    """Which call of which step: position counts from 0 in the order the model wrote."""

    turn: int
    step: int
    position: int

    @property
    def key(self) -> str:
        """The coordinates as they stand in event ids."""
        return f"{self.turn}.{self.step}.{self.position}"


def call_id(run_id: str, call: CallAt) -> str:
    """Name one call for the world outside: the idempotency key, the same at each attempt."""
    return f"{run_id}:{call.key}"


def run_stream(run_id: str) -> str:
    """Name the stream that holds a run's facts."""
    return f"run/{run_id}"


def session_stream(session: str) -> str:
    """Name the stream that says which run holds a session."""
    return f"session/{session}"


def incoming_stream(session: str) -> str:
    """Name the stream where a session's accepted messages wait."""
    return f"incoming/{session}"


def slot_stream(slot: str) -> str:
    """Name the stream that says which run holds a slot."""
    return f"slot/{slot}"


def mcp_stream(server: str) -> str:
    """Name the stream that says what was accepted of an MCP server's tools."""
    return f"mcp/{server}"


def slug(text: str, *, limit: int = 40) -> str:
    """Reduce a name to lower-case letters, digits and dashes; never empty."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words[:limit].strip("-") or "x"


def workspace_slug(path: str) -> str:
    """Name a workspace: the folder's slug and four hexadecimal digits of its path."""
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return f"{slug(name)}-{hashlib.sha256(path.encode()).hexdigest()[:4]}"


def slot_of(workspace: str, agent: str, scope: str) -> str:
    """Name the singleton a run holds."""
    return f"{workspace}/{slug(agent)}/{slug(scope)}"


def workflow_id(slot: str, n: int) -> str:
    """Name the Temporal workflow of the slot's n-th holder."""
    return f"run/{slot}/{n}"


def derived_run_id(*parts: str) -> str:
    """Derive a run's id from the ids of the append that accepts it, in the shape of a UUID."""
    raw = bytearray(hashlib.sha256("\x1f".join(parts).encode()).digest()[:16])
    raw[6] = (raw[6] & 0x0F) | 0x80
    raw[8] = (raw[8] & 0x3F) | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
