import errno
import os
import sys

import pytest

from tictactoe_client import Interrupted, Unreachable
from tictactoe_client.online.errors import describe_system_error
from tictactoe_words.catalogue import open_catalogue

SYSTEM_ERRORS = [id.removeprefix("system ") for id in open_catalogue("en").sentences if id.startswith("system E")]


@pytest.mark.skipif(sys.platform != "linux", reason="systems have words of their own")
@pytest.mark.parametrize("name", SYSTEM_ERRORS)
def test_system_errors_are_described_as_by_the_system(name: str) -> None:
    number = getattr(errno, name)
    assert describe_system_error(number) == os.strerror(number).lower()


def test_unknown_system_errors_keep_the_systems_text() -> None:
    assert describe_system_error(errno.EPIPE) == os.strerror(errno.EPIPE).lower()


@pytest.mark.usefixtures("in_german")
def test_connection_errors_are_translated() -> None:
    silent = Unreachable("ws://two", describe_system_error(errno.EHOSTUNREACH))
    told = Unreachable("ws://one", "Verbindung abgelehnt", others=[silent]).message
    assert told == "ws://one ist nicht zu erreichen  (Verbindung abgelehnt), auch nicht ws://two  (kein Weg zum Host)"
    assert Interrupted().message.startswith("Die Verbindung ging verloren")
