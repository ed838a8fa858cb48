"""What to do about a run that its worker refused or that had no key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.runs.model_name import FORMS, KEYS, parse_model

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = {
    "script_unreadable": "name an existing YAML file after `script:`",
    "script_invalid": "correct the script; docs/models.md describes every field of one",
    "model_unknown": "name a model as " + ", ".join(FORMS),
    "model_key_exposed": "use an https:// address, or a server on this machine",
}
"""The next step by the code of what is wrong with a model."""

MEND = "mend every problem named, then start the run again"


def next_step(why: str, model: str, has: Callable[[str], bool]) -> str:
    """Give the step that mends why a run was refused; "" where no step is known.

    `why` holds the problems' codes, `has` tells whether this command's own environment holds
    a variable.
    """
    if "model_key_missing" in why:
        return key_step(model, has)
    return next((step for code, step in STEPS.items() if code in why), "")


def key_step(model: str, has: Callable[[str], bool]) -> str:
    """Say how a worker gets the key that it lacks."""
    try:
        names = KEYS.get(parse_model(model).provider, ())
    except LegatoError:
        names = ()
    kept = "the worker keeps the environment of the first `legato up`"
    here = next((name for name in names if has(name)), "")
    if here:
        said = f"{here} is set here, but the running worker does not have it: "
        return f"{said}`legato down`, then run again ({kept})"
    wanted = " or ".join(names) or "the model's key"
    return f"set {wanted}, then `legato down` and run again: {kept}"
