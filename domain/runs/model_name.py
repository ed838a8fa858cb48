"""What a model's name means: provider, model, address, and which key it needs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from domain.errors import LegatoError, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    Secret = Callable[[str], str | None]


class Provider(StrEnum):
    """Who answers; `compatible` is any address that speaks OpenAI's chat completions."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENROUTER = "openrouter"
    GOOGLE = "google"
    OLLAMA = "ollama"
    COMPATIBLE = "compatible"
    SCRIPT = "script"
    PIPELINE = "pipeline"


FORMS = (
    "anthropic:MODEL or anthropic:MODEL@URL",
    "openai:MODEL or openai:MODEL@URL",
    "openrouter:VENDOR/MODEL",
    "google:MODEL or google:MODEL@URL",
    "ollama:MODEL or ollama:MODEL@http://HOST:PORT",
    "http(s)://HOST:PORT/v1#MODEL",
    "script:FILE",
)
"""The forms a name may have, as they are shown to people."""

KEYS: dict[Provider, tuple[str, ...]] = {
    Provider.ANTHROPIC: ("ANTHROPIC_API_KEY",),
    Provider.OPENAI: ("OPENAI_API_KEY",),
    Provider.OPENROUTER: ("OPENROUTER_API_KEY",),
    Provider.GOOGLE: ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    Provider.OLLAMA: ("OLLAMA_API_KEY",),
    Provider.COMPATIBLE: ("OPENAI_COMPATIBLE_API_KEY",),
}
"""Where each provider's key is looked for, first found first."""

_SHORT = 60
_OPTIONAL_KEY = (Provider.OLLAMA, Provider.COMPATIBLE)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OLLAMA_HERE = "http://localhost:11434/v1"


@dataclass(frozen=True)
class ModelName:
    """A parsed name; `url` is "" for the provider's own address.

    For `script` the `model` is the file's path, for `pipeline` it is "".
    """

    provider: Provider
    model: str
    url: str = ""

    @property
    def key(self) -> str:
        """Whose native bytes these are: `provider:model`, with the address where one is given."""
        if self.provider is Provider.COMPATIBLE:
            return f"{self.url}#{self.model}"
        return f"{self.provider}:{self.model}" + (f"@{self.url}" if self.url else "")


def parse_model(text: str) -> ModelName:
    """Read a model's name; raises `model_unknown`."""
    if text.startswith(("http://", "https://")):
        address, _, model = text.partition("#")
        return ModelName(Provider.COMPATIBLE, _model(model, text), _address(address, text))
    prefix, colon, rest = text.partition(":")
    if not colon or prefix not in set(Provider) - {Provider.COMPATIBLE}:
        raise _unknown(text, f"{prefix!r} is not a provider" if colon else "it names no provider")
    provider = Provider(prefix)
    if provider is Provider.PIPELINE:
        if rest:
            raise _unknown(text, "a pipeline is declared by the agent, nothing follows `pipeline:`")
        return ModelName(provider, "")
    if provider is Provider.SCRIPT:
        if not rest.strip():
            raise _unknown(text, "no file is named after `script:`")
        return ModelName(provider, rest)
    return _with_address(provider, rest, text)


def short_name(text: str) -> str:
    """Name a model for those who watch: no path, no address; "" for none and for no name."""
    try:
        name = parse_model(text)
    except LegatoError:
        return ""
    return "script" if name.provider is Provider.SCRIPT else name.model[:_SHORT]


def _with_address(provider: Provider, rest: str, text: str) -> ModelName:
    model, at, address = rest.partition("@http")
    url = _address("http" + address, text) if at else ""
    if url and provider is Provider.OPENROUTER:
        raise _unknown(text, "openrouter takes no address")
    if provider is Provider.OLLAMA:
        url = url or _OLLAMA_HERE
        url = url if urlsplit(url).path else url + "/v1"
    if provider is Provider.OPENROUTER and "/" not in model:
        raise _unknown(text, "openrouter names a model as VENDOR/MODEL")
    return ModelName(provider, _model(model, text), url)


def _model(model: str, text: str) -> str:
    if not model or any(c.isspace() or not c.isprintable() for c in model):
        raise _unknown(text, "it names no model" if not model else "the model's name has spaces")
    return model


def _address(address: str, text: str) -> str:
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable:
        raise _unknown(text, "its address has no host or no valid port")
    if parts.username or parts.password:
        raise _unknown("the name", "its address carries a password; keys belong in the environment")
    return address.rstrip("/")


def _unknown(text: str, why: str) -> LegatoError:
    return refused(
        "model_unknown",
        f"{text!r} is not a model name: {why}",
        cause=why,
        next="name a model as " + ", ".join(FORMS),
        details={"forms": list(FORMS)},
    )


def model_key(name: ModelName, secret: Secret) -> str:
    """Find the key a model needs, "" where it needs none.

    Raises `model_key_missing`, naming the variable to set, and `model_key_exposed` where the
    key would leave this machine in clear text.
    """
    variables = KEYS.get(name.provider, ())
    found = next((value for value in map(secret, variables) if value), "")
    if not found and variables and name.provider not in _OPTIONAL_KEY:
        raise refused(
            "model_key_missing",
            f"{name.key} needs a key and {' or '.join(variables)} is not set",
            cause=f"{variables[0]} is not set",
            next=f"set {variables[0]} in the environment of the worker, then run again",
            details={"variables": list(variables)},
        )
    if found and name.url.startswith("http://") and urlsplit(name.url).hostname not in _LOOPBACK:
        raise refused(
            "model_key_exposed",
            f"the key for {name.key} would be sent in clear text",
            cause="the address is http:// and not on this machine",
            next=f"use an https:// address, or unset {' and '.join(variables)}",
        )
    return found
