"""The ledger's figures as one table for people, beside the ratios that are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.table import gate, machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.contest import Figure
    from bench.table import Row

HEAD = ("figure", "writers", "value", "to a raw insert", "least to most", "gate")
WHOLE = 100
"""A value of at least this is shown without fraction."""

MOST_MS = 100
CROWDS = (8, 32)
_CROWDED = ("append", "batch", "append_to_rival")
_ALONE = ("visible_p50", "visible_p99", "rebuild", "verify")
_LEAST = {
    "append": 0.60,
    "batch": 1.0,
    "chain_on_to_off": 0.75,
    "append_to_rival": 3.0,
    "rebuild": 20_000,
}


def held(figure: Figure) -> str:
    """Say which limit a figure is held to and whether it keeps it; "" where it has none."""
    if figure.figure == "visible_p99":
        return gate(f"< {MOST_MS}", holds=figure.value < MOST_MS)
    limit = _LEAST.get(figure.figure)
    if limit is None or (figure.figure in _CROWDED and figure.writers not in CROWDS):
        return ""
    found = figure.value if figure.ratio is None else figure.ratio
    return gate(f">= {limit:,g}", holds=found >= limit)


def text(figures: Iterable[Figure]) -> str:
    """Render the table."""
    rows = [HEAD, *(_cells(figure) for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join([machine(), "", *lines])


def rows_of(figures: Iterable[Figure]) -> list[Row]:
    """Give the figures as rows of the table of all figures."""
    rows: list[Row] = []
    for figure in figures:
        name, writers, value, ratio, noise, verdict = _cells(figure)
        crowd = "writer" if writers == "1" else "writers"
        what = name if figure.figure in _ALONE else f"{name}, {writers} {crowd}"
        found = value if not ratio else f"{value}, {ratio} of a raw insert"
        rows.append(("ledger", what, f"{found} ({noise})" if noise else found, verdict))
    return rows


def _cells(figure: Figure) -> tuple[str, ...]:
    noise = f"{figure.least:.2f} to {figure.most:.2f}" if figure.least and figure.most else ""
    return (
        figure.figure,
        str(figure.writers) if figure.writers else "",
        f"{figure.value:,.{0 if figure.value >= WHOLE else 2}f} {figure.unit}",
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        noise,
        held(figure),
    )
