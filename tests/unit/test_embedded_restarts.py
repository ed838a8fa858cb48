"""A part is started again after growing delays, and given up after five within a minute."""

from __future__ import annotations

import pytest

from legato.embedded.keeper import delay_before_restart


@pytest.mark.parametrize(
    ("ends", "delay"),
    [
        ([0.0], 0.2),
        ([0.0, 1.0], 0.4),
        ([0.0, 1.0, 2.0], 0.8),
        ([0.0, 1.0, 2.0, 3.0], 1.6),
        ([0.0, 1.0, 2.0, 3.0, 4.0], 3.2),
    ],
)
def test_the_delay_doubles_with_each_end_within_a_minute(ends: list[float], delay: float) -> None:
    assert delay_before_restart(ends, ends[-1]) == pytest.approx(delay)


def test_a_sixth_end_within_a_minute_is_the_last() -> None:
    assert delay_before_restart([0.0, 10.0, 20.0, 30.0, 40.0, 59.9], 59.9) is None


def test_ends_of_more_than_a_minute_ago_are_forgiven() -> None:
    assert delay_before_restart([0.0, 10.0, 20.0, 30.0, 40.0, 60.0], 60.0) == pytest.approx(3.2)
    assert delay_before_restart([0.0, 1.0, 2.0, 3.0, 4.0, 100.0], 100.0) == pytest.approx(0.2)
