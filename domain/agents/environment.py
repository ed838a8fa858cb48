"""Which variables of the worker's environment no command may be given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.runs.model_name import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMES = frozenset(("DATABASE_URL", *(key for keys in KEYS.values() for key in keys)))
_PREFIXES = ("LEGATO_", "TEMPORAL_")


def environment_problems(names: Iterable[str]) -> list[str]:
    """List the names that would hand Legato's own access or a provider's key to commands.

    A repository declares names of its own accord, so what they may be is not its to say.
    """
    return [
        f"environment_forbidden: {name} belongs to Legato and is given to no command; take it "
        "out of [environment] names in .legato/workspace.toml, and give commands a variable "
        "of another name"
        for name in dict.fromkeys(names)
        if name.upper() in _NAMES or name.upper().startswith(_PREFIXES)
    ]
