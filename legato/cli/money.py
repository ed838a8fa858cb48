"""An amount of money as a command line writes it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import click

from domain.runs.budget import MOST

_PLACES = 12


def dollars(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Check US dollars and write them as plain decimal text; None stays None.

    Finite, from 0 to 10**12, at most 12 decimal places; raises click's BadParameter.
    """
    return None if value is None else plain(value, "amount of money, such as 2.50")


def plain(value: str, what: str) -> str:
    """Check an amount within the same bounds; `what` is what a text that is none is not."""
    try:
        amount = Decimal(value)
    except InvalidOperation:
        raise click.BadParameter(f"{value!r} is no {what}") from None
    if not amount.is_finite() or not 0 <= amount <= MOST:
        raise click.BadParameter(f"{value!r} is not between 0 and {MOST}")
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -_PLACES:
        raise click.BadParameter(f"{value!r} has more than {_PLACES} decimal places")
    return format(abs(amount), "f")
