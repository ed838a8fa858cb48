"""The command `budget`: what an open run may spend is raised."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, TypedDict

import click
from rich.text import Text

from domain.runs.budget import LIMITS, Limits, written
from domain.runs.raising import Wanted
from legato.cli.console import Call, json_option, run_async
from legato.cli.limits import added_options
from legato.cli.money import plain
from legato.cli.steer import RUN_HELP
from legato.door import new_id, raise_budget
from legato.readings import find_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from domain.runs.budget import Budget, Limit
    from ledger.accept import Accepted

_WHOLE = "whole number, such as 10 or +10"
_FRACTIONS = {
    "max_seconds": "number of seconds, such as 90 or +90",
    "max_cost": "amount of money, such as 2.50 or +2.50",
}
"""What the limits are that need not be whole numbers; all others do."""


class WantedOptions(TypedDict):
    """Limits as `budget` and `resume` take them: (whether on top, the amount)."""

    max_seconds: tuple[bool, Decimal] | None
    max_steps: tuple[bool, Decimal] | None
    max_calls: tuple[bool, Decimal] | None
    max_tokens: tuple[bool, Decimal] | None
    max_cost: tuple[bool, Decimal] | None


def _amount(
    _ctx: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[bool, Decimal] | None:
    """Read `N` or `+N`; raises click's BadParameter."""
    if value is None:
        return None
    what = _FRACTIONS.get(parameter.name or "", _WHOLE)
    amount = Decimal(plain(value.removeprefix("+"), what))
    if what == _WHOLE and amount != amount.to_integral_value():
        raise click.BadParameter(f"{value!r} is no {_WHOLE}")
    return value.startswith("+"), amount


def wanted_options(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take limits: as they shall be, or with a plus on top of what they are."""
    what = {"seconds": "seconds at work", "steps": "model calls", "calls": "tool calls"}
    what |= {"tokens": "tokens in all", "cost": "US dollars"}
    options = tuple(
        click.option(
            f"--max-{limit}",
            callback=_amount,
            metavar="[+]N",
            help=f"At most N {what[limit]}; +N: so many more.",
        )
        for limit in LIMITS
    )
    return added_options(command, options)


def wanted_of(given: WantedOptions) -> Wanted:
    """Turn the options into what is asked for."""
    amounts: dict[Limit, tuple[bool, Decimal] | None] = {
        "seconds": given["max_seconds"],
        "steps": given["max_steps"],
        "calls": given["max_calls"],
        "tokens": given["max_tokens"],
        "cost": given["max_cost"],
    }
    parts: tuple[dict[str, object], ...] = ({}, {})
    for limit, amount in amounts.items():
        if amount is not None:
            parts[amount[0]][limit] = written(limit, amount[1])
    total, more = (Limits.model_validate(part) for part in parts)
    return Wanted(total=total, more=more)


def budget_text(budget: Budget) -> str:
    """Say what a run may spend."""
    dumped = budget.model_dump()
    said = [
        f"${dumped[limit]}" if limit == "cost" else f"{dumped[limit]} {limit}"
        for limit in LIMITS
        if dumped[limit] is not None
    ]
    return ", ".join(said) or "without limits"


@click.command("budget", epilog=RUN_HELP)
@click.argument("run")
@wanted_options
@json_option
@click.pass_obj
def budget_command(call: Call, run: str, **given: Unpack[WantedOptions]) -> int:
    """Raise what an open run may spend, from its next decision on.

    A limit is given as it shall be, or with a plus as what comes on top; only limits that
    the run has are raised, none is lowered.
    """
    wanted = wanted_of(given)
    if not wanted.named():
        raise click.UsageError("name a limit, such as --max-steps +10")

    async def work() -> tuple[str, Accepted]:
        async with call.door(run) as door:
            run_id = await find_run(door.ledger, run)
            return run_id, await raise_budget(door, run_id, wanted, submission=new_id())

    run_id, accepted = run_async(work())
    budget = accepted.run.budget
    row: dict[str, object] = {"ok": True, "run_id": run_id, "event_id": accepted.event}
    row |= {"stream": accepted.stream, "version": accepted.version}
    row |= {"budget": budget.model_dump(mode="json")}
    call.show(row, lambda: Text(f"accepted: {run_id} may spend {budget_text(budget)}"))
    return 0
