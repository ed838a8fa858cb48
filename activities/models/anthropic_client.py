"""Opens models that speak Anthropic's messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from activities.models.provider import CONNECT, asking

if TYPE_CHECKING:
    from domain.ports import Model
    from domain.runs.model_name import ModelName

# Without breakpoints nothing is cached, and a run sends its whole conversation at each step.
_CACHED = AnthropicModelSettings(
    anthropic_cache_instructions=True,
    anthropic_cache_tool_definitions=True,
    anthropic_cache_messages=True,
)


def open_model(name: ModelName, key: str, idle: float) -> Model:
    """Open a model over a client of its own that never retries; `idle` in seconds.

    Redirects are not followed: a conversation is for the address that was named, and no other.
    """
    client = AsyncAnthropic(
        api_key=key,
        base_url=name.url or None,
        max_retries=0,
        timeout=Timeout(idle, connect=CONNECT),
        http_client=DefaultAsyncHttpxClient(follow_redirects=False),
    )
    provider = AnthropicProvider(anthropic_client=client)
    return asking(AnthropicModel(name.model, provider=provider, settings=_CACHED), name)
