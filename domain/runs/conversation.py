"""What is said in a run: messages, the calls a model asks for, and what they used."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict

from domain.codec import canonical, clean_text

Text = Annotated[str, AfterValidator(clean_text)]
"""Text from outside: its lone surrogates become U+FFFD, so that it can be stored."""


class Frozen(BaseModel):
    """Plain data: immutable, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CallRequest(Frozen):
    """One tool call as a model asked for it.

    `position` counts from 0 within the response and is our address of the call;
    `provider_id` is the provider's own, possibly repeated, and only ever sent back to it;
    `arguments` is the text as written, which may be broken JSON.
    """

    position: int
    provider_id: Text
    name: Text
    arguments: Text


class Usage(Frozen):
    """What a request used, in tokens and US dollars.

    `input_tokens` includes `cached_tokens`. None is unknown, which is not zero;
    `cost` is a decimal number as text, `prices` the version of the price list it came from.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: str | None = None
    prices: str = ""


class Native(Frozen):
    """A provider's own form of a response: base64 of its bytes, for that provider only.

    `key` is `provider:model`; another key never gets these bytes back.
    """

    key: str
    data: str


class UserMessage(Frozen):
    """Something said to the agent: by a person, by the sequence, or by a check."""

    text: str


class AssistantMessage(Frozen):
    """What the model answered in one step."""

    text: str
    calls: tuple[CallRequest, ...] = ()
    native: Native | None = None


class ToolMessage(Frozen):
    """One call's result as the model is shown it; `failed` is by tag, never by text."""

    provider_id: str
    name: str
    text: str
    failed: bool


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


def message_bytes(message: Message) -> bytes:
    """Encode a message as it enters the digest of a request."""
    return canonical(message.model_dump(mode="json"))
