"""Addresses that a file or an operator names: which may be used, and which would show a secret."""

from __future__ import annotations

import re
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1", re.IGNORECASE)
_SECRET_NAME = re.compile(r"auth|key|pass|secret|sig|token|credential|pwd", re.IGNORECASE)
_SECRET_PART = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w.~+=-]{40,}", re.ASCII)
_LONGEST = 2000
_UNFIT = frozenset(' "<>\\^`{|}$')


class Unfit(StrEnum):
    """Why an address cannot be used."""

    INVALID = "invalid"
    SECRET = "secret"  # noqa: S105 - a label
    EXPOSED = "exposed"


SAID: Mapping[Unfit, str] = MappingProxyType(
    {
        Unfit.INVALID: "it is no address that begins with http:// or https:// and a host",
        Unfit.SECRET: "it shows what looks like a secret",
        Unfit.EXPOSED: "it is in clear text and leads to another machine",
    }
)
"""Each as the end of a sentence; the address itself is not repeated."""


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its very name: no name is looked up."""
    return _LOOPBACK.fullmatch(host.rstrip(".")) is not None


def address_problem(url: str) -> Unfit | None:
    """Tell why an address cannot be used; None where it can.

    It must be http or https with a host, show no secret in its parts, and be in clear text
    only where it leads to this machine.
    """
    printable = url.isascii() and url.isprintable() and not _UNFIT.intersection(url)
    if not printable or len(url) > _LONGEST:
        return Unfit.INVALID
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return Unfit.INVALID
    if "@" in parts.netloc or _secret(parts.path, parts.query, parts.fragment):
        return Unfit.SECRET
    if parts.scheme not in {"http", "https"} or not host or parts.netloc[-1] == ":" or "#" in url:
        return Unfit.INVALID
    if parts.scheme == "http" and not is_loopback(host):
        return Unfit.EXPOSED
    return None


def _secret(path: str, query: str, fragment: str) -> bool:
    names = [part.partition("=")[0] for part in re.split("[&;]", f"{query}&{fragment}")]
    pieces = re.split("[/&;=,]", f"{path}/{query}/{fragment}")
    user = "@" in f"{query}{fragment}" or any("@" in piece[1:] for piece in path.split("/"))
    named = any(map(_SECRET_NAME.search, names))
    return user or named or any(map(_SECRET_PART.fullmatch, pieces))
