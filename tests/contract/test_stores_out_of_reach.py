"""Nothing but its own tools reaches a store: no program, no link, no checkout, no file tool."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from activities.tools.confine import Level
from activities.tools.files import FILE_TOOLS
from activities.tools.search import SEARCH_TOOLS
from domain.agents.profile import Profile
from domain.tools.results import Tag
from tests.support.commands import command_in, folder_in, offered, run_text
from tests.support.interpreter import PYTHON
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from pathlib import Path

    from domain.codec import Json

CANARY = "canary-of-the-stores-51d0"
TOOLS = by_name((*FILE_TOOLS, *SEARCH_TOOLS))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Legato's own state with one canary in each kind of file that is nobody's to touch."""
    home = tmp_path / "home"
    texts = ("knowledgebase/context/rules.md", "knowledgebase/notes/a.md", "learnings/a.md")
    for file in (*(home / "stores" / one for one in texts), home / "state.json"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CANARY)
    with closing(sqlite3.connect(home / "stores" / "workflow.db")) as db, db:
        db.execute("create table kept (what text)")
        db.execute("insert into kept values (?)", (CANARY,))
    return home


def content(home: Path) -> dict[str, str]:
    """Digest every file of Legato's state but those of calls, which the runner writes."""
    return {
        str(file.relative_to(home)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(home.rglob("*"))
        if file.is_file()
        and file.relative_to(home).parts[0] != "calls"
        and not file.name.endswith(".lock")
    }


def attempts(home: Path) -> str:
    """Write the commands by which somebody would read or change each file."""
    db, rules = home / "stores" / "workflow.db", home / "stores/knowledgebase/context/rules.md"
    ask, change = "select what from kept", "delete from kept"
    lines = [
        f"sqlite3 '{db}' '{ask}; {change}'",
        *(
            f"{PYTHON} -c \"import sqlite3; c = sqlite3.connect('{db}'); "
            f"print(c.execute('{sql}').fetchall()); c.commit()\""
            for sql in (ask, change)
        ),
    ]
    for number, file in enumerate((db, rules, home / "state.json")):
        lines += [
            f"cp '{file}' copy{number}; cat copy{number}",
            f"mv '{file}' moved{number}; cat moved{number}",
            f"ln -s '{file}' soft{number}; cat soft{number}; echo spoilt >> soft{number}",
            f"ln '{file}' hard{number}; cat hard{number}; echo spoilt >> hard{number}",
            f"echo spoilt | tee '{file}'",
            f"git --work-tree='{file.parent}' checkout -f HEAD -- .",
        ]
    return "\n".join(lines)


def a_repository(place: Path) -> None:
    """Make a repository whose checkout would write over files of the same names."""
    place.mkdir(parents=True, exist_ok=True)
    for name in ("workflow.db", "rules.md", "state.json"):
        (place / name).write_text("from the repository")
    who = {
        f"GIT_{one}_{what}": "a@b.c"
        for one in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(
            ["git", *arguments], cwd=place, check=True, env={**os.environ, **who}, timeout=20
        )


@pytest.mark.parametrize("writable", [True, False], ids=["writer", "reader"])
@pytest.mark.parametrize("level", [Level.BUBBLEWRAP, Level.NAMESPACES])
def test_no_command_reads_or_changes_a_store(
    level: Level, *, writable: bool, home: Path, tmp_path: Path
) -> None:
    if not offered(level):
        pytest.skip(f"confinement level {level} is not offered here")
    a_repository(tmp_path / "workspace")
    before = content(home)
    command = command_in(tmp_path, attempts(home), level=level, writable=writable)
    _, output = run_text(command, folder_in(tmp_path))

    assert CANARY not in output
    assert content(home) == before
    own = (file for file in (tmp_path / "workspace").iterdir() if not file.is_symlink())
    texts = [file.read_text(errors="replace") for file in own if file.is_file()]
    assert not [text for text in texts if CANARY in text]


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("where", ["{home}", "../home", "link"])
def test_no_file_tool_reads_or_changes_a_store(
    where: str, profile: Profile, home: Path, tmp_path: Path
) -> None:
    context = tool_context(tmp_path, profile=profile)
    (tmp_path / "workspace" / "link").symlink_to(home)
    before = content(home)
    base = where.format(home=home)
    given: dict[str, Json] = {
        "content": "spoilt",
        "edits": [{"old": CANARY, "new": "spoilt"}],
        "pattern": CANARY,
        "expected_revision": hashlib.sha256(CANARY.encode()).hexdigest()[:16],
    }
    for file in before:
        for name, tool in TOOLS.items():
            if profile is Profile.READER and "expected_revision" in tool.spec.schema:
                continue  # refused by the claim, which the tools' own tests show
            known = tool.spec.input_schema["properties"]
            assert isinstance(known, dict)
            arguments = {key: value for key, value in given.items() if key in known}
            outcome = outcome_of(tool, context, path=f"{base}/{file}", **arguments)
            assert outcome.tag is Tag.ERROR, (name, file, outcome.text)
            assert CANARY not in outcome.text

    assert content(home) == before
