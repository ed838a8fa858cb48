"""From a model's name to the model: the one place where a name is turned into what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from activities.models.load import provider_model
from activities.models.script import read_script, scripted_model
from domain.errors import LegatoError, refused
from domain.runs.model_name import Provider, model_key, parse_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.ports import Model
    from domain.runs.model_name import ModelName, Secret

IDLE = 60.0
"""Seconds a provider may be silent before a request is given up."""


def model_for(name: str, secret: Secret, *, idle: float = IDLE) -> Model:
    """Give the model of a name; keep it, as it holds the provider's connections.

    `secret` looks up an environment variable. Reads a script's file, and nothing else.
    Raises `model_unknown`, `model_key_missing`, `model_key_exposed`, `script_unreadable`
    and `script_invalid`.
    """
    parsed = parse_model(name)
    match parsed.provider:
        case Provider.SCRIPT:
            return scripted_model(read_script(parsed.model), parsed.model)
        case Provider.PIPELINE:
            raise _without_spec()
        case (
            Provider.ANTHROPIC
            | Provider.OPENAI
            | Provider.OPENROUTER
            | Provider.GOOGLE
            | Provider.OLLAMA
            | Provider.COMPATIBLE
        ):
            return provider_model(parsed, model_key(parsed, secret), idle)
    assert_never(parsed.provider)


def models(secret: Secret, *, idle: float = IDLE) -> Callable[[str], Model]:
    """Give a lookup that opens each model once; scripts are read anew each time."""
    opened: dict[ModelName, Model] = {}

    def lookup(name: str) -> Model:
        parsed = parse_model(name)
        if parsed.provider is Provider.SCRIPT:
            return model_for(name, secret)
        if parsed not in opened:
            opened[parsed] = model_for(name, secret, idle=idle)
        return opened[parsed]

    return lookup


def model_problem(name: str, secret: Secret) -> LegatoError | None:
    """Tell what keeps a model from being used, without asking it anything."""
    try:
        parsed = parse_model(name)
        if parsed.provider is Provider.SCRIPT:
            read_script(parsed.model)
        model_key(parsed, secret)
    except LegatoError as error:
        return error
    return None


def _without_spec() -> LegatoError:
    return refused(
        "model_unknown",
        "'pipeline:' is played from the agent's own pipeline",
        cause="a pipeline has no model behind its name",
        next="declare the pipeline in the agent, and choose no model for the run",
    )
