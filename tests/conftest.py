"""What all tests share: one real stack, and what tests say of themselves below their results."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.stack import LiveStack, live_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def pytest_configure() -> None:
    """Let Ctrl-C reach the programs that tests start: a shell's background job ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_SAID = "said"


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Say a seed or a figure: it stands below the results, also of a test that passed."""
    return lambda line: record_property(_SAID, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests said, whichever process ran them."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, line in report.user_properties:
                if name == _SAID:
                    terminalreporter.write_line(f"{report.nodeid.rpartition('/')[2]}: {line}")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    """Give a running stack with a worker; tests tell their runs apart by their own ids."""
    folder = tmp_path_factory.mktemp("stack")
    files = folder / "files"
    files.mkdir()
    with live_stack(folder / "home", files) as running:
        yield running
