"""The engines by name, each ready to be measured on one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bench import bare_turns, legato_turns, rivals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AsyncExitStack

    from bench.cluster import Cluster
    from bench.measured import Measured

Measure: TypeAlias = "Callable[[int, int], Awaitable[Measured]]"
"""Times so many turns in so many runs at once."""

NAMES = (legato_turns.ENGINE, bare_turns.ENGINE, *rivals.RIVALS)
WARM = 3
"""Turns that are not counted: connections, caches and workers are there after them."""


async def opened(name: str, cluster: Cluster, until: AsyncExitStack) -> Measure:
    """Start what an engine needs and warm it up; it ends with `until`.

    Raises:
        LegatoError: `rival_not_installed`.

    """
    measure = await _started(name, cluster, until)
    await measure(WARM, 1)
    return measure


async def _started(name: str, cluster: Cluster, until: AsyncExitStack) -> Measure:
    if name == legato_turns.ENGINE:
        door = await until.enter_async_context(cluster.door())
        return lambda turns, runs: legato_turns.measure(cluster, door, turns, runs)
    if name == bare_turns.ENGINE:
        until.enter_context(bare_turns.worker(cluster))
        return lambda turns, runs: bare_turns.measure(cluster, turns, runs)
    python = await rivals.installed()
    return lambda turns, runs: rivals.measure(name, python, cluster, turns, runs)
