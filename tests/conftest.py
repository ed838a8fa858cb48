"""What all tests share: one real stack, brought up when the first test asks for it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.stack import LiveStack, live_stack

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs that tests start: a shell's background job ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    """Give a running stack with a worker; tests tell their runs apart by their own ids."""
    folder = tmp_path_factory.mktemp("stack")
    files = folder / "files"
    files.mkdir()
    with live_stack(folder / "home", files) as running:
        yield running
