"""The roster: one line an agent, within a total number of bytes however many there are."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from domain.agents.files.caps import cut, one_line, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.agents.files.agent_file import AgentFile

MOST_ROSTER = 16 * 1024
"""Bytes of a roster: it rides with every request of the parent."""

_LEAST = 24
_EXAMPLES = re.compile(r"\\n|<example|\bExamples?:", re.IGNORECASE)


def summary(description: str) -> str:
    """Give what a description says before its examples, on one line."""
    text = one_line(description)
    head = _EXAMPLES.split(text, maxsplit=1)[0].strip()
    return head or text


def render_roster(agents: Sequence[AgentFile], most: int = MOST_ROSTER) -> str:
    """Write the roster, sorted by id, in at most `most` bytes.

    Where descriptions do not fit, the long ones are cut, all at the same length. Where not
    even their beginnings fit, the last line says how many agents are left out.
    """
    ordered = sorted(agents, key=lambda agent: agent.id)
    lines = [(f"- {agent.id}: ", summary(agent.description)) for agent in ordered]
    least = [0, *accumulate(_width(line, _LEAST) for line in lines)]
    kept = len(lines)
    while kept and least[kept] + size(_left_out(len(lines) - kept)) > most:
        kept -= 1
    tail = _left_out(len(lines) - kept)
    longest = _longest(lines[:kept], most - size(tail))
    text = "".join(f"{head}{cut(said, longest)}\n" for head, said in lines[:kept])
    return (text + tail).rstrip("\n") if size(tail) <= most else ""


def _left_out(count: int) -> str:
    return f"({count} more agents are not listed)\n" if count else ""


def _width(line: tuple[str, str], longest: int) -> int:
    return size(line[0]) + min(size(line[1]), longest) + 1


def _longest(lines: Sequence[tuple[str, str]], most: int) -> int:
    """Find the greatest length that all descriptions may have."""
    low, high = _LEAST, max([_LEAST, *(size(said) for _, said in lines)])
    while low < high:
        middle = (low + high + 1) // 2
        if sum(_width(line, middle) for line in lines) <= most:
            low = middle
        else:
            high = middle - 1
    return low
