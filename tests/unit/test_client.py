"""How this machine's queue is named, and how a run is shown where operators watch Temporal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from domain.agents.profile import Profile
from legato.client import host_of, shown_of
from legato.settings import load_settings
from tests.support import facts
from tests.support.agents import a_request

if TYPE_CHECKING:
    from pathlib import Path

    from domain.runs.card import Shown


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


def shown(role: str = "generic", **request: object) -> Shown:
    asked = a_request(role, **request)
    return shown_of(facts.accepted("r", agent=asked.role, request=asked))


def test_a_profile_that_was_left_open_is_shown_as_the_roles() -> None:
    roles = ("review-fix", "generic", "specialist-reviewer")

    assert [shown(role=role).profile for role in roles] == ["writer", "writer", "reader"]
    assert shown(profile=Profile.READER).profile == "reader"


@pytest.mark.parametrize(
    ("model", "short"),
    [
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("openai:gpt@https://somewhere.example/v1", "gpt"),
        ("http://10.0.0.1:80/v1#mine", "mine"),
        ("script:/home/ann/play.yaml", "script"),
        ("nonsense", ""),
    ],
)
def test_a_model_is_shown_without_path_and_address(model: str, short: str) -> None:
    assert shown(model=model).model == short
    assert shown(role="check-and-fix", model=model).model == ""
