"""The rates at which models may be asked, as an operator sets them, and what a share is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.model_name import ModelName

_RATE = re.compile(r"(\d+)(rpm|tpm)")
_FORM = "MODEL=60rpm, MODEL=40000tpm or MODEL=60rpm+40000tpm"


@dataclass(frozen=True)
class Rate:
    """What the models that `pattern` names may be asked in a minute; 0 is no limit.

    `pattern` is a model's name, or its beginning before a `*`. Each model that it fits has
    the whole rate for itself.
    """

    pattern: str
    requests: int = 0
    tokens: int = 0


def parse_rates(text: str) -> tuple[Rate, ...]:
    """Read rates as `MODEL=60rpm+40000tpm`, separated by commas; raises ValueError."""
    return tuple(_rate(part.strip()) for part in text.split(",") if part.strip())


def _rate(text: str) -> Rate:
    pattern, _, given = text.rpartition("=")
    found = {match[2]: int(match[1]) for match in map(_RATE.fullmatch, given.split("+")) if match}
    if not pattern or len(found) != given.count("+") + 1 or not all(found.values()):
        message = f"{text!r} is not {_FORM}"
        raise ValueError(message)
    return Rate(pattern.strip(), found.get("rpm", 0), found.get("tpm", 0))


def rate_of(rates: Sequence[Rate], name: ModelName) -> Rate | None:
    """Find the first rate whose pattern fits a model."""
    return next((rate for rate in rates if _fits(rate.pattern, name.key)), None)


def _fits(pattern: str, key: str) -> bool:
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


def parse_weights(text: str) -> dict[str, int]:
    """Read workspaces' weights as `WORKSPACE=3`, separated by commas; raises ValueError."""
    weights: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        workspace, _, given = part.rpartition("=")
        if not workspace or not given.isdecimal() or not int(given):
            message = f"{part!r} is not WORKSPACE=WEIGHT with a whole number of at least 1"
            raise ValueError(message)
        weights[workspace.strip()] = int(given)
    return weights


@dataclass(frozen=True)
class Paces:
    """Everything that an operator set about rates; a workspace without a weight has 1."""

    rates: tuple[Rate, ...] = ()
    weights: Mapping[str, int] | None = None

    def weight(self, workspace: str) -> int:
        """Give a workspace's weight."""
        return (self.weights or {}).get(workspace, 1)
