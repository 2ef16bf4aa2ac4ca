"""The errors of the library, each with a sentence for people."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from tictactoe_protocol import room_codes
from tictactoe_protocol.codes import CloseCode
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_fault


class ClientError(Exception):
    """The base of all errors of this package; `message` is a sentence for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadAddress(ClientError, ValueError):
    """A text is not the address of a server."""


class BadRoomCode(room_codes.BadRoomCode, ClientError):
    """A text is not a room code."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(why, **data)
        ClientError.__init__(self, describe_fault(self))


class BadCell(ClientError, ValueError):
    """A text is not a cell; `code` is ``bad_input``, or ``off_board`` for a cell outside this board."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unreachable(ClientError):
    """No connection to the server, or to any server of the cluster; `is_answered` if the address answered."""

    def __init__(self, url: str, reason: str, *, others: Sequence[Unreachable] = (), is_answered: bool = False) -> None:
        nor = "".join(say("nor reach", url=error.url, reason=error.reason) for error in others)
        super().__init__(say("cannot reach", url=url, reason=reason) + nor)
        self.url: str = url
        self.reason: str = reason
        self.is_answered = is_answered


class VersionRefused(ClientError):
    """The server speaks another version of the protocol, `server_version`."""

    def __init__(self, message: str, server_version: int) -> None:
        super().__init__(message)
        self.server_version = server_version


class ConnectionLost(ClientError):
    """The connection ended unexpectedly.

    Attributes:
        close_code: The WebSocket's close code, or None.
        retry_ms: After how long the server said that it would be back, or None.
        gave_up: Whether reconnecting failed.
    """

    def __init__(
        self, reason: str, close_code: int | None = None, retry_ms: int | None = None, *, gave_up: bool = False
    ) -> None:
        super().__init__(say("connection lost", reason=reason))
        self.reason, self.close_code, self.retry_ms, self.gave_up = reason, close_code, retry_ms, gave_up


EXPULSIONS: Final = {"banned": CloseCode.BANNED, "kicked": CloseCode.KICKED}


class Expelled(ConnectionLost):
    """The server's operator disconnected us; `code` is ``banned`` or ``kicked``."""

    def __init__(self, code: str, message: str, close_code: int | None = None) -> None:
        super().__init__(message.rstrip("."), close_code)
        ClientError.__init__(self, message)
        self.code = code


class ProtocolBroken(ConnectionLost):
    """The server violated the protocol, and the connection was closed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason.rstrip("."))
        ClientError.__init__(self, say("protocol broken", reason=self.reason))


class Interrupted(ClientError):
    """The connection was lost before the answer to a request that must not be repeated."""

    def __init__(self) -> None:
        super().__init__(say("interrupted"))


class Refused(ClientError):
    """The server refused a request and changed nothing; `docs/reference/protocol.md` lists the codes and their `data`.

    Attributes:
        path: The request's field at fault, or None.
        retry_ms: After how long another attempt may succeed, or None.
        server: The URL of the server if it refused our hello, or None.
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

    @property
    def needs_claim(self) -> bool:
        """Whether the player has to claim their name first, as for rated games."""
        return self.data.get("why") == "rated name"


class UnknownGame(ClientError):
    """We have no such finished game on this server."""


def describe_system_error(number: int) -> str:
    """Describe a system error in a few words."""
    return os.strerror(number).lower()


def describe_cause(error: OSError | ValueError) -> str:
    """Describe the cause of an error in a few words."""
    if isinstance(error, UnicodeDecodeError):
        return say("config no utf-8")
    number = getattr(error, "errno", None)
    return describe_system_error(number) if number else str(error)
