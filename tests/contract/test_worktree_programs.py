"""That our own git runs no program that a repository names, whoever wrote it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from legato.worktrees import (
    commit_changes,
    find_repository,
    make_snapshot,
    make_worktree,
    show_changes,
)
from legato.worktrees.git import git as our_git
from tests.contract.test_worktrees import RUN, TRAILERS, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that leaves a mark, `escaped`, beside it."""
    file = tmp_path / "evil.sh"
    file.write_text('#!/bin/sh\ntouch "$(dirname "$0")/escaped"\ncat\n')
    file.chmod(0o755)
    return file


def _repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "file").write_text("x\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


@pytest.mark.parametrize("key", ["filter.x.clean", "filter.x.process", "lfs.extension.x.clean"])
def test_a_repository_whose_configuration_names_a_program_is_refused(
    tmp_path: Path, program: Path, key: str
) -> None:
    repository = _repository(tmp_path / "project")
    git(repository, "config", key, str(program))
    (repository / ".gitattributes").write_text("* filter=x\n")
    (repository / "file").write_text("y\n")
    with pytest.raises(LegatoError) as caught:
        find_repository(repository)
    assert caught.value.code == "git_config_runs_programs"
    assert caught.value.details["problems"] == [key]
    assert not (tmp_path / "escaped").exists()


def test_a_program_named_by_an_included_file_is_found_before_changes_are_shown(
    tmp_path: Path, program: Path
) -> None:
    repository = _repository(tmp_path / "project")
    home = tmp_path / "home"
    tree = make_snapshot(home, RUN, find_repository(repository), repository)
    git(repository, "config", "include.path", "../more")
    (repository / "more").write_text(f'[filter "x"]\n\tclean = {program}\n')
    (repository / ".gitattributes").write_text("* filter=x\n")
    with pytest.raises(LegatoError) as caught:
        show_changes(home, tree)
    assert caught.value.code == "git_config_runs_programs"
    assert not (tmp_path / "escaped").exists()


def test_git_lfs_is_accepted(tmp_path: Path) -> None:
    repository = _repository(tmp_path / "project")
    git(repository, "config", "filter.lfs.clean", "git-lfs clean -- %f")
    git(repository, "config", "filter.lfs.process", "git-lfs filter-process")
    assert find_repository(repository).head


def test_hooks_and_monitors_and_drivers_of_a_repository_do_not_run(
    tmp_path: Path, program: Path
) -> None:
    repository = _repository(tmp_path / "project")
    for key in ("core.fsmonitor", "diff.external", "diff.x.textconv", "gpg.program"):
        git(repository, "config", key, str(program))
    git(repository, "config", "log.showSignature", "true")
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        (repository / ".git" / "hooks" / hook).write_bytes(program.read_bytes())
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    (repository / ".git" / "info" / "attributes").write_text("* diff=x\n")
    (tmp_path / "project" / ".git" / "escaped").unlink(missing_ok=True)
    (tmp_path / "escaped").unlink(missing_ok=True)
    tree = make_worktree(tmp_path / "home", RUN, find_repository(repository))
    (tmp_path / "home" / "worktrees" / RUN / "project" / "file").write_text("y\n")
    assert commit_changes(tmp_path / "home", tree, "done", TRAILERS).commit
    assert not (tmp_path / "escaped").exists()
    assert not (repository / ".git" / "hooks" / "escaped").exists()


def test_nothing_is_run_that_a_repository_within_the_tree_names(
    tmp_path: Path, program: Path
) -> None:
    repository = _repository(tmp_path / "project")
    tree = make_worktree(tmp_path / "home", RUN, find_repository(repository))
    top = tmp_path / "home" / "worktrees" / RUN / "project"
    nested = _repository(top / "nested")
    git(nested, "config", "filter.x.clean", str(program))
    (nested / ".gitattributes").write_text("* filter=x\n")
    (top / ".gitmodules").write_text(
        '[submodule "s"]\n\tpath = nested\n\turl = x\n\tignore = none\n'
    )
    (top / "file").write_text("y\n")
    git(top, "add", "nested")
    git(top, "commit", "--quiet", "--message", "theirs")
    (nested / "file").write_text("z\n")
    (tmp_path / "escaped").unlink(missing_ok=True)
    change = commit_changes(tmp_path / "home", tree, "done", TRAILERS)
    assert "file" in {file.path for file in change.files}
    assert find_repository(top).head
    assert not (tmp_path / "escaped").exists()


def test_a_git_that_cannot_be_started_is_a_refusal_with_its_cause(tmp_path: Path) -> None:
    with pytest.raises(LegatoError) as caught:
        our_git(tmp_path / "gone", "status")
    assert caught.value.code == "git_failed"
    assert "gone" in caught.value.cause
