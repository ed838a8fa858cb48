"""The page about models says what the code does."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml

from activities.models.failures import TABLE
from activities.tools.files import FILE_TOOLS
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
    play,
)
from tests.support.model_requests import HELLO, request_of, result_of, said

if TYPE_CHECKING:
    from domain.runs.conversation import Frozen, Message

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
SCRIPTS = (Script, ScriptStep, ScriptCall, Expect, LastTool, ScriptUsage, ScriptFailure)


def fenced(language: str) -> list[str]:
    """The page's blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_tables_of_failures_are_the_code_s() -> None:
    spec = importlib.util.spec_from_file_location("make_models", ROOT / "docs/make_models.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)

    assert maker.tables() in PAGE, "run `make docs`"
    assert all(row.code and row.next for row in TABLE)


@pytest.mark.parametrize("model", [*SCRIPTS, PipelineStep], ids=lambda model: model.__name__)
def test_every_field_is_described(model: type[Frozen]) -> None:
    assert [name for name in model.model_fields if f"`{name}" not in PAGE] == []


def test_every_form_and_key_is_named() -> None:
    named = [form.split(" or ")[0] for form in FORMS if not form.startswith("http")]

    assert [form for form in named if f"`{form}`" not in PAGE] == []
    assert [key for keys in KEYS.values() for key in keys if f"`{key}`" not in PAGE] == []


def test_the_example_script_plays_to_its_end_with_the_real_tools() -> None:
    (text,) = fenced("yaml")
    script = parse_script(yaml.safe_load(text), "the page")
    schemas = {tool.spec.name: tool.spec.input_schema for tool in FILE_TOOLS}
    messages: list[Message] = [HELLO]
    answer = None
    for ordinal in range(len(script.steps)):
        answer = play(script, request_of(*messages, ordinal=ordinal, tools=tuple(schemas)))
        messages.append(said(answer))
        for call in answer.calls:
            jsonschema.validate(json.loads(call.arguments), schemas[call.name])
            shown = "revision: 0123456789abcdef\nretries = 3"
            messages.append(result_of(answer, call.position, shown))

    assert answer is not None
    assert answer.text == "Done, the file is changed."


def test_the_example_pipeline_is_one() -> None:
    (text,) = fenced("json")

    assert [step.after_failure for step in parse_pipeline(text)] == [False, True, False]
