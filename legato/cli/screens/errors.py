"""An error as people read it: what happened, why, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.text import Text

from legato.cli.spelling import spelled

if TYPE_CHECKING:
    from domain.errors import LegatoError


def error_screen(error: LegatoError) -> Text:
    """Write an error; several problems stand on a line each."""
    listed = error.details.get("problems")
    several = _texts(listed)
    head = error.message.partition(": ")[0] if len(several) > 1 else error.message
    text = Text()
    text.append("error ", style="bold red").append(f"({error.code}): {head}\n")
    for problem in several if len(several) > 1 else []:
        text.append(f"  - {problem}\n")
    if error.cause and not several and error.cause not in error.message:
        text.append("  cause: ", style="bold").append(f"{error.cause}\n")
    if error.next:
        text.append("  next: ", style="bold").append(spelled(error.next))
    text.rstrip()
    return text


def _texts(listed: object) -> list[str]:
    return [str(one) for one in cast("list[object]", listed)] if isinstance(listed, list) else []
