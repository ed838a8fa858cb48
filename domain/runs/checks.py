"""What a failed prevalidation says to the agent that must repair it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_SHOWN = 6000


def repair_message(name: str, failures: Sequence[str], repair: int, most: int) -> str:
    """Tell the agent what failed, how often it may still try, and what to do."""
    listed = "\n\n".join(failure[:MOST_SHOWN] for failure in failures)
    return (
        f"The checks of '{name}' failed (repair {repair} of at most {most}):\n\n{listed}\n\n"
        "Find the cause, mend it, and say when you are done; the same checks run again then."
    )
