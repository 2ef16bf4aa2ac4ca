"""The commands of the client in this process, to their end."""

from __future__ import annotations

import pytest

from tictactoe_client.cli.main import run


class Program:
    """Runs commands, and returns what they print."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def output(self, *arguments: str, code: int = 0) -> str:
        """Return what a command prints that ends with this code."""
        self._capture.readouterr()
        assert run(list(arguments)) == code
        return self._capture.readouterr().out

    def complaint(self, *arguments: str, code: int = 2) -> str:
        """Return what a command that ends with this code says on standard error."""
        self._capture.readouterr()
        assert run(list(arguments)) == code
        return self._capture.readouterr().err


@pytest.fixture
def program(capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(capfd)
