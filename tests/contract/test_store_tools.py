"""Knowledgebase and learnings: what is kept, who may change it, and what a dead worker leaves."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from activities.tools.files import FILE_TOOLS
from activities.tools.knowledge import KNOWLEDGE_TOOLS
from activities.tools.learnings import LEARNINGS_TOOLS
from activities.tools.receipts import Receipt, leave_receipt
from activities.tools.search import SEARCH_TOOLS
from domain.agents.profile import Profile
from domain.ports import Absent, Executed, Unclear
from domain.tools.registry import Effect, Writes
from domain.tools.results import Tag
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from domain.codec import Json
    from domain.ports import ToolContext
    from domain.tools.results import Outcome

TOOLS = by_name((*KNOWLEDGE_TOOLS, *LEARNINGS_TOOLS))
FOREIGN = by_name((*FILE_TOOLS, *SEARCH_TOOLS))
FACT = "Rates change on the first of a month.\nSource: the bank's page.\n"
OURS = b"Only people write this.\n"
WRITES: dict[str, dict[str, Json]] = {
    "write_note": {"path": "notes/rates.md", "content": FACT},
    "write_learning": {"topic": "rates", "content": FACT},
}
PLACES = {"write_note": "knowledgebase/notes/rates.md", "write_learning": "learnings/rates.md"}


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return tool_context(tmp_path)


def call(context: ToolContext, name: str, **arguments: Json) -> Outcome:
    return outcome_of(TOOLS[name], context, **arguments)


def owned(context: ToolContext) -> Path:
    """Put a text where only people write, and give its path."""
    path = Path(context.stores, "knowledgebase/context/rules.md")
    path.parent.mkdir(parents=True)
    path.write_bytes(OURS)
    return path


def revision(data: str) -> str:
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def test_a_note_that_was_written_is_listed_found_and_read_back(context: ToolContext) -> None:
    written = call(context, "write_note", **WRITES["write_note"])
    owned(context)

    assert (written.tag, written.changed) == (Tag.OK, ())
    assert "notes/rates.md" in call(context, "list_knowledge").text
    assert "context/rules.md" in call(context, "list_knowledge", path="context").text
    assert "notes/rates.md:1:" in call(context, "search_knowledge", pattern="first of").text
    read = call(context, "read_knowledge", path="notes/rates.md").text
    assert read.endswith(FACT)
    assert f"revision: {revision(FACT)}" in read
    assert call(context, "read_knowledge", path="context/rules.md").text.endswith(OURS.decode())


def test_a_topic_that_was_written_is_listed_and_read_back(context: ToolContext) -> None:
    call(context, "write_learning", **WRITES["write_learning"])

    assert "rates.md" in call(context, "read_learnings").text
    assert call(context, "read_learnings", topic="rates").text.endswith(FACT)


@pytest.mark.parametrize("name", WRITES)
def test_a_text_is_replaced_only_by_who_read_it(name: str, context: ToolContext) -> None:
    call(context, name, **WRITES[name])
    blind = call(context, name, **{**WRITES[name], "content": "new"})
    seen = call(
        context, name, **{**WRITES[name], "content": "new", "expected_revision": revision(FACT)}
    )

    assert blind.code == "revision_required"
    assert seen.tag is Tag.OK
    assert Path(context.stores, PLACES[name]).read_text() == "new"


def test_what_is_outdated_is_removed_by_its_revision(context: ToolContext) -> None:
    for name, arguments in WRITES.items():
        call(context, name, **arguments)
    gone = revision(FACT)
    stale = call(context, "delete_note", path="notes/rates.md", expected_revision="0" * 16)

    assert stale.code == "revision_mismatch"
    assert call(context, "delete_note", path="notes/rates.md", expected_revision=gone).tag is Tag.OK
    assert call(context, "delete_learning", topic="rates", expected_revision=gone).tag is Tag.OK
    assert call(context, "read_knowledge", path="notes/rates.md").code == "not_found"
    assert call(context, "read_learnings", topic="rates").code == "not_found"


@pytest.mark.parametrize(
    "path",
    [
        "context/rules.md",
        "notes/../context/rules.md",
        "./context//rules.md",
        "/context/rules.md",
        "Context/new.md",
        "NOTES/a.md",
        "notes",
        "other.md",
        ".",
    ],
)
@pytest.mark.parametrize("name", ["write_note", "delete_note"])
def test_what_people_own_is_never_changed(name: str, path: str, context: ToolContext) -> None:
    file = owned(context)
    arguments: dict[str, Json] = {"path": path, "expected_revision": revision(OURS.decode())}
    if name == "write_note":
        arguments["content"] = "mine now"
    refusal = call(context, name, **arguments)

    assert refusal.code == "protected_path"
    assert file.read_bytes() == OURS
    assert [one.name for one in Path(context.stores, "knowledgebase").iterdir()] == ["context"]


@pytest.mark.parametrize("path", ["../workflow.db", "notes/../../workflow.db", "/etc/passwd"])
def test_no_path_leads_out_of_the_store(path: str, context: ToolContext) -> None:
    owned(context)
    Path(context.stores, "workflow.db").write_bytes(b"rows")

    assert call(context, "read_knowledge", path=path).code in {
        "path_outside_workspace",
        "not_found",
    }
    assert call(context, "write_note", path=path, content="x").tag is Tag.ERROR
    assert Path(context.stores, "workflow.db").read_bytes() == b"rows"


def test_a_link_among_the_notes_leads_nowhere_when_it_is_written(context: ToolContext) -> None:
    file = owned(context)
    notes = Path(context.stores, "knowledgebase/notes")
    notes.mkdir()
    (notes / "rules.md").symlink_to("../context/rules.md")
    (notes / "all").symlink_to("../context")
    for path in ("notes/rules.md", "notes/all/rules.md"):
        refusal = call(
            context, "write_note", path=path, content="x", expected_revision=revision("a")
        )
        assert refusal.code == "path_is_a_link"

    assert file.read_bytes() == OURS


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_reader_reads_and_the_executor_itself_refuses_every_change(
    tool: object, tmp_path: Path
) -> None:
    context = tool_context(tmp_path, profile=Profile.READER)
    name = next(name for name, one in TOOLS.items() if one is tool)
    arguments: dict[str, Json] = {
        "path": "notes/a.md",
        "topic": "a",
        "pattern": "x",
        "content": "x",
        "expected_revision": "0" * 16,
    }
    known = TOOLS[name].spec.input_schema["properties"]
    assert isinstance(known, dict)
    given = {key: value for key, value in arguments.items() if key in known}
    outcome = call(context, name, **given)
    lasting = TOOLS[name].spec.writes is Writes.LASTING

    assert (outcome.code == "not_a_writer") is lasting
    assert list(Path(context.stores).iterdir()) == []


def test_what_was_never_written_is_empty_and_stays_unmade(context: ToolContext) -> None:
    assert call(context, "list_knowledge").text == "The knowledgebase is empty."
    assert call(context, "search_knowledge", pattern="a").tag is Tag.OK
    assert call(context, "read_learnings").text == "There are no learnings yet."
    assert call(context, "read_knowledge", path="notes/a.md").code == "not_found"
    assert call(context, "read_learnings", topic="a").code == "not_found"
    assert list(Path(context.stores).iterdir()) == []


def test_no_refusal_speaks_of_the_file_tools_or_of_the_workspace(context: ToolContext) -> None:
    call(context, "write_note", **WRITES["write_note"])
    call(context, "write_learning", **WRITES["write_learning"])
    told = [
        call(context, "read_knowledge", path="notes/none.md"),
        call(context, "read_knowledge", path="../x"),
        call(context, "read_knowledge", path="notes"),
        call(context, "write_note", path="notes/none.md", content="", expected_revision="0" * 16),
        call(context, "write_note", **WRITES["write_note"]),
        call(context, "read_learnings", topic="none"),
        call(context, "write_learning", **WRITES["write_learning"]),
    ]

    assert all(one.tag is Tag.ERROR for one in told)
    assert [one.text for one in told if any(name in one.text for name in FOREIGN)] == []
    assert [one.text for one in told if "workspace" in one.text] == []


@pytest.mark.parametrize("name", WRITES)
def test_a_text_beyond_its_bound_is_refused(name: str, context: ToolContext) -> None:
    refusal = call(context, name, **{**WRITES[name], "content": "x" * (256 * 1024 + 1)})

    assert refusal.code == "content_too_large"


@pytest.mark.parametrize("name", WRITES)
def test_a_run_without_a_workspace_has_no_store(name: str, context: ToolContext) -> None:
    bare = replace(context, stores="")

    assert call(bare, name, **WRITES[name]).code == "no_workspace"


@pytest.mark.parametrize("name", WRITES)
def test_a_probe_tells_what_a_dead_worker_did(name: str, context: ToolContext) -> None:
    tool = TOOLS[name]
    assert tool.spec.effect is Effect.PROBEABLE
    assert tool.probe is not None
    never = tool.probe(WRITES[name], context)
    done = call(context, name, **WRITES[name])
    happened = tool.probe(WRITES[name], context)
    file = Path(context.stores, PLACES[name])
    file.write_text("somebody else")
    unclear = tool.probe(WRITES[name], context)

    assert never == Absent()
    assert happened == Executed(done)
    assert isinstance(unclear, Unclear)


@pytest.mark.parametrize("name", WRITES)
def test_a_change_that_died_after_its_receipt_is_absent_and_made_once(
    name: str, context: ToolContext
) -> None:
    file = Path(context.stores, PLACES[name])
    file.parent.mkdir(parents=True)
    relative = file.relative_to(Path(context.stores, PLACES[name].split("/")[0]))
    after = hashlib.sha256(FACT.encode()).hexdigest()
    leave_receipt(context, Receipt(str(relative), "", after, "wrote it"))
    probe = TOOLS[name].probe
    assert probe is not None

    assert probe(WRITES[name], context) == Absent()
    assert call(context, name, **WRITES[name]).tag is Tag.OK
    assert file.read_text() == FACT
    assert isinstance(probe(WRITES[name], context), Executed)


def test_a_topic_with_a_newline_behind_it_is_none(context: ToolContext) -> None:
    written = call(context, "write_learning", topic="rates\n", content=FACT)

    assert (written.tag, written.code) == (Tag.ERROR, "invalid_path")
    assert call(context, "read_learnings").text == "There are no learnings yet."
    call(context, "write_learning", topic="rates", content=FACT)
    assert call(context, "read_learnings", topic="rates\n").code == "invalid_path"


def test_a_refusal_leaves_a_path_as_it_was_given(context: ToolContext) -> None:
    owned(context)

    for path in ("notes/read_file.md", "read_file/the workspace/write_file", "notes/x-list_files"):
        says = call(context, "read_knowledge", path=path).text
        assert says == f"{path} does not exist. Next: look for it with list_knowledge."


def test_a_text_that_could_not_be_read_back_is_not_kept(context: ToolContext) -> None:
    written = call(context, "write_note", path="notes/a.md", content="a\0b")

    assert (written.tag, written.code) == (Tag.ERROR, "invalid_text")
    assert call(context, "list_knowledge").text == "The knowledgebase is empty."


def test_a_store_that_is_no_folder_is_not_called_empty(context: ToolContext) -> None:
    Path(context.stores).mkdir(parents=True, exist_ok=True)
    Path(context.stores, "learnings").write_text("")

    assert call(context, "read_learnings").code == "workspace_missing"
