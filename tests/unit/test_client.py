"""How this machine's queue is named, and how a run is shown where operators watch Temporal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

from legato.client import host_of
from legato.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_all_who_name_a_home_at_once_agree_and_the_name_stays(tmp_path: Path) -> None:
    settings = load_settings({"LEGATO_HOME": str(tmp_path / "home")})
    gate = Barrier(8)

    def name(_: int) -> str:
        gate.wait()
        return host_of(settings)

    with ThreadPoolExecutor(8) as pool:
        names = set(pool.map(name, range(8)))

    assert names == {host_of(settings)}
    assert [path.name for path in settings.home.iterdir()] == ["host"]


def test_each_home_has_a_name_of_its_own(tmp_path: Path) -> None:
    names = {host_of(load_settings({"LEGATO_HOME": str(tmp_path / n)})) for n in ("a", "b", "c")}

    assert len(names) == 3


def test_the_environment_may_name_the_host(tmp_path: Path) -> None:
    settings = load_settings({"LEGATO_HOME": str(tmp_path / "home"), "LEGATO_HOST": "mine"})

    assert host_of(settings) == "mine"
    assert not settings.home.exists()
