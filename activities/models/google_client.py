"""Opens Google's models over the Gemini API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from httpx2 import AsyncClient, Timeout
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from activities.models.provider import CONNECT, asking

if TYPE_CHECKING:
    from domain.ports import Model
    from domain.runs.model_name import ModelName


def open_model(name: ModelName, key: str, idle: float) -> Model:
    """Open a model over a client of its own that never retries; `idle` in seconds."""
    client = AsyncClient(timeout=Timeout(idle, connect=CONNECT))
    provider = GoogleProvider(api_key=key, http_client=client, base_url=name.url or None)
    return asking(GoogleModel(name.model, provider=provider), name)
