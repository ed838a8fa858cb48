"""A step that an older program saved, from the command line to what is shown of its run."""

from __future__ import annotations

import pytest

from tests.support.saved_steps import a_file
from tests.support.stack import LiveStack, calls, text

pytestmark = pytest.mark.slow

NOTE = ("write_note", {"path": "seen.md", "content": "seen\n"})


def test_an_old_step_runs_as_it_is_and_its_run_shows_what_became_of_each_field(
    stack: LiveStack,
) -> None:
    folder = stack.workspace("saved")
    old = {"enabled_custom_tools": ["human_tools:*"], "knowledgebase_access": "none"}
    (folder / "planning").mkdir()
    (folder / "planning" / "step_config.json").write_text(a_file(one=old, two={}))
    model = stack.script("saved", calls(NOTE), text("done"))

    ran = stack.cli(
        "--json", "run", "--step-config", f"{folder}#one", "note it", "-w", str(folder), "-m", model
    )
    brought = stack.cli("--json", "import", str(folder))
    new = brought.json["written"][0]
    again = stack.cli(
        "--json", "run", "--step-config", f"{new}#one", "note it", "-w", str(folder), "-m", model
    )

    assert (ran.code, again.code) == (0, 0), ran.out + ran.err + again.out + again.err
    assert ran.json["agent"] == "plan-step"
    assert ran.json["fingerprint"] == again.json["fingerprint"]
    assert ran.json["calls"] == 1
    shown = stack.cli("--json", "show", ran.json["run_id"]).json
    assert (shown["step_id"], shown["profile"]) == ("one", "writer")
    (told,) = [row for row in shown["step_report"] if row["field"] == "knowledgebase_access"]
    assert told["widens"] == ["knowledgebase:read", "knowledgebase:write"]
    screen = stack.cli("show", ran.json["run_id"]).out
    assert "saved step" in screen
    assert "knowledgebase_access: dropped (store_differs)" in screen
