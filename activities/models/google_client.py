"""Opens Google's models over the Gemini API."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from httpx2 import AsyncClient, Response, Timeout
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from activities.models.provider import CONNECT, asking

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.ports import Model, ModelAnswer, ModelRequest
    from domain.runs.model_name import ModelName

_received: ContextVar[list[Response] | None] = ContextVar("received", default=None)
"""The HTTP responses of the request that the current task is sending."""


def open_model(name: ModelName, key: str, idle: float) -> Model:
    """Open a model over a client of its own that never retries; `idle` in seconds.

    Redirects are not followed: a conversation is for the address that was named, and no other.
    """
    client = AsyncClient(
        timeout=Timeout(idle, connect=CONNECT),
        event_hooks={"response": [_receive]},
        follow_redirects=False,
    )
    provider = GoogleProvider(api_key=key, http_client=client, base_url=name.url or None)
    return _closing(asking(GoogleModel(name.model, provider=provider), name))


async def _receive(response: Response) -> None:
    received = _received.get()
    if received is not None:
        received.append(response)


def _closing(model: Model) -> Model:
    """Close the connection with the request: the SDK leaves a cancelled one to be collected."""

    async def ask(request: ModelRequest, on_text: Callable[[str], None]) -> ModelAnswer:
        received: list[Response] = []
        token = _received.set(received)
        try:
            return await model(request, on_text)
        finally:
            _received.reset(token)
            for response in received:
                await response.aclose()

    return ask
