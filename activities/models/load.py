"""Provider models whose SDKs are imported in a thread, never on the event loop."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, cast

from domain.ports import Disposition, ModelFailure
from domain.runs.model_name import Provider

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.ports import Model, ModelAnswer, ModelRequest
    from domain.runs.model_name import ModelName

_CLIENTS = {
    Provider.ANTHROPIC: "activities.models.anthropic_client",
    Provider.OPENAI: "activities.models.openai_client",
    Provider.OPENROUTER: "activities.models.openai_client",
    Provider.OLLAMA: "activities.models.openai_client",
    Provider.COMPATIBLE: "activities.models.openai_client",
    Provider.GOOGLE: "activities.models.google_client",
}
"""Where each provider's `open_model(name, key, idle)` is; importing the module takes seconds."""


async def ready(name: ModelName) -> None:
    """Import the SDK that a model is asked by, so that a request goes out at once."""
    if name.provider in _CLIENTS:
        await asyncio.to_thread(import_module, _CLIENTS[name.provider])


def provider_model(name: ModelName, key: str, idle: float) -> Model:
    """Give a provider's model that is opened, in a thread, by its first request."""
    opened: list[Model] = []
    opening = asyncio.Lock()

    async def ask(request: ModelRequest, on_text: Callable[[str], None]) -> ModelAnswer:
        async with opening:
            if not opened:
                opened.append(await asyncio.to_thread(_open, name, key, idle))
        return await opened[0](request, on_text)

    return ask


def _open(name: ModelName, key: str, idle: float) -> Model:
    client = import_module(_CLIENTS[name.provider])
    open_model = cast("Callable[[ModelName, str, float], Model]", client.open_model)
    try:
        return open_model(name, key, idle)
    except Exception as error:  # noqa: BLE001 - whatever an SDK raises, its text may hold the key
        raise ModelFailure(
            "model_not_opened",
            f"the client for {name.key} cannot be made ({type(error).__name__})",
            Disposition.REFUSE,
            next="check the model's name and key with `legato doctor`",
        ) from None
