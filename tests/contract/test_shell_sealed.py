"""That no confined command has a program run later, by git, outside its confinement."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from activities.tools.confine import Level
from tests.support.commands import command_in, folder_in, offered, run_text

if TYPE_CHECKING:
    from pathlib import Path

_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"))
}
_ATTACK = r"""
cat > evil.sh <<'END'
#!/bin/sh
touch "$(dirname "$0")/../escaped"
END
chmod +x evil.sh
evil="$PWD/evil.sh"
cp -r "$GIT" forged
git config -f forged/config core.fsmonitor "$evil"
git config -f forged/config core.worktree "$PWD"
git config core.fsmonitor "$evil"
git config --worktree core.fsmonitor "$evil"
printf '[core]\n\tfsmonitor = %s\n' "$evil" >> "$GIT/config"
printf '[core]\n\tfsmonitor = %s\n' "$evil" >> "$OWN/config.worktree"
cp forged/config new; mv -f new "$GIT/config"
rm -f "$GIT/config"; cp forged/config "$GIT/config"
mv "$GIT/hooks" "$GIT/hooks.old"; mkdir -p "$GIT/hooks"
cp evil.sh "$GIT/hooks/post-checkout"; cp evil.sh "$GIT/hooks/post-index-change"
cp evil.sh "$GIT/hooks/pre-commit"
echo '* filter=evil' >> "$GIT/info/attributes"
for folder in "$GIT" "$OWN"; do
    rm -f "$folder/commondir"; echo "$PWD/forged" > "$folder/commondir"
done
mv .git .git.old; cp -r forged .git
rm -f .git; echo "gitdir: $PWD/forged" > .git
mkdir -p .legato/agents; echo x > .legato/agents/evil.yaml; mv .legato .legato.old
true
"""


@pytest.fixture(params=[Level.BUBBLEWRAP, Level.NAMESPACES])
def level(request: pytest.FixtureRequest) -> Level:
    """Each level that confines and that this machine offers."""
    wanted = Level(request.param)
    if not offered(wanted):
        pytest.skip(f"confinement level {wanted} is not offered here")
    return wanted


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ("git", *arguments),
        cwd=folder,
        check=True,
        env={**os.environ, **_IDENTITY},
        timeout=20,
        capture_output=True,
        text=True,
    )
    return done.stdout


def _repository(place: Path) -> Path:
    place.mkdir(parents=True)
    _git(place, "init", "-q")
    _git(place, "commit", "-q", "--allow-empty", "-m", "first")
    return place


def _attack(place: Path, level: Level, git: Path, own: Path) -> None:
    text = f"GIT='{git}' OWN='{own}'\n{_ATTACK}"
    command = command_in(place, text, level=level, environment=_IDENTITY)
    end, output = run_text(command, folder_in(place))
    assert end.exit_code == 0, output
    assert (place / "workspace" / "evil.sh").exists()


def _use(folder: Path) -> None:
    """Do what people do after a run."""
    (folder / "theirs").write_text("x")
    _git(folder, "status")
    _git(folder, "add", "theirs")
    _git(folder, "commit", "-q", "-m", "theirs")
    _git(folder, "checkout", "-q", "-b", "another")


def _content(folder: Path, without: tuple[str, ...] = ()) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes() if file.is_file() else b""
        for file in folder.rglob("*")
        if file.relative_to(folder).parts[0] not in without
    }


def test_what_a_command_leaves_in_a_repository_runs_nothing_for_its_user(
    tmp_path: Path, level: Level
) -> None:
    repository = _repository(tmp_path / "workspace")
    before = _content(repository / ".git", ("forged",))
    _attack(tmp_path, level, repository / ".git", repository / ".git")
    assert _content(repository / ".git", ("forged",)) == before
    assert not (repository / ".legato").exists()
    _use(repository)
    assert not (tmp_path / "escaped").exists()


def test_what_a_command_leaves_in_a_linked_worktree_runs_nothing_for_its_user(
    tmp_path: Path, level: Level
) -> None:
    repository, workspace = _repository(tmp_path / "repository"), tmp_path / "workspace"
    _git(repository, "worktree", "add", "-q", "-b", "side", str(workspace))
    _git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    own = repository / ".git" / "worktrees" / "workspace"
    other = repository / ".git" / "worktrees" / "other" / "commondir"
    before = _content(repository / ".git")
    _attack(tmp_path, level, repository / ".git", own)
    assert _content(repository / ".git") == before
    text = f"echo '{workspace}/forged' > '{other}'; test -w '{own}/HEAD' && echo its own"
    command = command_in(tmp_path, text, level=level)
    assert run_text(command, folder_in(tmp_path, "call-2"))[1].endswith("its own\n")
    _use(workspace)
    assert _git(repository, "status")
    assert _git(tmp_path / "other", "status")
    assert not (tmp_path / "escaped").exists()


def test_the_dot_legato_folder_of_a_workspace_is_read_only(tmp_path: Path, level: Level) -> None:
    folder = tmp_path / "workspace" / ".legato"
    folder.mkdir(parents=True)
    (folder / "agent.yaml").write_text("known\n")
    text = "cat .legato/agent.yaml; echo x > .legato/agent.yaml; mv .legato gone; rm -r .legato"
    _, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
    assert output.startswith("known\n")
    assert (folder / "agent.yaml").read_text() == "known\n"


def test_git_works_inside_but_for_its_configuration(tmp_path: Path, level: Level) -> None:
    repository = _repository(tmp_path / "workspace")
    text = (
        "set -e; echo x > file; git add file; git commit -q -m second; git checkout -q -b side; "
        "echo y > file; git stash -q; git stash pop -q; git commit -q -a -m third; "
        "git checkout -q -; git merge -q side; git tag one; git branch -d side; git status --short"
    )
    command = command_in(tmp_path, text, level=level, environment=_IDENTITY)
    end, output = run_text(command, folder_in(tmp_path))
    assert end.exit_code == 0, output
    assert _git(repository, "log", "--format=%s").split() == ["third", "second", "first"]
