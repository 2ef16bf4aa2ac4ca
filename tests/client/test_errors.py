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
def test_an_error_of_the_system_is_told_in_its_own_words(name: str) -> None:
    number = getattr(errno, name)
    assert describe_system_error(number) == os.strerror(number).lower()


def test_an_error_that_the_catalogue_does_not_know_is_told_as_the_system_does() -> None:
    assert describe_system_error(errno.EPIPE) == os.strerror(errno.EPIPE).lower()


@pytest.mark.usefixtures("in_german")
def test_a_german_program_says_why_nobody_is_reached_in_german() -> None:
    silent = Unreachable("ws://two", describe_system_error(errno.EHOSTUNREACH))
    told = Unreachable("ws://one", "Verbindung abgelehnt", others=[silent]).message
    assert told == "ws://one ist nicht zu erreichen  (Verbindung abgelehnt), auch nicht ws://two  (kein Weg zum Host)"
    assert Interrupted().message.startswith("Die Verbindung ging verloren")
