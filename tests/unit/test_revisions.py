"""The schema's revisions are one line: each goes on from the one before it."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

from ledger.migrate import revisions


def test_each_revision_goes_on_from_the_one_before_it() -> None:
    """Two with one number, made at the same time, would leave no newest one."""
    known = revisions()
    made = [import_module(f"ledger.migrations.versions.{name}") for name in known]

    assert [one.revision for one in made] == list(known)
    assert [one.down_revision for one in made[1:]] == [before for before, _ in pairwise(known)]
    numbers = [name.partition("_")[0] for name in known]
    assert len(set(numbers)) == len(numbers)
