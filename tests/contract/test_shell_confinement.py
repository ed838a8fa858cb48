"""What a confined command can see and change, at each level that this machine offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from activities.tools import confine
from activities.tools.confine import Level
from tests.support.commands import command_in, folder_in, offered, run_text, without_namespaces
from tests.support.interpreter import PYTHON

_ROOT = Path(__file__).parents[2]
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"))
}
_AS_ORDINARY_USER = """
import subprocess, sys, tempfile
from pathlib import Path
from activities.tools.confine import Level, View, wrap
with tempfile.TemporaryDirectory() as name:
    workspace, scratch, hidden = (Path(name, part) for part in ("workspace", "scratch", "hidden"))
    for folder in (workspace, scratch / "home", hidden):
        folder.mkdir(parents=True)
    (hidden / "store").write_text("secret")
    view = View(str(workspace), str(workspace), str(scratch), True, hidden=(str(hidden),))
    text = f"cat {hidden}/store; touch {hidden}/x; id -u; touch mine && echo wrote"
    argv = wrap(Level(sys.argv[1]), ("/bin/sh", "-c", text), view)
    print(subprocess.run(argv, capture_output=True, text=True).stdout)
    print(sorted(path.name for path in hidden.iterdir()), (workspace / "mine").exists())
"""
_DETECT = """
from activities.tools import confine
found = confine.detect()
print(found.level, found.reason)
"""


@pytest.fixture(params=[Level.BUBBLEWRAP, Level.NAMESPACES])
def level(request: pytest.FixtureRequest) -> Level:
    """Each level that confines and that this machine offers."""
    wanted = Level(request.param)
    if not offered(wanted):
        pytest.skip(f"confinement level {wanted} is not offered here")
    return wanted


def _repository(place: Path) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(
            ["git", *arguments], cwd=place, check=True, env={**os.environ, **_IDENTITY}, timeout=20
        )
    return place


def test_the_home_and_the_stores_can_be_neither_read_nor_written(
    tmp_path: Path, level: Level
) -> None:
    store = tmp_path / "home" / "stores" / "workflow.db"
    command = command_in(
        tmp_path,
        f"cat '{store}'; echo spoilt > '{store}'; echo spoilt > '{tmp_path}/home/new'; "
        f"umount '{tmp_path}/home'; rm -rf '{tmp_path}/home'; "
        f"unshare -Urm sh -c \"umount '{tmp_path}/home'; cat '{store}'\"; "
        f"cat '/proc/1/root{store}'; cat '/proc/self/root{store}'; ls -A '{tmp_path}/home'",
        level=level,
    )
    store.write_text("a secret of the store")
    _, output = run_text(command, folder_in(tmp_path))
    assert "a secret" not in output
    assert output.count("\n") >= 7  # each attempt had its refusal
    assert store.read_text() == "a secret of the store"
    assert {entry.name for entry in (tmp_path / "home").iterdir()} == {"stores", "calls"}


def test_a_protected_file_in_the_workspace_is_hidden(tmp_path: Path, level: Level) -> None:
    command = command_in(
        tmp_path, "cat plan.json; echo spoilt > plan.json; mv plan.json x", level=level
    )
    plan = tmp_path / "workspace" / "plan.json"
    plan.write_text("the plan")
    end, output = run_text(replace(command, protected=(str(plan),)), folder_in(tmp_path))
    assert end.exit_code != 0
    assert "the plan" not in output
    assert plan.read_text() == "the plan"


def test_a_workspace_inside_the_home_is_open_and_the_rest_is_not(
    tmp_path: Path, level: Level
) -> None:
    text = "echo x > file; ls -d ../run-*; ls ../../stores ../../calls/*"
    command = command_in(tmp_path, text, level=level)
    (tmp_path / "home" / "stores" / "workflow.db").touch()
    worktree = tmp_path / "home" / "worktrees" / "run-1"
    worktree.mkdir(parents=True)
    worktree.with_name("run-2").mkdir()
    inside = replace(command, cwd=str(worktree), workspace=str(worktree))
    _, output = run_text(inside, folder_in(tmp_path))
    assert output.startswith("../run-1\nls: ")
    assert "workflow.db" not in output
    assert "spec.json" not in output
    assert (worktree / "file").read_text() == "x\n"


def test_a_writer_changes_the_workspace_and_nothing_beside_it(tmp_path: Path, level: Level) -> None:
    with tempfile.TemporaryDirectory(dir=Path.home()) as name:
        beside = Path(name, "known")
        beside.write_text("known")
        attempts = (
            f"touch '{name}/new'",
            f"rm '{beside}'",
            f"chmod 777 '{name}'",
            f"touch '{tmp_path}/../new'",
            "touch /etc/legato-test",
            "echo core > /proc/sys/kernel/core_pattern",
        )
        text = "; ".join(("echo x > inside", *(f"{one} && echo done" for one in attempts)))
        _, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
        assert beside.read_text() == "known"
        assert [entry.name for entry in Path(name).iterdir()] == ["known"]
    assert output.count("done\n") == 1, output  # the private /tmp may be changed, and is gone
    assert not (tmp_path.parent / "new").exists()
    assert (tmp_path / "workspace" / "inside").read_text() == "x\n"


def test_a_reader_sees_the_workspace_and_cannot_change_it(tmp_path: Path, level: Level) -> None:
    text = "cat known; echo spoilt > known; touch new; rm known; touch /tmp/own && echo private"
    command = command_in(tmp_path, text, level=level, writable=False)
    known = tmp_path / "workspace" / "known"
    known.write_text("known\n")
    _, output = run_text(command, folder_in(tmp_path))
    assert output.startswith("known\n")
    assert output.endswith("private\n")
    assert known.read_text() == "known\n"
    assert [entry.name for entry in known.parent.iterdir()] == ["known"]


def test_home_and_tmp_are_private_and_empty(tmp_path: Path, level: Level) -> None:
    outside = Path("/tmp") / f"legato-test-{os.getpid()}"  # noqa: S108 - the shared one is the subject
    outside.write_text("of another")
    try:
        text = f"echo $HOME; ls -A $HOME; cat {outside}; echo x > $HOME/mine; echo x > $TMPDIR/mine"
        _, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
    finally:
        outside.unlink()
    assert output.startswith(f"{confine.HOME}\ncat: ")
    assert "of another" not in output
    assert not Path("/tmp/mine").exists()  # noqa: S108 - the shared one is the subject


def test_the_worker_can_be_neither_seen_nor_signalled(tmp_path: Path, level: Level) -> None:
    text = f"kill -0 {os.getpid()} || echo unseen; ls -d /proc/[0-9]* | wc -l; kill -TERM -1"
    _, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
    assert "unseen" in output
    assert int(output.split("unseen\n")[1].split()[0]) < 8


def test_a_command_has_no_capability_that_could_undo_its_view(tmp_path: Path, level: Level) -> None:
    command = command_in(tmp_path, "grep CapEff /proc/self/status", level=level)
    _, output = run_text(command, folder_in(tmp_path))
    overriding_permissions = 0b10
    assert int(output.split()[1], 16) & ~overriding_permissions == 0


def test_without_network_only_the_loopback_is_there(tmp_path: Path, level: Level) -> None:
    connect = (
        'import socket; s = socket.create_server(("127.0.0.1", 0)); '
        'socket.create_connection(s.getsockname()); print("reached")'
    )
    text = f"tail -n +3 /proc/net/dev | cut -d: -f1; '{PYTHON}' -c '{connect}'"
    command = command_in(tmp_path, text, level=level)
    _, output = run_text(command, folder_in(tmp_path))
    assert output.split() == ["lo", "reached"]


def test_a_writer_commits_with_git(tmp_path: Path, level: Level) -> None:
    _repository(tmp_path / "workspace")
    text = "echo x > file && git add file && git commit -q -m second && git log --oneline | wc -l"
    command = command_in(tmp_path, text, level=level, environment=_IDENTITY)
    end, output = run_text(command, folder_in(tmp_path))
    assert (end.exit_code, output.strip()) == (0, "2")


def test_a_writer_commits_in_a_linked_worktree(tmp_path: Path, level: Level) -> None:
    repository = _repository(tmp_path / "a repository")
    worktree = ["git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "workspace")]
    subprocess.run(worktree, cwd=repository, check=True, timeout=20)
    text = f"echo x > file && git add file && git commit -q -m second; touch '{repository}/new'"
    command = command_in(tmp_path, text, level=level, environment=_IDENTITY)
    run_text(command, folder_in(tmp_path))
    log = subprocess.run(
        ["git", "log", "--oneline", "side"],
        cwd=repository,
        check=True,
        capture_output=True,
        timeout=20,
    )
    assert log.stdout.count(b"\n") == 2
    assert not (repository / "new").exists()


def test_a_forged_git_file_opens_nothing(tmp_path: Path, level: Level) -> None:
    victim = tmp_path / "victim"
    (victim / "worktrees" / "x").mkdir(parents=True)
    command = command_in(tmp_path, f"touch '{victim}/spoilt' '{victim}/worktrees/x/y'", level=level)
    (tmp_path / "workspace" / ".git").write_text(f"gitdir: {victim}/worktrees/x\n")
    end, _ = run_text(command, folder_in(tmp_path))
    assert end.exit_code != 0
    assert [entry.name for entry in victim.iterdir()] == ["worktrees"]


def test_programs_that_path_names_under_tmp_stay_visible(tmp_path: Path, level: Level) -> None:
    program = tmp_path / "kit" / "bin" / "greet"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\ncat "$(dirname "$0")/../share"\n')
    program.chmod(0o755)
    (tmp_path / "kit" / "share").write_text("hello\n")
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = command_in(tmp_path, "greet", level=level, environment=environment)
    assert run_text(command, folder_in(tmp_path))[1] == "hello\n"


def test_an_ordinary_user_is_confined_too(tmp_path: Path, level: Level) -> None:
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if os.getuid() != 0 or python is None:
        pytest.skip("needs root to become an ordinary user, and a Python that all may run")
    package = tmp_path / "package"
    shutil.copytree(_ROOT / "activities" / "tools", package / "activities" / "tools")
    (package / "activities" / "__init__.py").touch()
    for folder in (*tmp_path.parents, tmp_path, package):
        if folder.is_relative_to("/tmp/") and folder != Path("/tmp"):  # noqa: S108 - pytest's own
            folder.chmod(folder.stat().st_mode | 0o055)
    done = subprocess.run(
        [python, "-c", _AS_ORDINARY_USER, level],
        cwd=package,
        user=65534,
        group=65534,
        extra_groups=[],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.stdout.split() == ["65534", "wrote", "['store']", "True"], done.stderr


def test_detection_names_the_level_and_says_why_not_a_better_one() -> None:
    found = confine.detect()
    assert found.reason
    assert offered(found.level)


def test_without_namespaces_and_bubblewrap_the_level_is_none(tmp_path: Path) -> None:
    if not offered(Level.NAMESPACES):
        pytest.skip("needs a user namespace to take namespaces away in")
    done = without_namespaces(tmp_path, _DETECT)
    assert done.stdout.startswith("none "), done.stderr
    assert "install the package bubblewrap" in done.stdout
    assert "new namespaces" in done.stdout
