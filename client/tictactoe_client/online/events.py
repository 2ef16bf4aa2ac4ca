"""What happens to the connection itself, told in the stream of messages between what the server said."""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.online.errors import Refused


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection ended without being asked to; it is tried to come back for `hold_seconds`."""

    reason: str
    close_code: int | None
    hold_seconds: float


@dataclass(frozen=True, slots=True)
class Retrying:
    """Attempt number `attempt` comes in `in_seconds`, at `server`; `left_seconds` is how long it will be tried."""

    attempt: int
    in_seconds: float
    left_seconds: float
    server: str


@dataclass(frozen=True, slots=True)
class Back:
    """The server knows us again, after so many attempts and seconds; states of the rooms we are in will follow."""

    attempts: int
    seconds: float
    latency_seconds: float


@dataclass(frozen=True, slots=True)
class Gone:
    """A room could not be entered again after the connection came back."""

    room: str
    refused: Refused


Event = Lost | Retrying | Back | Gone
