"""What a confined command reaches over the network, at each level that this machine offers."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from activities.tools.confine import Level
from tests.support.commands import command_in, folder_in, offered, run_text
from tests.support.interpreter import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CONNECT = """
import socket
try:
    with socket.create_connection(("127.0.0.1", {port}), 3) as found:
        print(found.recv(99).decode())
except OSError:
    print("unreachable")
"""
_BOTH_ENDS = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    with socket.create_connection(server.getsockname(), 3) as client:
        server.accept()[0].sendall(b"its own")
        print(client.recv(99).decode())
"""


@pytest.fixture(params=[Level.BUBBLEWRAP, Level.NAMESPACES])
def level(request: pytest.FixtureRequest) -> Level:
    """Each level that confines and that this machine offers."""
    wanted = Level(request.param)
    if not offered(wanted):
        pytest.skip(f"confinement level {wanted} is not offered here")
    return wanted


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A server of this machine, on its loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def _python(text: str) -> str:
    return f"'{PYTHON}' -c '{text.replace(chr(39), chr(34))}'"


def test_a_command_does_not_reach_a_server_on_the_loopback_of_the_machine(
    tmp_path: Path, level: Level, server: socket.socket
) -> None:
    text = _python(_CONNECT.format(port=server.getsockname()[1]))
    _, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
    server.settimeout(0)
    with pytest.raises(BlockingIOError):
        server.accept()
    assert output == "unreachable\n"


def test_a_command_does_not_reach_an_abstract_socket_of_the_machine(
    tmp_path: Path, level: Level
) -> None:
    name = f"legato-test-{tmp_path.name}"
    text = _python(
        "import socket; s = socket.socket(socket.AF_UNIX); "
        f'print(s.connect_ex(bytes(1) + b"{name}") != 0)'
    )
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(b"\0" + name.encode())
        listening.listen()
        _, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
    assert output == "True\n"


def test_a_command_that_is_granted_the_network_reaches_a_server_of_the_machine(
    tmp_path: Path, level: Level, server: socket.socket
) -> None:
    text = _python(_CONNECT.format(port=server.getsockname()[1]))
    server.settimeout(20)
    command = command_in(tmp_path, text, level=level, network=True)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(run_text, command, folder_in(tmp_path))
        reached, _ = server.accept()
        with reached:
            reached.sendall(b"of the machine")
        assert call.result()[1] == "of the machine\n"


def test_a_server_and_a_client_inside_one_command_reach_each_other(
    tmp_path: Path, level: Level
) -> None:
    command = command_in(tmp_path, _python(_BOTH_ENDS), level=level)
    assert run_text(command, folder_in(tmp_path))[1] == "its own\n"
