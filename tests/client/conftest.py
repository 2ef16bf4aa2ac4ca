"""The client's commands, run in this process."""

import pytest

from tictactoe_client.cli.main import run


class Program:
    """Runs commands, and returns what they print."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def output(self, *arguments: str, code: int = 0) -> str:
        """Return the output of a command with this exit code."""
        self._capture.readouterr()
        assert run(list(arguments)) == code
        return self._capture.readouterr().out

    def complaint(self, *arguments: str, code: int = 2) -> str:
        """Return the standard error of a command with this exit code."""
        self._capture.readouterr()
        assert run(list(arguments)) == code
        return self._capture.readouterr().err


@pytest.fixture
def program(capfd: pytest.CaptureFixture[str]) -> Program:
    return Program(capfd)
