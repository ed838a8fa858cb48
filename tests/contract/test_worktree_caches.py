"""Caches of tools in a run's tree, on real repositories: neither counted, committed, nor shown."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from legato.worktrees import (
    commit_changes,
    find_repository,
    forget_snapshot,
    make_snapshot,
    make_worktree,
    show_changes,
)
from tests.support.repositories import git, repository

RUN = "01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6072"
CACHES = (
    "__pycache__/check.cpython-311.pyc",
    "part/__pycache__/deep.pyc",
    ".pytest_cache/v/nodes",
    ".mypy_cache/3.11/cache.json",
    ".ruff_cache/one",
    "node_modules/left/index.js",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository that ignores no cache."""
    return repository(tmp_path / "project")


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("written\n", encoding="utf-8")


def test_caches_of_tools_are_not_committed_and_do_not_stand_in_the_way_of_the_merge(
    folder: Path, tmp_path: Path
) -> None:
    tree = make_worktree(tmp_path / "home", RUN, find_repository(folder))
    put(Path(tree.top), "value.txt", *CACHES, ".venv/lib/one.py")
    put(folder, *CACHES)

    change = commit_changes(tmp_path / "home", tree, "done", (f"Legato-Run: {RUN}",))

    assert [file.path for file in change.files] == ["value.txt"]
    subprocess.run(change.merge, shell=True, check=True, capture_output=True)  # noqa: S602 - as printed
    assert (folder / "value.txt").read_text() == "written\n"


def test_only_caches_changed_is_nothing_changed(folder: Path, tmp_path: Path) -> None:
    tree = make_worktree(tmp_path / "home", RUN, find_repository(folder))
    put(Path(tree.top), *CACHES)

    assert commit_changes(tmp_path / "home", tree, "done", ()).commit == ""


def test_what_the_project_itself_tracks_is_committed_whatever_its_folder_is_called(
    folder: Path, tmp_path: Path
) -> None:
    put(folder, "node_modules/own/kept.js", "node_modules/own/gone.js")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "vendored")
    tree = make_worktree(tmp_path / "home", RUN, find_repository(folder))
    top = Path(tree.top)
    (top / "node_modules/own/kept.js").write_text("mended\n", encoding="utf-8")
    (top / "node_modules/own/gone.js").unlink()

    change = commit_changes(tmp_path / "home", tree, "done", ())

    assert [file.path for file in change.files] == [
        "node_modules/own/gone.js",
        "node_modules/own/kept.js",
    ]


def test_caches_are_no_uncommitted_changes_of_a_person(folder: Path) -> None:
    put(folder, *CACHES)
    (folder / "fix.py").unlink()
    put(folder, "value.txt", "mine.txt", "new/one.py", "new/__pycache__/one.pyc")

    assert find_repository(folder).uncommitted == 4


def test_what_is_thrown_away_takes_nothing_of_the_repository_with_it(
    folder: Path, tmp_path: Path
) -> None:
    put(folder, "node_modules/left/index.js", "mine.txt")
    tree = make_worktree(tmp_path / "home", RUN, find_repository(folder))
    put(Path(tree.top), "value.txt", "__pycache__/one.pyc")

    change = commit_changes(tmp_path / "home", tree, "done", ())
    subprocess.run(change.drop, shell=True, check=True, capture_output=True)  # noqa: S602 - as printed

    assert (folder / "node_modules/left/index.js").exists()
    assert (folder / "mine.txt").exists()
    assert not Path(tree.top).exists()
    assert git(folder, "branch", "--format=%(refname:short)") == "main"


def test_a_forgotten_snapshot_leaves_the_tree_and_nothing_else(
    folder: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    tree = make_snapshot(home, RUN, find_repository(folder), folder)
    put(folder, "value.txt", *CACHES)
    shown = show_changes(home, tree)

    forget_snapshot(home, tree)
    forget_snapshot(home, tree)

    assert [file.path for file in shown.files] == ["value.txt"]
    assert (folder / "value.txt").exists()
    assert list((home / "worktrees").iterdir()) == []
