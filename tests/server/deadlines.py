"""Deadlines of the server's connections pass when a test says so."""

from typing import Any

from tictactoe_server.transport.http_connection import HttpConnection


def expire(connection: HttpConnection) -> None:
    deadline: Any = connection._deadline
    then, arguments = deadline._callback, deadline._args
    deadline.cancel()
    then(*arguments)
