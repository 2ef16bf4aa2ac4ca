"""A room that is typed or pasted on a page, as a code or as a link that may lead to another server."""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.online.address import Address, parse_room
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.tui.editor import LineEditor
from tictactoe_client.tui.page import Desk
from tictactoe_protocol import BadRoomCode, clean_text


@dataclass(frozen=True, slots=True)
class TypedRoom:
    """A room's code; `elsewhere` is the server that it is on, None for the one that we are connected to."""

    code: str
    elsewhere: Address | None


def read_room(typed: LineEditor, desk: Desk) -> TypedRoom | None:
    """Return the room that a line names, or None having said why it names none; what is typed next replaces it."""
    typed.selected = True
    try:
        code, address = parse_room(typed.text)
    except (BadRoomCode, BadAddress) as bad:
        desk.say(clean_text(bad.message))
        return None
    is_here = address is None or desk.link.house.has(address)
    return TypedRoom(code, None if is_here else address)
