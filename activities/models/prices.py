"""What a request costs: the price list asked, and the reservation made before the request."""

from __future__ import annotations

import math
import threading
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, cast

from domain.runs import pipeline, script
from domain.runs.conversation import Usage
from domain.runs.model_name import Provider, parse_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal
    from typing import Protocol

    from domain.runs.model_name import ModelName

    class Priced(Protocol):
        """What the price list gives for a request."""

        @property
        def total_price(self) -> Decimal:
            """US dollars."""
            ...


BYTES_PER_TOKEN = 3.5
_LISTED = (Provider.ANTHROPIC, Provider.OPENAI, Provider.OPENROUTER, Provider.GOOGLE)
_LIST = "genai-prices"
_loaded = threading.Event()


def reserve(model: str, input_bytes: int, max_tokens: int) -> Usage:
    """Reckon what a request may use at most, before it is sent; raises `model_unknown`.

    `model` is "" for a run without one. Input is its bytes / 3.5, output the whole of
    `max_tokens`; the cost is None where the price is unknown. The first call for a provider's
    model loads the price list, which takes a second: see `has_list_to_load`.
    """
    name = parse_model(model or f"{Provider.PIPELINE}:")
    if name.provider is Provider.PIPELINE:
        return Usage(input_tokens=0, output_tokens=0, cost="0", prices=pipeline.PRICES)
    tokens = math.ceil(input_bytes / BYTES_PER_TOKEN)
    return priced(name, name.model, Usage(input_tokens=tokens, output_tokens=max_tokens))


def has_list_to_load(model: str) -> bool:
    """Tell whether reserving for a model would load the price list, which takes a second."""
    listed = parse_model(model or f"{Provider.PIPELINE}:").provider in _LISTED
    return listed and not _loaded.is_set()


def priced(name: ModelName, served: str, usage: Usage, *, cache_write_tokens: int = 0) -> Usage:
    """Add cost and price list to counted tokens.

    `served` is the model that answered by its provider's word; the asked one counts where
    that is not in the list. The cost stays None for what the list does not know, for models
    without a public price, and where tokens are unknown.
    """
    if name.provider is Provider.SCRIPT:
        return usage.model_copy(update={"cost": "0", "prices": script.PRICES})
    if name.provider not in _LISTED or usage.input_tokens is None or usage.output_tokens is None:
        return usage
    for model in dict.fromkeys((served, name.model)):
        cost = _cost(name.provider, model, usage, cache_write_tokens)
        if cost is not None:
            return usage.model_copy(update={"cost": f"{cost:f}", "prices": _price_list()})
    return usage


def _cost(provider: Provider, model: str, usage: Usage, cache_write_tokens: int) -> Decimal | None:
    prices = import_module("genai_prices")
    calc_price = cast("Callable[..., Priced]", prices.calc_price)
    used: object = prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=cache_write_tokens or None,
    )
    try:
        return calc_price(used, model, provider_id=provider.value).total_price
    except (LookupError, ValueError):
        return None
    finally:
        _loaded.set()


def _price_list() -> str:
    return f"{_LIST} {version(_LIST)}"
