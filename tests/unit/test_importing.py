"""`legato import` writes files of Legato's, reports what is lost, and overwrites nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from domain.agents.imported.step_file import read_steps
from legato.plan_steps import named_step
from tests.support.saved_steps import ELEVEN, a_file, real_file
from tests.support.stack import Result, call_inside, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = "---\nname: Reviewer\ndescription: d\ntools: Read\n---\nReview.\n"
COPILOT = "---\ndescription: d\ntools: [read]\n---\nPlan.\n"
CREW = "writer: {role: r, goal: g, backstory: b}\neditor: {role: r, goal: g, backstory: b}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, beside a home where nothing was ever started."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def bring(here: Path, *arguments: str) -> Result:
    """Import with these arguments, in JSON."""
    return call_inside(clean_environment(here.parent / "home"), "--json", "import", *arguments)


def test_saved_steps_are_written_beside_the_old_file_which_stays(here: Path) -> None:
    old = here / "step_config.json"
    old.write_text(real_file())

    done = bring(here, "step_config.json")

    assert (done.code, done.json["written"]) == (0, ["step_config.legato.json"])
    new = read_steps((here / "step_config.legato.json").read_text())
    assert (new.form, set(new.names), new.rows) == ("legato", set(ELEVEN), ())
    assert old.read_text() == real_file()
    assert [part["name"] for part in done.json["parts"]] == list(ELEVEN)
    assert sum(done.json["counts"].values()) == sum(len(p["rows"]) for p in done.json["parts"])


def test_the_folder_of_a_workflow_stands_for_its_file(here: Path) -> None:
    (here / "flow" / "planning").mkdir(parents=True)
    (here / "flow" / "planning" / "step_config.json").write_text(real_file())

    done = bring(here, "flow")

    assert done.json["written"] == ["flow/planning/step_config.legato.json"]
    assert bring(here, "flow/planning").json["written"] == done.json["written"]


def test_a_folder_without_anything_to_import_is_refused(here: Path) -> None:
    (here / "empty").mkdir()

    assert bring(here, "empty").json["error"]["code"] == "import_unknown"
    assert bring(here, "nowhere").json["error"]["cause"] == "there is nothing at this path"


def test_importing_again_changes_nothing_and_other_content_is_in_the_way(here: Path) -> None:
    (here / "s.json").write_text(a_file(one={}))
    target = here / "new.json"

    assert bring(here, "s.json", "--to", "new.json").code == 0
    assert bring(here, "s.json", "--to", "new.json").code == 0
    target.write_text("mine")
    taken = bring(here, "s.json", "--to", "new.json")
    assert (taken.code, taken.json["error"]["code"]) == (3, "import_target_taken")
    assert target.read_text() == "mine"
    assert bring(here, "s.json", "--to", "new.json", "--overwrite").code == 0
    assert json.loads(target.read_text())["legato_steps"] == 1


def test_what_is_imported_is_never_written_over(here: Path) -> None:
    (here / "s.json").write_text(a_file(one={}))

    done = bring(here, "s.json", "--to", "s.json", "--overwrite")

    assert (done.code, done.json["error"]["code"]) == (3, "import_target_taken")
    assert (here / "s.json").read_text() == a_file(one={})


def test_strict_writes_nothing_while_a_person_has_to_decide(here: Path) -> None:
    (here / "s.json").write_text(a_file(one={"db_access": "read"}, two={}))

    open_ = bring(here, "s.json", "--strict")
    assert (open_.code, open_.json["ok"], open_.json["written"]) == (5, False, [])
    assert open_.json["for_people"] == 1
    (case,) = [row for part in open_.json["parts"] for row in part["rows"] if row["person"]]
    assert (case["field"], case["widens"]) == ("db_access", ["database:write"])
    assert list(here.iterdir()) == [here / "s.json"]

    (here / "s.json").write_text(a_file(one={"db_access": "read", "profile": "writer"}, two={}))
    decided = bring(here, "s.json", "--strict")
    assert (decided.code, decided.json["for_people"]) == (0, 0)


def test_what_was_upgraded_is_nobodys_case(here: Path) -> None:
    (here / "s.json").write_text(real_file())
    bring(here, "s.json")

    again = bring(here, "s.legato.json", "--strict", "--to", "again.json")

    assert again.code == 0
    assert (here / "again.json").read_text() == (here / "s.legato.json").read_text()


def test_a_refused_step_is_told_and_the_others_are_written(here: Path) -> None:
    (here / "s.json").write_text(a_file(bad={"selected_tools": "all"}, good={}))

    done = bring(here, "s.json")

    assert (done.code, done.json["refused"]) == (3, 1)
    assert read_steps((here / "s.legato.json").read_text()).names == ("good",)


def test_a_file_that_is_none_writes_nothing(here: Path) -> None:
    (here / "s.json").write_text("{")

    done = bring(here, "s.json")

    assert (done.code, done.json["written"]) == (3, [])
    assert [row["code"] for row in done.json["file"]] == ["json_invalid"]
    assert bring(here, "gone.json").json["error"]["code"] == "step_file_unreadable"


def test_agent_files_of_others_become_drafts_in_a_folder_that_nothing_loads(here: Path) -> None:
    (here / "a.md").write_text(CLAUDE)
    (here / "plan.agent.md").write_text(COPILOT)
    (here / "agents.yaml").write_text(CREW)

    kinds = [bring(here, name).json for name in ("a.md", "plan.agent.md", "agents.yaml")]

    assert [one["kind"] for one in kinds] == ["claude", "copilot", "crewai"]
    drafts = sorted(path.name for path in (here / "legato-drafts").iterdir())
    assert drafts == ["editor.md", "plan.md", "reviewer.md", "writer.md"]
    text = (here / "legato-drafts" / "reviewer.md").read_text()
    assert 'tools: ["read_file"]' in text


def test_a_folder_of_agent_files_is_searched_to_any_depth(here: Path) -> None:
    deep = here / "agents" / "more"
    deep.mkdir(parents=True)
    (here / "agents" / "a.md").write_text(CLAUDE)
    (deep / "b.agent.md").write_text(COPILOT)
    (deep / "README.md").write_text("# no agent\n")
    (deep / "again.md").write_text(CLAUDE)

    done = bring(here, "agents", "--to", "out")

    kept = {part["name"]: part["kept"] for part in done.json["parts"]}
    assert kept == {"a.md": True, "README.md": False, "again.md": False, "b": True}
    assert (done.code, done.json["refused"]) == (3, 1)
    assert sorted(path.name for path in (here / "out").iterdir()) == ["b.md", "reviewer.md"]


def test_what_a_file_is_may_be_said(here: Path) -> None:
    (here / "team.txt").write_text(CREW)

    assert bring(here, "team.txt").json["error"]["code"] == "import_unknown"
    assert bring(here, "team.txt", "--from", "crewai").json["kind"] == "crewai"


def test_people_are_shown_what_is_for_them_and_what_was_written(here: Path) -> None:
    (here / "s.json").write_text(a_file(one={"db_access": "read"}))

    said = call_inside(clean_environment(here.parent / "home"), "import", "s.json").out

    assert "? db_access: dropped (store_differs) [widens database:write]" in said
    assert "next: set the step's `profile`" in said
    assert "written: s.legato.json" in said


@pytest.mark.parametrize(
    ("given", "file", "step"),
    [
        ("flow#one", "flow/planning/step_config.json", "one"),
        ("flow", "flow/planning/step_config.json", ""),
        ("s.json#a#b", "s.json#a", "b"),
        ("odd#name.json", "odd#name.json", ""),
        ("odd#name.json#x", "odd#name.json", "x"),
    ],
)
def test_a_step_is_named_after_its_file(here: Path, given: str, file: str, step: str) -> None:
    (here / "flow" / "planning").mkdir(parents=True)
    (here / "flow" / "planning" / "step_config.json").write_text("[]")
    (here / "odd#name.json").write_text("{}")

    assert named_step(given) == (str(here / file), step)


def test_a_run_of_a_step_that_cannot_be_launched_is_refused_before_anything_starts(
    here: Path,
) -> None:
    (here / "s.json").write_text(real_file())

    def run(*arguments: str) -> str:
        done = call_inside(clean_environment(here.parent / "home"), "--json", "run", *arguments)
        assert done.code == 3
        error = done.json["error"]
        return f"{error['code']}: {error['cause']}"

    assert "step_missing" in run("--step-config", "s.json#nobody", "x", "-m", "script:s.json")
    assert "step_scripted" in run("--step-config", "s.json#scripted", "x", "-m", "script:s.json")
    assert "step_ambiguous" in run("--step-config", "s.json", "x", "-m", "script:s.json")
    assert run("--step-config", "no.json", "x").startswith("step_file_unreadable")
    assert "step_not_of_role" in run("generic", "x", "--step-config", "s.json#verify")
    assert "model_missing" in run("--step-config", "s.json#verify", "x")
    assert "message_missing" in run("plan-step", "--step-config", "s.json#verify")
    assert not (here.parent / "home").exists()


def test_agents_are_never_written_over_what_they_were_imported_from(here: Path) -> None:
    (here / "agents").mkdir()
    (here / "agents" / "reviewer.md").write_text(CLAUDE)

    done = bring(here, "agents", "--to", "agents", "--overwrite")

    assert done.json["error"]["code"] == "import_target_taken"
    assert (here / "agents" / "reviewer.md").read_text() == CLAUDE


@pytest.mark.parametrize("to", ["taken/below", "x" * 300, "y" * 250])
def test_a_place_that_cannot_be_written_is_named(here: Path, to: str) -> None:
    (here / "s.json").write_text(a_file(one={}))
    (here / "taken").write_text("")

    done = bring(here, "s.json", "--to", to, "--overwrite")

    assert done.json["error"]["code"] == "import_not_written"
    assert sorted(path.name for path in here.iterdir()) == ["s.json", "taken"]


def test_a_path_that_cannot_be_looked_at_is_nothing_to_import(here: Path) -> None:
    assert bring(here, "x" * 300).json["error"]["cause"] == "File name too long"


def test_a_files_name_begins_no_line_of_the_report(here: Path) -> None:
    (here / "agents").mkdir()
    (here / "agents" / "a\nwritten: forged.md").write_text(CLAUDE)

    (part,) = bring(here, "agents").json["parts"]

    assert part["name"] == "a\\nwritten: forged.md"


def test_a_pipe_in_the_way_is_not_waited_for(here: Path) -> None:
    (here / "s.json").write_text(a_file(one={}))
    os.mkfifo(here / "new.json")

    done = bring(here, "s.json", "--to", "new.json")

    assert done.json["error"]["code"] == "import_target_taken"
