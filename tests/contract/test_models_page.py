"""The page about models says what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml

from activities.models.failures import HALF_STREAM, TABLE
from activities.tools.files import FILE_TOOLS
from domain.ports import Disposition
from domain.runs.model_name import FORMS, KEYS
from domain.runs.pipeline import PipelineStep, parse_pipeline
from domain.runs.script import (
    Expect,
    LastTool,
    Script,
    ScriptCall,
    ScriptFailure,
    ScriptStep,
    ScriptUsage,
    parse_script,
)

if TYPE_CHECKING:
    from domain.runs.conversation import Frozen

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
SCRIPTS = (Script, ScriptStep, ScriptCall, Expect, LastTool, ScriptUsage, ScriptFailure)


def fenced(language: str) -> list[str]:
    """The page's blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_table_of_failures_is_the_code_s() -> None:
    rows = {f"| `{r.code}` | {r.disposition} | {r.says} |" for r in (*TABLE, HALF_STREAM)}
    written = {line for line in PAGE.splitlines() if re.match(r"\| `\w+` \| \w+ \| ", line)}

    assert {line for line in written if line.split("|")[2].strip() in set(Disposition)} == rows


@pytest.mark.parametrize("model", [*SCRIPTS, PipelineStep], ids=lambda model: model.__name__)
def test_every_field_is_described(model: type[Frozen]) -> None:
    assert [name for name in model.model_fields if f"`{name}" not in PAGE] == []


def test_every_form_and_key_is_named() -> None:
    named = [form.split(" or ")[0] for form in FORMS if not form.startswith("http")]

    assert [form for form in named if f"`{form}`" not in PAGE] == []
    assert [key for keys in KEYS.values() for key in keys if f"`{key}`" not in PAGE] == []


def test_the_examples_can_be_played() -> None:
    scripts = [parse_script(yaml.safe_load(text), "the page") for text in fenced("yaml")]
    pipelines = [parse_pipeline(text) for text in fenced("json")]

    calls = [call for script in scripts for step in script.steps for call in step.calls]
    schemas = {tool.spec.name: tool.spec.input_schema for tool in FILE_TOOLS}

    for call in calls:
        jsonschema.validate(call.arguments, schemas[call.tool])
    assert [len(script.steps) for script in scripts] == [3]
    assert [len(steps) for steps in pipelines] == [3]
