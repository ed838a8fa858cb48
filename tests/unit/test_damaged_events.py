"""An event that this build cannot read is told of by its fields, never by what they hold."""

from __future__ import annotations

import pytest

from domain.errors import LegatoError
from domain.events import decode


def test_a_damaged_event_names_the_fields_and_shows_nothing_they_hold() -> None:
    with pytest.raises(LegatoError) as refused:
        decode("stop.requested", 1, b'{"submission": "s", "reason": ["sk-planted"], "by": "b"}')

    error = refused.value
    assert error.code == "event_damaged"
    assert error.details["problems"] == ["stop.requested.reason: string_type"]
    assert "sk-planted" not in f"{error}{error.cause}{error.details}"
