"""What went wrong on the way to a server or in talk with it: which exit code it means, and what a person is told."""

from __future__ import annotations

from typing import Final

from tictactoe_client.online.address import Address
from tictactoe_client.online.errors import (
    BadAddress,
    ClientError,
    ConnectionLost,
    Expelled,
    ProtocolBroken,
    Refused,
    UnknownGame,
    Unreachable,
    VersionRefused,
)
from tictactoe_client.online.house import parse_house
from tictactoe_client.online.invite import is_this_machine
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.screen import can_print
from tictactoe_client.text.program import own_command, server_command
from tictactoe_protocol import clean_text

_NO_ROOM: Final = frozenset({"no_such_room", "room_full"})
_FAILURES: Final = {
    ExitCode.UNREACHABLE: "unreachable",
    ExitCode.VERSION: "version",
    ExitCode.CONNECTION_LOST: "connection_lost",
    ExitCode.NO_ROOM: "no_such_game",
    ExitCode.OUR_BUG: "internal",
}
"""What JSON mode calls them; the rest is wrong use."""


def exit_code_for(error: ClientError) -> ExitCode:
    """Return the exit code that a failure means."""
    if isinstance(error, Unreachable):
        return ExitCode.UNREACHABLE
    if isinstance(error, (VersionRefused, ProtocolBroken)):
        return ExitCode.VERSION
    if isinstance(error, Expelled):
        return ExitCode.REFUSED
    if isinstance(error, ConnectionLost):
        return ExitCode.CONNECTION_LOST
    if isinstance(error, UnknownGame):
        return ExitCode.NO_ROOM
    if isinstance(error, Refused):
        return ExitCode.NO_ROOM if error.code in _NO_ROOM else ExitCode.REFUSED
    if isinstance(error, BadAddress):
        return ExitCode.USAGE
    return ExitCode.OUR_BUG


def name_failure(error: ClientError) -> str:
    """Return the code of a failure: the server's own for what it refused."""
    if isinstance(error, (Refused, Expelled)):
        return error.code
    return _FAILURES.get(exit_code_for(error), "usage")


def describe_failure(error: ClientError, settings: Settings, address: Address | None = None) -> str:
    """Return what to tell a person about a failure, and what may help; safe to print.

    `address` is the server, where it is another one than that of the settings.
    """
    if isinstance(error, Unreachable):
        return "\n".join(_describe_unreachable(error, settings))
    if isinstance(error, Refused) and error.code == "no_such_room" and error.room:
        listing = own_command("rooms", server=address or _address_of(settings.server))
        return f"No room {clean_text(error.room)}. It may have closed. List rooms: {listing}"
    return clean_text(error.message)


def _describe_unreachable(error: Unreachable, settings: Settings) -> list[str]:
    cross, address = "x" if settings.ascii or not can_print("✗") else "✗", _address_of(error.url)
    lines = [f"{cross} {clean_text(error.message)}"]
    if address is not None and not is_this_machine(address):
        lines.append(f"  Play the computer without a server:  {own_command('bot')}")
    elif address is not None:
        lines.append(f"  Is the server running?  Start one:  {server_command()}")
    return [*lines, f"  Or point elsewhere:     {own_command('-s', 'wss://host')}"]


def _address_of(text: str | None) -> Address | None:
    """Return the address that a text names first, the default one for None, or None where it names none."""
    try:
        return parse_house(text).first
    except BadAddress:
        return None
