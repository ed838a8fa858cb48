"""Free TCP ports of this machine's loopback address."""

from __future__ import annotations

import errno
import random
import socket

LOOPBACK = "127.0.0.1"

# Below every platform's ephemeral range: there a client that dials a dead server again
# and again may be given that very port as its own, connect to itself and so take it.
_LOWEST, _HIGHEST = 20000, 31999
_TRIES = 200


def is_free(port: int) -> bool:
    """Tell whether nothing listens on a port, neither here nor on every address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                return False
            raise
    return True


def free_port(preferred: int | None, *, besides: int | None = None) -> int:
    """Choose a port: the preferred one where it is free, else any free one.

    Raises:
        OSError: where not one of many tried is free.

    """
    if preferred is not None and preferred != besides and is_free(preferred):
        return preferred
    chooser = random.SystemRandom()
    for _ in range(_TRIES):
        port = chooser.randint(_LOWEST, _HIGHEST)
        if port != besides and is_free(port):
            return port
    raise OSError(errno.EADDRINUSE, f"no free port between {_LOWEST} and {_HIGHEST}")
