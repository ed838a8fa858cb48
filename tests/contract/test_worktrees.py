"""Worktrees for runs, on real repositories: made, committed and shown, each step repeatable."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from domain.errors import LegatoError
from legato.worktrees import (
    Tree,
    commit_changes,
    find_repository,
    load_tree,
    make_snapshot,
    make_worktree,
    remove_worktree,
    show_changes,
)

RUN = "01a2b3c4-d5e6-7f80-9a1b-2c3d4e5f6071"
TRAILERS = (f"Legato-Run: {RUN}", "Legato-Status: completed")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=A Person", "-c", "user.email=a@person", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, in a folder with a space in its name."""
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "app.py").write_text("one = 1\n", encoding="utf-8")
    (folder / ".gitignore").write_text(".venv/\nignored.txt\n", encoding="utf-8")
    (folder / "part").mkdir()
    (folder / "part/deep.txt").write_text("deep\n", encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def made(home: Path, folder: Path) -> Tree:
    return make_worktree(home, RUN, find_repository(folder))


def write(tree: Tree, name: str, text: str) -> None:
    Path(tree.workspace, name).write_text(text, encoding="utf-8")


def test_a_worktree_is_on_a_branch_of_its_own_and_leaves_the_tree_alone(
    home: Path, repository: Path
) -> None:
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")

    assert git(Path(tree.top), "branch", "--show-current") == "legato/01a2b3c4-d5e6-7f80"
    assert Path(tree.top).is_relative_to(home)
    assert (repository / "app.py").read_text() == "one = 1\n"
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "branch", "--show-current") == "main"


def test_making_it_again_under_the_same_run_gives_the_first(home: Path, repository: Path) -> None:
    first = made(home, repository)
    write(first, "app.py", "one = 2\n")
    git(repository, "commit", "--quiet", "--allow-empty", "--message", "later")

    assert made(home, repository) == first == load_tree(home, RUN)
    assert Path(first.workspace, "app.py").read_text() == "one = 2\n"


def test_a_half_made_worktree_is_finished(home: Path, repository: Path) -> None:
    tree = made(home, repository)
    shutil.rmtree(tree.top)
    record = next(home.rglob("tree.json"))
    record.write_text(record.read_text().replace(tree.own_git, ""), encoding="utf-8")

    assert made(home, repository) == tree
    assert Path(tree.workspace, "app.py").exists()


def test_a_commit_holds_what_changed_and_names_the_run(home: Path, repository: Path) -> None:
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\ntwo = 2\n")
    write(tree, "new.txt", "new\n")
    write(tree, "ignored.txt", "no\n")
    Path(tree.top, "part/deep.txt").unlink()

    change = commit_changes(home, tree, "What was done", TRAILERS)

    assert [(f.path, f.added, f.removed) for f in change.files] == [
        ("app.py", 2, 1),
        ("new.txt", 1, 0),
        ("part/deep.txt", 0, 1),
    ]
    message = git(repository, "log", "-1", "--format=%B", tree.branch)
    assert message == "What was done\n\n" + "\n".join(TRAILERS)
    assert git(Path(tree.top), "status", "--porcelain") == ""
    subprocess.run(change.merge, shell=True, check=True, capture_output=True)  # noqa: S602 - as printed
    assert (repository / "app.py").read_text() == "one = 2\ntwo = 2\n"
    subprocess.run(change.drop, shell=True, check=True, capture_output=True)  # noqa: S602 - as printed
    assert git(repository, "branch", "--format=%(refname:short)") == "main"


def test_committing_a_second_time_changes_nothing(home: Path, repository: Path) -> None:
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")
    first = commit_changes(home, tree, "done", TRAILERS)
    write(tree, "app.py", "one = 3\n")

    assert commit_changes(home, tree, "done again", TRAILERS) == first
    assert git(repository, "rev-list", "--count", f"main..{tree.branch}") == "1"


def test_commits_of_the_run_itself_are_kept(home: Path, repository: Path) -> None:
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")
    git(Path(tree.top), "commit", "--quiet", "--all", "--message", "its own")
    write(tree, "new.txt", "new\n")

    change = commit_changes(home, tree, "done", TRAILERS)

    subjects = git(repository, "log", "--format=%s", f"main..{tree.branch}").splitlines()
    assert subjects == ["done", "its own"]
    assert {file.path for file in change.files} == {"app.py", "new.txt"}


def test_a_stale_lock_and_another_head_do_not_keep_the_work_from_its_branch(
    home: Path, repository: Path
) -> None:
    tree = made(home, repository)
    git(Path(tree.top), "checkout", "--quiet", "--detach")
    write(tree, "app.py", "one = 2\n")
    Path(tree.own_git, "index.lock").touch()

    change = commit_changes(home, tree, "done", TRAILERS)

    assert git(repository, "rev-parse", tree.branch) == change.commit
    assert git(repository, "show", f"{tree.branch}:app.py") == "one = 2"


