"""Chooses the exit code and the last messages of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from tictactoe_client.online import errors
from tictactoe_client.online.address import DEFAULT_SERVER, Address, is_this_machine, parse_cluster
from tictactoe_client.online.messages import Changed
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import can_print
from tictactoe_client.text.programs import own_command, server_command
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.wording import is_draw, seat_of

_NO_ROOM: Final = frozenset({"no_such_room", "room_full", "no_such_event", "event_full"})
_FAILURES: Final[tuple[tuple[tuple[type[errors.ClientError], ...], ExitCode, str], ...]] = (
    ((errors.Unreachable,), ExitCode.UNREACHABLE, "unreachable"),
    ((errors.VersionRefused, errors.ProtocolBroken), ExitCode.VERSION, "version"),
    ((errors.ConnectionLost,), ExitCode.CONNECTION_LOST, "connection_lost"),
    ((errors.UnknownGame,), ExitCode.NO_ROOM, "no_such_game"),
    ((Misuse, errors.BadAddress, errors.BadRoomCode), ExitCode.USAGE, "usage"),
    ((errors.ClientError,), ExitCode.OUR_BUG, "internal"),
)
"""The exit code and the JSON mode's code of each kind of error; the first match counts."""


RATED_SECONDS: Final = 3.0


async def dismiss(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def judge(error: errors.ClientError) -> tuple[ExitCode, str]:
    """Return the exit code for an error, and the code that JSON mode prints: for a refusal, the server's code."""
    if isinstance(error, (errors.Refused, errors.Expelled)):
        return ExitCode.NO_ROOM if error.code in _NO_ROOM else ExitCode.REFUSED, error.code
    return next((code, name) for kinds, code, name in _FAILURES if isinstance(error, kinds))


def describe_failure(error: errors.ClientError, settings: Settings, address: Address | None = None) -> str:
    """Return an error's message as safe text, with commands that may help.

    Args:
        address: The server that refused, by default the one named by the error or else by the settings.
    """
    if isinstance(error, errors.Refused) and error.code == "no_such_room" and error.room:
        server, room = address or _address_of(error.server or settings.server), clean_text(error.room)
        if settings.server is None and server is not None and server.url == DEFAULT_SERVER:
            join = own_command("join", room, "--server", "HOST")
            return say("no room here", room=room, url=server.url, join=join, servers=own_command("servers"))
        return say("no room", room=room, command=own_command("rooms", server=server))
    helps = [f"  {text}  {command}" for text, command in list_helps(error)]
    cross = "" if not helps else "x " if settings.ascii or not can_print("✗") else "✗ "
    return "\n".join((f"{cross}{clean_text(error.message)}", *helps))


def list_helps(error: errors.ClientError) -> list[tuple[str, str]]:
    """Return suggestions with their commands if the server is unreachable or a name must be claimed; otherwise []."""
    if isinstance(error, errors.Refused) and error.needs_claim:
        return [(say("help claim"), own_command("name", "claim", "NAME", server=_address_of(error.server)))]
    if not isinstance(error, errors.Unreachable) or error.is_answered:
        return []
    there = _address_of(error.url)
    helps = [(say("help elsewhere"), own_command("-s", "wss://host"))]
    if there is not None and is_this_machine(there):
        return [(say("help start server"), server_command()), *helps, (say("help find server"), own_command("servers"))]
    return helps if there is None else [(say("help play alone"), own_command("bot")), *helps]


def _address_of(text: str | None) -> Address | None:
    try:
        return parse_cluster(text).first
    except errors.BadAddress:
        return None


def exit_code_of(state: RoomState | None, viewer: str, *, with_result: bool) -> ExitCode:
    """Return `NORMAL`, or if `with_result` the code for the viewer's result; for watchers, always `NORMAL`."""
    own, result = (None, None) if state is None else (_seat_in(state, viewer), state.result)
    if not with_result or (state is not None and own is None):
        return ExitCode.NORMAL
    if result is None or result.winner is None:
        return ExitCode.DRAW if result is not None and is_draw(result) else ExitCode.ABANDONED
    return ExitCode.NORMAL if result.winner == own else ExitCode.LOSS


def _seat_in(state: RoomState, viewer: str) -> str | None:
    """Return the viewer's mark, even if they have left the room, or None for a watcher."""
    left = (mark for mark, seat in state.seats.items() if seat is not None and seat.player == viewer)
    return seat_of(state, viewer) or next(left, None)


def note_game(before: ExitCode | None, state: RoomState | None, viewer: str) -> ExitCode | None:
    """Return the exit code for our result in the run's latest game as we leave a room; None if we never had a seat.

    Args:
        before: The code for the games before this room.
    """
    if state is None or _seat_in(state, viewer) is None or (state.status == "waiting" and before is not None):
        return before
    return exit_code_of(state, viewer, with_result=True)


def awaits_rating(state: RoomState | None) -> bool:
    result = None if state is None or not state.rated else state.result
    return result is not None and result.reason != "aborted"


async def hear_rating(state: RoomState | None, changed: Changed, is_told: Callable[[], bool]) -> None:
    """Wait briefly for the rating changes after a rated game."""
    if awaits_rating(state):
        with suppress(TimeoutError):
            async with asyncio.timeout(RATED_SECONDS):
                await changed.until(is_told)
