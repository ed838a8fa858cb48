"""The ledger's figures as one table for people, beside the ratios that are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.table import machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.contest import Figure

HEAD = ("figure", "writers", "value", "to a raw insert", "least to most", "held")
WHOLE = 100
"""A value of at least this is shown without fraction."""


def held(figure: Figure) -> str:
    """Say which limit a figure is held to and whether it keeps it; "" where it has none."""
    limit = _LIMITS.get(figure.figure)
    if limit is None or figure.writers not in limit[2]:
        return ""
    least, found = limit[0], figure.value if limit[1] else figure.ratio
    return f">= {least:g}{'' if found is not None and found >= least else ' MISSED'}"


_LIMITS: dict[str, tuple[float, bool, tuple[int, ...]]] = {
    "append": (0.60, False, (8, 32)),
    "batch": (1.0, False, (8, 32)),
    "chain_on_to_off": (0.75, True, (1, 8, 32)),
    "append_to_rival": (3.0, True, (8, 32)),
}


def text(figures: Iterable[Figure]) -> str:
    """Render the table."""
    rows = [HEAD, *(_row(figure) for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join([machine(), "", *lines])


def _row(figure: Figure) -> tuple[str, ...]:
    noise = f"{figure.least:.2f} to {figure.most:.2f}" if figure.least and figure.most else ""
    return (
        figure.figure,
        str(figure.writers) if figure.writers else "",
        f"{figure.value:,.{0 if figure.value >= WHOLE else 2}f} {figure.unit}",
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        noise,
        held(figure),
    )
