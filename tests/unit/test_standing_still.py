"""Why an open run may stand still, and where a run is looked at in the Temporal UI."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.events import RunWaiting
from legato.addresses import run_page
from legato.examine.open_runs import still
from tests.support import facts as f
from tests.support.recorded import recorded

if TYPE_CHECKING:
    from domain.events import Fact

BEGUN = (f.accepted("r"), f.attached(), f.defined())
ASKS = (*BEGUN, f.turn_started(), f.requested(), f.responded(calls=1), f.asked())


@pytest.mark.parametrize(
    ("facts", "minutes", "hint"),
    [
        (BEGUN[:1], 0.5, None),
        (BEGUN[:1], 2, "no worker has taken it up for 2 minutes"),
        (BEGUN, 10, None),
        (BEGUN, 20, "nothing has happened for 20 minutes"),
        ((*ASKS, RunWaiting(n=1, on="input", ref="q1")), 0, "waits for a person"),
        ((*BEGUN, RunWaiting(n=1, on="capacity", ref="1.1")), 60, None),
    ],
)
def test_a_run_that_stands_still_is_named_with_why(
    facts: tuple[Fact, ...], minutes: float, hint: str | None
) -> None:
    events = recorded(*facts)

    found = still(events, events[-1].at + timedelta(minutes=minutes))

    if hint is None:
        assert found is None
    else:
        assert found is not None
        assert hint in found.text
        assert found.next


def test_the_page_of_a_run_has_its_workflow_id_encoded_whole() -> None:
    page = run_page("http://127.0.0.1:1/", "legato", "run/ws/generic/x/1", "abc")

    assert page == (
        "http://127.0.0.1:1/namespaces/legato/workflows/run%2Fws%2Fgeneric%2Fx%2F1/abc/history"
    )
    assert run_page(None, "legato", "run/x", "abc") == ""
    assert run_page("http://u", "n", "w", "") == "http://u/namespaces/n/workflows/w"
