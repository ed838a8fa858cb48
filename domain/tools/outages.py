"""Blames a server for its tools: while it is out, no other name of them would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from domain.tools.effective import EffectiveView

UNAVAILABLE = "server_unavailable"
"""The code of a call that its server could not be asked for."""


def out(view: EffectiveView, settled: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Name the servers that could not be asked when a tool of theirs was called last.

    `settled` gives the tool and the code of each call so far, in order.
    """
    servers = {name: spec.source for name, spec in view.specs.items() if spec.remote}
    last: dict[str, str] = {}
    if servers:
        last = {servers[name]: code for name, code in settled if name in servers}
    return frozenset(
        source.partition(":")[2] for source, code in last.items() if code == UNAVAILABLE
    )


def blamed(servers: Collection[str], view: EffectiveView, names: Iterable[str]) -> list[str]:
    """Name those of the servers that tools belong to, by what they are or by how they are named."""
    found = {
        server
        for name in names
        for server in servers
        if name.startswith(f"mcp__{server}__")
        or (name in view.specs and view.specs[name].source.partition(":")[2] == server)
    }
    return sorted(found)


def advice(servers: Collection[str]) -> str:
    """Say what a model can do about servers that are out, "" for none."""
    if not servers:
        return ""
    return (
        f"The server {', '.join(servers)} could not be reached when it was asked last: it is the "
        "server that is missing, and other names of its tools would not help."
    )
