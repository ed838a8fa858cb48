"""Ports are chosen so that nobody else has them."""

from __future__ import annotations

import socket

import pytest

from legato.embedded.ports import free_port, is_free


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])  # noqa: S104 - the case to see
def test_a_port_with_a_listener_is_not_free(address: str) -> None:
    with socket.create_server((address, 0)) as listener:
        port = int(listener.getsockname()[1])
        assert not is_free(port)
        assert free_port(port) != port


def test_the_preferred_port_is_given_where_it_is_free() -> None:
    port = free_port(None)
    assert free_port(port) == port
    assert free_port(port, besides=port) != port
