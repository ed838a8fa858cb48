"""A workspace's skills are read from its own folder, bounded, and through no link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from activities.skills import read_skills
from activities.sources import Place, read_sources
from tests.support.agents import a_registry, a_request, built

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make the folder for the skills of a workspace."""
    made = tmp_path / "workspace" / ".legato" / "skills"
    made.mkdir(parents=True)
    return made


def read(folder: Path) -> tuple[list[str], list[str]]:
    """Give the names of the skills, and each problem's code and file."""
    skills, found = read_skills(str(folder.parents[1]))
    return [skill.name for skill in skills], [one.partition(" ")[2].split()[0] for one in found]


def test_each_file_is_a_skill_in_the_order_of_names(folder: Path) -> None:
    (folder / "b.md").write_text("# Second: it is\nAnd more.\n")
    (folder / "a.md").write_text("# First: it is\n")
    (folder / "notes.txt").write_text("no skill")

    skills, found = read_skills(str(folder.parents[1]))

    assert [skill.name for skill in skills] == ["first", "second"]
    assert skills[1].text == "# Second: it is\nAnd more.\n"
    assert found == ()


def test_a_workspace_without_the_folder_has_none(tmp_path: Path) -> None:
    assert read_skills(str(tmp_path)) == ((), ())
    assert read_skills(str(tmp_path / "nowhere")) == ((), ())


def test_all_that_is_wrong_with_the_files_is_named_at_once(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("# secret: not for an agent\n")
    (folder / "good.md").write_text("# good: yes\n")
    (folder / "link.md").symlink_to(secret)
    (folder / "folder.md").mkdir()
    (folder / "bytes.md").write_bytes(b"# b: \xff\n")
    (folder / "large.md").write_text("# large: yes\n" + "x" * 64 * 1024)
    (folder / "plain.md").write_text("no heading\n")

    names, found = read(folder)

    assert names == ["good"]
    assert found == [
        f".legato/skills/'{name}.md'" for name in ("bytes", "folder", "large", "link", "plain")
    ]


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("# a: b\n")
    (tmp_path / "workspace" / ".legato").mkdir(parents=True)
    (tmp_path / "workspace" / ".legato" / "skills").symlink_to(outside)

    skills, found = read_skills(str(tmp_path / "workspace"))

    assert skills == ()
    assert len(found) == 1


def test_more_than_32_files_are_too_many(folder: Path) -> None:
    for n in range(33):
        (folder / f"{n:02}.md").write_text(f"# skill {n}: d\n")

    skills, found = read_skills(str(folder.parents[1]))

    assert len(skills) == 32
    assert [one.partition(":")[0] for one in found] == ["skills_too_many"]


async def test_files_are_read_only_where_a_skill_is_asked_for(folder: Path) -> None:
    (folder / "style.md").write_text("# House style: how we write\nTabs.\n")
    (folder / "broken.txt").write_text("")
    place = Place(a_registry(), lambda _: "", "none")
    workspace = str(folder.parents[1])
    asked = a_request(workspace=workspace, skills=("house-style",))

    sources = await read_sources(place, asked)
    without = await read_sources(place, a_request(workspace=workspace))

    assert without.skills == ()
    (skill,) = built(asked, skills=sources.skills).definition.skills
    assert skill.text.endswith("Tabs.\n")