def test_no_hook_runs(home: Path, repository: Path) -> None:
    for name in ("post-checkout", "pre-commit", "commit-msg", "reference-transaction"):
        hook = repository / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{repository}/hooked'\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")

    assert commit_changes(home, tree, "done", TRAILERS).commit
    assert not (repository / "hooked").exists()


def test_a_changed_git_configuration_is_refused_until_a_person_accepts_it(
    home: Path, repository: Path
) -> None:
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")
    git(repository, "config", "filter.evil.clean", f"touch '{repository}/evil'; cat")
    write(tree, ".gitattributes", "*.py filter=evil\n")

    with pytest.raises(LegatoError) as caught:
        commit_changes(home, tree, "done", TRAILERS)

    assert caught.value.code == "git_config_changed"
    assert f"--finish {RUN} --accept-config" in caught.value.next
    assert not (repository / "evil").exists()
    assert commit_changes(home, tree, "done", TRAILERS, trust_config=True).commit


def test_a_worktree_whose_git_file_was_bent_is_still_committed_to_its_own_branch(
    home: Path, repository: Path, tmp_path: Path
) -> None:
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    Path(tree.top, ".git").write_text(f"gitdir: {other}/.git\n", encoding="utf-8")

    assert commit_changes(home, tree, "done", TRAILERS).commit
    assert git(repository, "show", f"{tree.branch}:app.py") == "one = 2"


def test_dependencies_are_linked_into_the_worktree_and_never_committed(
    home: Path, repository: Path
) -> None:
    (repository / ".venv/bin").mkdir(parents=True)
    (repository / ".venv/bin/tool").write_text("tool\n", encoding="utf-8")
    (repository / "node_modules").mkdir()
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")

    change = commit_changes(home, tree, "done", TRAILERS)

    assert Path(tree.workspace, ".venv/bin/tool").read_text() == "tool\n"
    assert tree.linked == (".venv", "node_modules")
    assert [file.path for file in change.files] == ["app.py"]


def test_a_folder_of_a_repository_is_worked_on_at_its_place(home: Path, repository: Path) -> None:
    tree = made(home, repository / "part")
    write(tree, "deep.txt", "deeper\n")

    change = commit_changes(home, tree, "done", TRAILERS)

    assert Path(tree.workspace) == Path(tree.top, "part")
    assert [file.path for file in change.files] == ["part/deep.txt"]


def test_nothing_changed_is_no_commit_and_can_be_removed_twice(
    home: Path, repository: Path
) -> None:
    tree = made(home, repository)
    change = commit_changes(home, tree, "done", TRAILERS)
    remove_worktree(home, tree)

    assert (change.commit, change.files, change.merge) == ("", (), "")
    assert not Path(tree.top).exists()
    assert git(repository, "branch", "--format=%(refname:short)") == "main"
    assert load_tree(home, RUN) is None


def test_a_removed_worktree_that_was_not_committed_is_told(home: Path, repository: Path) -> None:
    tree = made(home, repository)
    shutil.rmtree(tree.top)

    with pytest.raises(LegatoError) as caught:
        commit_changes(home, tree, "done", TRAILERS)

    assert caught.value.code == "worktree_gone"


def test_in_place_only_what_changed_since_the_beginning_is_shown(
    home: Path, repository: Path
) -> None:
    (repository / "app.py").write_text("one = 7\n", encoding="utf-8")
    (repository / "mine.txt").write_text("mine\n", encoding="utf-8")
    found = find_repository(repository)
    tree = make_snapshot(home, RUN, found, repository)
    (repository / "new.txt").write_text("new\n", encoding="utf-8")
    (repository / "app.py").write_text("one = 8\n", encoding="utf-8")

    change = show_changes(home, tree)

    assert found.uncommitted == 2
    assert {file.path for file in change.files} == {"new.txt", "app.py"}
    assert (change.commit, change.merge, change.drop) == ("", "", "")
    assert git(repository, "diff", "--cached", "--name-only") == ""


@pytest.mark.parametrize(
    ("commands", "code"), [([], "not_a_repository"), ([("init", "--quiet")], "no_commits")]
)
def test_what_is_no_repository_with_a_commit_is_refused(
    commands: list[tuple[str, ...]], code: str, tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    for command in commands:
        git(folder, *command)

    with pytest.raises(LegatoError) as caught:
        find_repository(folder)

    assert caught.value.code == code
    assert "--in-place" in caught.value.next


def test_a_commit_needs_no_identity_of_the_user(
    home: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    git(repository, "config", "user.useConfigOnly", "true")
    tree = made(home, repository)
    write(tree, "app.py", "one = 2\n")

    commit_changes(home, tree, "done", TRAILERS)

    assert git(repository, "log", "-1", "--format=%an <%ae>", tree.branch) == (
        "Legato <legato@localhost>"
    )


def test_what_git_says_is_the_cause(home: Path, repository: Path) -> None:
    tree = replace(made(home, repository), base="0" * 40)
    write(tree, "app.py", "one = 2\n")

    with pytest.raises(LegatoError) as caught:
        commit_changes(home, tree, "done", TRAILERS)

    assert caught.value.code == "git_failed"
    assert caught.value.cause
