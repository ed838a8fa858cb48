"""Asks a server on this machine's loopback for a page."""

from __future__ import annotations

import asyncio

from .parts import NotReadyError
from .ports import LOOPBACK

_ANSWER = 5.0


def port_of(address: str) -> int | None:
    """Read the port of host:port; None where there is none."""
    port = address.rpartition(":")[2]
    return int(port) if port.isdecimal() else None


async def get(address: str, path: str) -> bytes:
    """Read a page by plain HTTP: the clients that could do more take longer to import.

    Raises:
        NotReadyError: where it does not answer, or not with 200.

    """
    request = f"GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n"
    try:
        async with asyncio.timeout(_ANSWER):
            reader, writer = await asyncio.open_connection(LOOPBACK, port_of(address))
            try:
                writer.write(request.encode("ascii"))
                answer = await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        raise NotReadyError(f"{type(error).__name__}: {error}") from error
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise NotReadyError(head.partition(b"\r\n")[0].decode("ascii", errors="replace"))
    return body
