"""What no worker could build is refused where the run is asked for, with all problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from domain.runs.budget import Budget
from legato.door import check_request
from legato.settings import load_settings
from legato.workspaces import placed
from tests.support.agents import a_request

if TYPE_CHECKING:
    from pathlib import Path


def test_a_workspace_that_asks_for_legatos_own_variables_is_refused_at_launch(
    tmp_path: Path,
) -> None:
    declared = tmp_path / "workspace" / ".legato" / "workspace.toml"
    declared.parent.mkdir(parents=True)
    declared.write_text('[environment]\nnames = ["CI", "DATABASE_URL", "OPENAI_API_KEY"]\n')
    settings = load_settings({"LEGATO_HOME": str(tmp_path / "home")})
    asked = a_request(workspace=str(tmp_path / "workspace"), budget=Budget(tokens=-1))

    with pytest.raises(LegatoError) as caught:
        check_request(placed(settings, asked)[0])

    assert caught.value.code == "definition_refused"
    assert "budget_invalid" in caught.value.message
    for name in ("DATABASE_URL", "OPENAI_API_KEY"):
        assert f"environment_forbidden: {name} " in caught.value.message
