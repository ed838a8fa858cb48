"""Changed copies of frozen dataclasses, at a fraction of what `dataclasses.replace` costs.

A run is folded from thousands of facts, and each makes a copy or several of some thirty fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import replace  # so that names and types of fields are checked
else:

    def replace(one: T, /, **changes: object) -> T:
        """Copy a dataclass without slots and without `__post_init__`, with some fields changed."""
        copy = object.__new__(type(one))
        copy.__dict__.update(one.__dict__, **changes)
        return copy


__all__ = ["replace"]
