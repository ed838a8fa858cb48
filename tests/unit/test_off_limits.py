"""Folders that no agent may work in are refused when a run is launched, saying why."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.errors import LegatoError
from legato.workspaces import find_folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """LEGATO_HOME with what stands in one that is used."""
    home = tmp_path / "home"
    for inner in ("stores/one", "worktrees/run/tree/src", "demo/run/till", "postgres"):
        (home / inner).mkdir(parents=True)
    return home


def refusal(path: Path, home: Path) -> LegatoError:
    """Ask for a folder that is not given."""
    with pytest.raises(LegatoError) as caught:
        find_folder(path, home)
    return caught.value


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "root"),
        ("/proc", "/proc"),
        ("/proc/self", "/proc"),
        ("/sys", "/sys"),
        ("/dev", "/dev"),
    ],
)
def test_the_system_is_no_workspace(home: Path, path: str, why: str) -> None:
    error = refusal(Path(path), home)

    assert error.code == "workspace_refused"
    assert why in error.cause
    assert error.next


@pytest.mark.parametrize(
    "inner",
    ["", "stores", "stores/one", "postgres", "worktrees", "worktrees/run", "demo", "demo/run"],
)
def test_what_legato_keeps_is_no_workspace(home: Path, inner: str) -> None:
    error = refusal(home / inner, home)

    assert (error.code, str(home) in error.cause) == ("workspace_refused", True)


def test_a_link_to_a_refused_folder_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home / "stores")

    assert refusal(tmp_path / "link", home).code == "workspace_refused"


@pytest.mark.parametrize("inner", ["worktrees/run/tree", "worktrees/run/tree/src", "demo/run/till"])
def test_what_legato_lends_a_run_is_a_workspace(home: Path, inner: str) -> None:
    assert find_folder(home / inner, home) == home / inner


def test_a_folder_around_the_home_or_beside_it_is_a_workspace(home: Path) -> None:
    beside = home.with_name("home2")
    beside.mkdir()

    assert find_folder(home.parent, home) == home.parent
    assert find_folder(beside, home) == beside


@pytest.mark.parametrize("path", ["/" + "n" * 300, "/" + "n/" * 5000, "/a\0", "~nobody-at-all"])
def test_a_path_that_cannot_be_looked_up_is_no_folder(home: Path, path: str) -> None:
    error = refusal(Path(path), home)

    assert error.code == "workspace_not_found"
    assert error.cause
    assert len(error.message) < 300
