"""The model that an older step names, as Legato writes it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.imported.loss import Became, FieldReport, given
from domain.errors import LegatoError
from domain.runs.model_name import Provider, parse_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.codec import Json

_PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "anthropic": Provider.ANTHROPIC,
        "openai": Provider.OPENAI,
        "openrouter": Provider.OPENROUTER,
        "ollama": Provider.OLLAMA,
        "google": Provider.GOOGLE,
        "gemini": Provider.GOOGLE,
        "vertex": Provider.GOOGLE,
    }
)
FIELD = "execution_llm"
_NEXT = "name the model with --model"


@dataclass(frozen=True)
class Models:
    """The model and what is asked where it cannot answer, "" for neither; and the report."""

    model: str = ""
    fallback: str = ""
    rows: tuple[FieldReport, ...] = ()


def read_model(value: Json) -> Models:
    """Read `{provider, model_id, fallbacks}`, or a name as text."""
    name, same = _name(value)
    if not name:
        return Models(rows=(_lost(value),))
    row = FieldReport(
        field=FIELD,
        given="value",
        became=Became.MAPPED if same else Became.TRANSFORMED,
        code="model_named",
        says="it is asked where the call names no model; the model is no part of the agent",
    )
    fallbacks = value.get("fallbacks") if isinstance(value, dict) else None
    if not isinstance(fallbacks, list) or not fallbacks:
        return Models(name, rows=(row,))
    second, _ = _name(fallbacks[0])
    return Models(name, second, (row, _about(fallbacks, second)))


def _name(value: Json) -> tuple[str, bool]:
    """Give the name and whether it is another program's word for the same provider."""
    if isinstance(value, str):
        return _usable(value.strip()), False
    if not isinstance(value, dict):
        return "", False
    provider, model = value.get("provider"), value.get("model_id", value.get("model"))
    if not isinstance(provider, str) or not isinstance(model, str) or not model.strip():
        return "", False
    word = provider.strip().casefold()
    ours = _PROVIDERS.get(word)
    return ("", False) if ours is None else (_usable(f"{ours}:{model.strip()}"), word == ours.value)


def _usable(name: str) -> str:
    """Give a name that is a provider's model at the provider's own address, else ""."""
    try:
        parsed = parse_model(name)
    except LegatoError:
        return ""
    return name if parsed.provider in _PROVIDERS.values() and "@http" not in name else ""


def _lost(value: Json) -> FieldReport:
    return FieldReport(
        field=FIELD,
        given=given(value),
        became=Became.DROPPED,
        code="model_unknown",
        says="it names no model of a provider that Legato speaks to",
        next=_NEXT,
        narrows=("model",),
        person=True,
    )


def _about(fallbacks: list[Json], second: str) -> FieldReport:
    whole = bool(second) and len(fallbacks) == 1
    return FieldReport(
        field=f"{FIELD}.fallbacks",
        given="value",
        became=Became.TRANSFORMED if second else Became.DROPPED,
        code="fallback_named" if whole else "fallback_cut",
        says="one fallback is kept, the first" if second else "the first names no model",
        next="" if whole else "name another with --fallback",
    )
