"""What can go wrong between a program and the server, each a type of its own with a sentence for people."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from errno import errorcode
from types import MappingProxyType
from typing import Any, Final

from tictactoe_protocol import room_codes
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import CloseCode


class ClientError(Exception):
    """The root of everything that this package raises; `message` is a sentence for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadAddress(ClientError, ValueError):
    """Text that names no server."""


class BadRoomCode(room_codes.BadRoomCode, ClientError):
    """Text that is no room code."""


class BadCell(ClientError, ValueError):
    """Text that names no cell of the board; `code` is ``bad_input``, or ``off_board`` for one of a larger board."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class MovesUnknown(ClientError):
    """The server does not tell the moves of the game on the table, so that there is no position."""

    def __init__(self) -> None:
        super().__init__(say("why moves"))


class Unreachable(ClientError):
    """No conversation came about with the server at `url` for a `reason`, nor with the `others` of its cluster."""

    def __init__(self, url: str, reason: str, *, others: Sequence[Unreachable] = ()) -> None:
        nor = "".join(say("nor reach", url=other.url, reason=other.reason) for other in others)
        super().__init__(say("cannot reach", url=url, reason=reason) + nor)
        self.url: str = url
        self.reason: str = reason


class VersionRefused(ClientError):
    """The server speaks another version of the protocol, `server_version`."""

    def __init__(self, message: str, server_version: int) -> None:
        super().__init__(message)
        self.server_version = server_version


class ConnectionLost(ClientError):
    """The connection ended without being asked to; with `gave_up` it was tried in vain to come back.

    `close_code` is the WebSocket's, None where it broke; `retry_ms` is when the server said it would be back, or None.
    """

    def __init__(
        self, reason: str, close_code: int | None = None, retry_ms: int | None = None, *, gave_up: bool = False
    ) -> None:
        super().__init__(say("connection lost", reason=reason))
        self.reason, self.close_code, self.retry_ms, self.gave_up = reason, close_code, retry_ms, gave_up


EXPULSIONS: Final = {"banned": CloseCode.BANNED, "kicked": CloseCode.KICKED}
"""The codes with which a server sends somebody away, each with that of the WebSocket."""


class Expelled(ConnectionLost):
    """The server's operator sent us away: `code` is ``banned`` or ``kicked``, and the message is the server's."""

    def __init__(self, code: str, message: str, close_code: int | None = None) -> None:
        super().__init__(message.rstrip("."), close_code)
        ClientError.__init__(self, message)
        self.code = code


class ProtocolBroken(ConnectionLost):
    """The server said what this protocol does not allow, so that the conversation with it was ended."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason.rstrip("."))
        ClientError.__init__(self, say("protocol broken", reason=self.reason))


class Interrupted(ClientError):
    """The connection was lost before the answer to a request came that must not be sent twice."""

    def __init__(self) -> None:
        super().__init__(say("interrupted"))


class Refused(ClientError):
    """The server refused a request and changed nothing; its codes are in `docs/protocol.md`, and what `data` hold.

    `path` names the field at fault and `retry_ms` says when trying again may help, each None where it does not apply.
    `server` is the URL of one that refused our hello.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        data: Mapping[str, Any] = MappingProxyType({}),
        room: str | None = None,
        path: str | None = None,
        retry_ms: int | None = None,
        server: str | None = None,
    ) -> None:
        super().__init__(message)
        self.data = data
        self.code, self.room, self.path, self.retry_ms, self.server = code, room, path, retry_ms, server


class UnknownGame(ClientError):
    """There is no such game among our own finished ones on this server."""


def describe_system_error(number: int) -> str:
    """Return in a few words what the system says by an error's number, in this program's language where it can."""
    with suppress(KeyError):
        return say(f"system {errorcode.get(number)}")
    return os.strerror(number).lower()


def describe_cause(error: OSError | ValueError) -> str:
    """Return in a few words why something of the system failed."""
    number = getattr(error, "errno", None)
    return describe_system_error(number) if number else str(error)
