"""The limits of a run as a command line says them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from domain.agents.definition import MOST_WAIT
from domain.runs import budget
from legato.cli.money import dollars
from legato.cli.seconds import Seconds

if TYPE_CHECKING:
    from collections.abc import Callable

_COUNT = click.IntRange(0, budget.MOST)
_SECONDS = Seconds()
SOFT = "Where the agent is told to wrap up; 80 % of the hard limit if not given."


class BudgetOptions(TypedDict):
    """What a run may spend: hard limits, and the soft ones below them."""

    max_seconds: float | None
    max_steps: int | None
    max_calls: int | None
    max_tokens: int | None
    max_cost: str | None
    soft_seconds: float | None
    soft_steps: int | None
    soft_calls: int | None
    soft_tokens: int | None
    soft_cost: str | None


class Limits(BudgetOptions):
    """What a run may use, as the command line says it."""

    max_output_tokens: int
    max_wait: float


def added_options(
    command: Callable[..., int],
    options: tuple[Callable[[Callable[..., int]], Callable[..., int]], ...],
) -> Callable[..., int]:
    """Let a command take options, in their order."""
    for option in reversed(options):
        command = option(command)
    return command


def budget_options(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take a budget."""
    return added_options(
        command,
        (
            click.option("--max-seconds", type=_SECONDS, help="At most so long at work."),
            click.option("--max-steps", type=_COUNT, help="At most so many model calls."),
            click.option("--max-calls", type=_COUNT, help="At most so many tool calls."),
            click.option("--max-tokens", type=_COUNT, help="At most so many tokens in all."),
            click.option(
                "--max-cost", callback=dollars, metavar="USD", help="At most so many US dollars."
            ),
            click.option("--soft-seconds", type=_SECONDS, help=SOFT),
            click.option("--soft-steps", type=_COUNT, help=SOFT),
            click.option("--soft-calls", type=_COUNT, help=SOFT),
            click.option("--soft-tokens", type=_COUNT, help=SOFT),
            click.option("--soft-cost", callback=dollars, metavar="USD", help=SOFT),
        ),
    )


def limit_options(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take the limits of a run: its budget, and those of one answer."""
    command = added_options(
        command,
        (
            click.option(
                "--max-output-tokens",
                type=click.IntRange(1, budget.MOST),
                default=4096,
                show_default=True,
                help="At most so many tokens in one answer.",
            ),
            click.option(
                "--max-wait",
                type=_SECONDS,
                default=MOST_WAIT,
                show_default=True,
                metavar="SECONDS",
                help="At most so long, in one step, for a model that has no capacity.",
            ),
        ),
    )
    return budget_options(command)


def budget_of(given: BudgetOptions) -> budget.Budget:
    """Turn the options into a run's limits."""
    return budget.Budget(
        seconds=given["max_seconds"],
        steps=given["max_steps"],
        calls=given["max_calls"],
        tokens=given["max_tokens"],
        cost=given["max_cost"],
        soft=budget.Limits(
            seconds=given["soft_seconds"],
            steps=given["soft_steps"],
            calls=given["soft_calls"],
            tokens=given["soft_tokens"],
            cost=given["soft_cost"],
        ),
    )
