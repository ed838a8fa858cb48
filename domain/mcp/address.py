"""Which addresses a server may have: secrets go to it, so that they must not be readable."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

_LOOPBACK = re.compile(r"localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1")
_SECRET_PARAMETER = re.compile(r"(?i)(key|token|secret|passw|auth|sig|credential)")


def address_problem(url: str, *, from_secret: bool = False) -> str:
    """Say what is wrong with a server's address, "" where nothing is; never quotes it.

    `from_secret` tells that it is not written in a file, and may hold secrets itself.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "its url cannot be read as an address"
    if parts.scheme not in {"http", "https"} or not host:
        return "its url must begin with https:// or, on this machine, with http://"
    if any(not one.isprintable() or one.isspace() for one in url):
        return "its url holds a space or a control character"
    if parts.username is not None or parts.password is not None:
        return "its url holds a name or a password; send them as a header by secret reference"
    if parts.fragment:
        return "its url has a part after #, which no server is ever sent"
    names = [pair.partition("=")[0] for pair in parts.query.split("&")]
    if not from_secret and any(_SECRET_PARAMETER.search(name) for name in names):
        return 'its url holds a secret; write url = {secret = "NAME"} and set NAME for the worker'
    if parts.scheme == "http" and not is_loopback(host):
        return "its url is cleartext (http://), which goes to this machine only; use https://"
    return ""


def is_loopback(host: str) -> bool:
    """Tell whether a host's name is this machine's own."""
    return _LOOPBACK.fullmatch(host.lower()) is not None


def shown_address(url: str) -> str:
    """Give an address without what may be a secret: its name and password, query, fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
