"""What a model's name means, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from activities.models.prices import reserve
from activities.models.select import model_for, model_problem, models
from domain.errors import LegatoError
from domain.runs.model_name import ModelName, Provider, model_key, parse_model

ROOT = Path(__file__).parents[2]


def nothing(_: str) -> None:
    """An environment without keys."""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("anthropic:claude-x", ModelName(Provider.ANTHROPIC, "claude-x")),
        ("openai:ft:gpt-4o@1", ModelName(Provider.OPENAI, "ft:gpt-4o@1")),
        ("openai:m@https://h/v1/", ModelName(Provider.OPENAI, "m", "https://h/v1")),
        ("openrouter:a/b", ModelName(Provider.OPENROUTER, "a/b")),
        ("google:gemini-x", ModelName(Provider.GOOGLE, "gemini-x")),
        ("ollama:qwen3:8b", ModelName(Provider.OLLAMA, "qwen3:8b", "http://localhost:11434/v1")),
        ("ollama:q@http://h:1", ModelName(Provider.OLLAMA, "q", "http://h:1/v1")),
        ("ollama:q@http://h:1/x", ModelName(Provider.OLLAMA, "q", "http://h:1/x")),
        ("http://h:1/v1#m/n", ModelName(Provider.COMPATIBLE, "m/n", "http://h:1/v1")),
        ("script:a b.yaml", ModelName(Provider.SCRIPT, "a b.yaml")),
        ("pipeline:", ModelName(Provider.PIPELINE, "")),
    ],
)
def test_a_name_is_read(text: str, name: ModelName) -> None:
    assert parse_model(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt-4o",
        "nobody:gpt",
        "compatible:x",
        "openai:",
        "openai:two words",
        "openai:m@http://",
        "openai:m@http://h:port",
        "openrouter:gpt-4o",
        "openrouter:a/b@https://h",
        "http://h:1/v1",
        "https://#m",
        "script:",
        "pipeline:x",
    ],
)
def test_what_is_no_name_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(LegatoError) as caught:
        parse_model(text)

    assert caught.value.code == "model_unknown"
    assert "anthropic:MODEL" in caught.value.next


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(LegatoError) as caught:
        parse_model("openai:m@https://me:canary@h/v1")

    assert caught.value.code == "model_unknown"
    assert "canary" not in f"{caught.value}{caught.value.cause}{caught.value.details}"


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("anthropic:x", "ANTHROPIC_API_KEY"),
        ("openai:x", "OPENAI_API_KEY"),
        ("openrouter:a/x", "OPENROUTER_API_KEY"),
        ("google:x", "GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_names_the_variable_to_set(text: str, variable: str) -> None:
    problem = model_problem(text, nothing)

    assert problem is not None
    assert problem.code == "model_key_missing"
    assert variable in problem.next
    assert model_problem(text, {variable: "k"}.get) is None


def test_googles_older_variable_is_looked_at_too() -> None:
    assert model_key(parse_model("google:x"), {"GEMINI_API_KEY": "k"}.get) == "k"


@pytest.mark.parametrize("text", ["ollama:x", "http://far:1/v1#m", "pipeline:"])
def test_some_models_need_no_key(text: str) -> None:
    assert model_problem(text, nothing) is None


def test_a_key_goes_in_clear_text_to_this_machine_only() -> None:
    def secret(_: str) -> str:
        return "canary"

    problem = model_problem("openai:m@http://far/v1", secret)

    assert problem is not None
    assert problem.code == "model_key_exposed"
    assert "canary" not in str(problem)
    assert model_problem("openai:m@http://127.0.0.1:9/v1", secret) is None
    assert model_problem("openai:m@https://far/v1", secret) is None


def test_native_bytes_belong_to_provider_model_and_address() -> None:
    keys = [
        parse_model(name).key
        for name in ("openai:m", "openai:n", "anthropic:m", "openai:m@https://h", "https://h#m")
    ]

    assert keys[0] == "openai:m"
    assert len(set(keys)) == len(keys)


def test_a_model_is_opened_once_and_a_script_is_read_anew(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("steps: [{text: a}]", encoding="utf-8")
    lookup = models({"OPENAI_API_KEY": "k"}.get)

    assert lookup("openai:m") is lookup("openai:m")
    assert lookup(f"script:{script}") is not lookup(f"script:{script}")
    script.unlink()
    with pytest.raises(LegatoError, match="script_unreadable"):
        lookup(f"script:{script}")


def test_choosing_a_model_loads_no_sdk() -> None:
    modules = ", ".join(f"activities.models.{name}" for name in ("select", "prices", "pipeline"))
    sdks = "{'pydantic_ai', 'openai', 'anthropic', 'genai_prices'}"
    program = f"import sys, {modules}; print(sorted({sdks} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == "[]"


def test_a_pipeline_has_no_model_behind_its_name() -> None:
    with pytest.raises(LegatoError, match="model_unknown"):
        model_for("pipeline:", nothing)


@pytest.mark.parametrize(
    ("name", "tokens", "cost", "prices"),
    [
        ("script:any.yaml", 1001, "0", "script"),
        ("pipeline:", 0, "0", "pipeline"),
        ("", 0, "0", "pipeline"),
        ("ollama:qwen3", 1001, None, ""),
        ("openai:no-such-model-anywhere", 1001, None, ""),
    ],
)
def test_a_reservation_knows_what_is_unknown(
    name: str, tokens: int, cost: str | None, prices: str
) -> None:
    reserved = reserve(name, 3501, 50)

    assert reserved.input_tokens == tokens
    assert reserved.output_tokens == (50 if tokens else 0)
    assert (reserved.cost, reserved.prices) == (cost, prices)


def test_a_reservation_is_priced_where_the_price_is_known() -> None:
    small, large = reserve("openai:gpt-4o", 3500, 100), reserve("openai:gpt-4o", 350_000, 100)

    assert small.cost is not None
    assert large.cost is not None
    assert 0 < float(small.cost) < float(large.cost)
    assert small.prices.startswith("genai-prices ")
