"""Opening beneath a root holds against every path and every race, with openat2 and without."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.tools.beneath import (
    FOLDER,
    make_folder,
    open_by_kernel,
    open_by_walk,
    open_folder,
    openat2_works,
    resolve,
)
from activities.tools.paths import split_path
from domain.errors import LegatoError
from tests.support.swap import swapping

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    Open = Callable[[int, Sequence[str]], int]

needs_openat2 = pytest.mark.skipif(not openat2_works(), reason="this kernel has no openat2")
WAYS = [pytest.param(open_by_kernel, marks=needs_openat2), open_by_walk]


@contextmanager
def opened(path: Path) -> Generator[int]:
    descriptor = os.open(path, FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def failure(way: Open, root: int, *parts: str) -> int | None:
    try:
        os.close(way(root, parts))
    except OSError as exc:
        return exc.errno
    return None


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "file").write_text("x")
    (tmp_path / "outside" / "secret").mkdir(parents=True)
    (root / "inner").symlink_to("a/b")
    (root / "back").symlink_to("a/../a/b")
    (root / "out").symlink_to("../outside")
    (root / "absolute").symlink_to(root / "a")
    (root / "loop").symlink_to("loop")
    return root


@pytest.mark.skipif(sys.platform != "linux", reason="openat2 is Linux's")
def test_a_linux_kernel_that_runs_these_tests_has_openat2() -> None:
    assert openat2_works()


@pytest.mark.parametrize("way", WAYS)
def test_a_real_folder_is_opened_and_the_root_by_no_parts(way: Open, tree: Path) -> None:
    with opened(tree) as root:
        below = way(root, ("a", "b"))
        again = way(root, ())
        same = os.fstat(below).st_ino == (tree / "a" / "b").stat().st_ino
        assert (same, os.fstat(again).st_ino) == (True, tree.stat().st_ino)
        os.close(below)
        os.close(again)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("..",), errno.EXDEV),
        (("a", "..", "..", "outside"), errno.EXDEV),
        (("a/../..",), errno.EXDEV),
        (("/etc",), errno.EXDEV),
        (("",), errno.EXDEV),
        (("a\0b",), errno.EXDEV),
        (("out",), errno.ELOOP),
        (("out", "secret"), errno.ELOOP),
        (("absolute",), errno.ELOOP),
        (("inner",), errno.ELOOP),
        (("loop",), errno.ELOOP),
        (("file",), errno.ENOTDIR),
        (("file", "x"), errno.ENOTDIR),
        (("missing",), errno.ENOENT),
        (("x" * 300,), errno.ENAMETOOLONG),
    ],
)
def test_both_ways_refuse_the_same_paths_with_the_same_codes(
    way: Open, tree: Path, parts: tuple[str, ...], expected: int
) -> None:
    with opened(tree) as root:
        assert failure(way, root, *parts) == expected


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc here")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["root", "cwd"])
def test_magic_links_are_links_that_lead_nowhere(way: Open, name: str) -> None:
    with opened(Path("/proc/self")) as root:
        assert failure(way, root, name) == errno.ELOOP
        with pytest.raises(OSError, match="cross-device"):
            resolve(root, (name, "etc"))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("inner", "c"), ("a", "b", "c")),
        (("back",), ("a", "b")),
        (("a", "b", "not", "there"), ("a", "b", "not", "there")),
        (("file",), ("file",)),
        ((), ()),
    ],
)
def test_links_that_stay_inside_resolve_to_real_names(
    tree: Path, parts: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    with opened(tree) as root:
        assert resolve(root, parts) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("out", errno.EXDEV), ("absolute", errno.EXDEV), ("loop", errno.ELOOP)],
)
def test_links_that_leave_or_turn_in_circles_do_not_resolve(
    tree: Path, name: str, expected: int
) -> None:
    with opened(tree) as root, pytest.raises(OSError) as caught:  # noqa: PT011 - its errno is looked at
        resolve(root, (name, "secret"))
    assert caught.value.errno == expected


def test_making_a_folder_follows_no_link(tree: Path, tmp_path: Path) -> None:
    with opened(tree) as root:
        os.close(make_folder(root, "new"))
        os.close(make_folder(root, "new"))
        with pytest.raises(OSError) as caught:  # noqa: PT011 - its errno is looked at
            make_folder(root, "out")
    assert caught.value.errno == errno.ELOOP
    assert (tree / "new").is_dir()
    assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == ["secret"]


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_swapped_for_a_link_never_opens_what_the_link_points_to(
    way: Open, tree: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "b").mkdir()
    wrong, right = (outside / "b").stat().st_ino, (tree / "a" / "b").stat().st_ino
    met: Counter[int | None] = Counter()
    with opened(tree) as root, swapping(tree / "a", outside):
        deadline = time.monotonic() + 20
        while met.total() < 20_000 or not met[-errno.ELOOP]:
            assert time.monotonic() < deadline, f"the race never met the link: {met}"
            try:
                below = way(root, ("a", "b"))
            except OSError as exc:
                met[-(exc.errno or 0)] += 1
                continue
            met[os.fstat(below).st_ino] += 1
            os.close(below)
    assert met[wrong] == 0
    assert met[right] > 0


NAMES = st.sampled_from(["a", "b", "..", ".", "", "inner", "out", "absolute", "back", "file", "…"])


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=st.lists(NAMES, max_size=8), lead=st.sampled_from(["", "/", "./", "../"]))
def test_whatever_path_is_asked_for_only_folders_of_the_root_are_opened(
    tree: Path, names: list[str], lead: str
) -> None:
    inside = {tree.stat().st_ino} | {p.stat().st_ino for p in (tree / "a", tree / "a" / "b")}
    with opened(tree) as root:
        try:
            parts = resolve(root, split_path(lead + "/".join(names), str(tree)))
            below = open_folder(root, parts)
        except (OSError, LegatoError):
            return
        try:
            assert os.fstat(below).st_ino in inside
        finally:
            os.close(below)


LETTERS = st.text(alphabet="ab./\\~%2e\0\ud800\u0301é \n", max_size=40)


@settings(max_examples=300, deadline=None)
@given(text=LETTERS | st.lists(NAMES, max_size=12).map("/".join))
def test_a_split_path_has_no_name_that_could_climb(text: str) -> None:
    parts: tuple[str, ...] = ()
    refusal: LegatoError | None = None
    try:
        parts = split_path(text, "/some/workspace")
    except LegatoError as exc:
        refusal = exc
    if refusal is not None:
        assert refusal.code in {"invalid_path", "path_outside_workspace", "name_too_long"}
        assert refusal.next
    else:
        assert not {"", ".", ".."} & set(parts)
        assert not any("/" in part or "\0" in part for part in parts)


def test_both_ways_agree_on_every_path_of_the_tree(tree: Path) -> None:
    if not openat2_works():
        pytest.skip("this kernel has no openat2")
    names = ["a", "b", "inner", "out", "absolute", "loop", "file", "missing"]
    with opened(tree) as root:
        pairs = [(one, two) for one in names for two in names]
        kernel = [failure(open_by_kernel, root, *pair) for pair in pairs]
        walk = [failure(open_by_walk, root, *pair) for pair in pairs]
    assert kernel == walk
    assert None in kernel
