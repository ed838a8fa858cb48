"""What a build is made from is read from the world as it is."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from activities.sources import Place, read_sources
from domain.runs.budget import Budget
from tests.support.agents import a_registry, a_request, codes, refusals

if TYPE_CHECKING:
    from pathlib import Path

    from domain.agents.request import Sources


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("anthropic:claude-sonnet-4-5", True),
        ("script:play.yaml", True),
        ("ollama:qwen3", False),
        ("http://127.0.0.1:9/v1#mine", False),
        ("openai:no-such-model-anywhere", False),
    ],
)
async def test_a_limit_in_money_needs_a_model_with_a_known_price(
    model: str, *, known: bool
) -> None:
    request = a_request(model=model, budget=Budget(cost="1"))
    sources = await read_sources(Place(a_registry(), lambda _: "", "none"), request)

    assert sources.prices_known is known
    if not known:
        found = refusals(request, prices_known=sources.prices_known)
        assert codes(found) == {"budget_price_unknown"}


async def test_a_model_that_cannot_be_used_is_told_once_and_not_asked_for_its_price() -> None:
    request = a_request(model="nonsense", budget=Budget(cost="1"))
    place = Place(a_registry(), lambda name: f"{name} is none", "none")
    sources = await read_sources(place, request)

    assert (sources.model_problem, sources.prices_known) == ("nonsense is none", True)


async def test_a_saved_step_is_read_whole_and_skills_only_where_it_names_some(
    tmp_path: Path,
) -> None:
    skills = tmp_path / ".legato" / "skills"
    skills.mkdir(parents=True)
    (skills / "style.md").write_text("# House style: how we write\n")
    (skills / "broken.md").write_text("no heading")
    file = tmp_path / "step_config.json"
    file.write_text(
        json.dumps([{"id": "plain"}, {"id": "named", "agent_configs": {"enabled_skills": ["x"]}}])
    )

    async def read(step: str) -> Sources:
        request = a_request("plan-step", workspace=str(tmp_path), step_file=str(file), step=step)
        return await read_sources(Place(a_registry(), lambda _: "", "none"), request)

    plain, named = await read("plain"), await read("named")
    assert plain.steps is not None
    assert plain.steps.names == ("plain", "named")
    assert (plain.skills, plain.skill_problems) == ((), ())
    assert [skill.name for skill in named.skills] == ["house-style"]
    assert named.skill_problems


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("nothing", "FileNotFoundError"),
        ("folder", "is_a_directory"),
        ("link", "path_is_a_link"),
        ("pipe", "not_a_regular_file"),
        ("relative", "its path is not absolute"),
    ],
)
async def test_a_file_of_steps_that_cannot_be_read_is_told(
    tmp_path: Path, made: str, why: str
) -> None:
    place = tmp_path / "steps.json"
    if made == "folder":
        place.mkdir()
    elif made == "link":
        place.symlink_to(tmp_path / "elsewhere.json")
    elif made == "pipe":
        os.mkfifo(place)
    request = a_request("plan-step", step_file="a.json" if made == "relative" else str(place))
    sources = await read_sources(Place(a_registry(), lambda _: "", "none"), request)

    assert sources.steps is None
    assert why in sources.steps_problem
    found = refusals(request, steps_problem=sources.steps_problem)
    assert codes(found) == {"step_file_unreadable"}
