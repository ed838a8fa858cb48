"""Opens models that speak OpenAI's chat completions: OpenAI, OpenRouter, Ollama, any address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.profiles import merge_profile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider

from activities.models.provider import CONNECT, asking
from domain.runs.model_name import Provider

if TYPE_CHECKING:
    from domain.ports import Model
    from domain.runs.model_name import ModelName

_OPENROUTER = "https://openrouter.ai/api/v1"
_NO_KEY = "none"  # the SDK refuses to be built without one; servers without keys ignore it
_OLDER = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def open_model(name: ModelName, key: str, idle: float) -> Model:
    """Open a model over a client of its own that never retries; `idle` in seconds.

    Redirects are not followed: a conversation is for the address that was named, and no other.
    """
    url = _OPENROUTER if name.provider is Provider.OPENROUTER else name.url or None
    client = AsyncOpenAI(
        api_key=key or _NO_KEY,
        base_url=url,
        max_retries=0,
        timeout=Timeout(idle, connect=CONNECT),
        http_client=DefaultAsyncHttpxClient(follow_redirects=False),
    )
    return asking(_chat_model(name, client), name)


def _chat_model(name: ModelName, client: AsyncOpenAI) -> OpenAIChatModel:
    if name.provider is Provider.OPENROUTER:
        return OpenRouterModel(name.model, provider=OpenRouterProvider(openai_client=client))
    if name.provider is Provider.OLLAMA:
        ollama = OllamaProvider(openai_client=client)
        profile = merge_profile(ollama.model_profile(name.model), _OLDER)
        return OllamaModel(name.model, provider=ollama, profile=profile)
    openai = OpenAIProvider(openai_client=client)
    if name.provider is Provider.COMPATIBLE:
        profile = merge_profile(openai.model_profile(name.model), _OLDER)
        return OpenAIChatModel(name.model, provider=openai, profile=profile)
    return OpenAIChatModel(name.model, provider=openai)
