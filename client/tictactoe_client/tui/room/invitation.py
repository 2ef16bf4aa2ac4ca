"""A room that waits for others, on the screen: how they get there, with a code to be photographed."""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest
from typing import Final

from tictactoe_client.online.address import reachable_address
from tictactoe_client.text.help import invitation
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture, measure, shorten_words, wrap
from tictactoe_client.tui.room.panel import Line, break_talk, cut_talk
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_players

LEAST: Final = (36, 10)
MOST: Final = (100, 28)
"""The size of the window that an invitation needs, and of the one that it can use."""
_LOW: Final = 10
"""Of so many lines none is left empty."""
_MOST_TALK: Final = 3


@lru_cache(maxsize=8)
def render_code(text: str) -> tuple[str, ...]:
    """Return a QR code as lines of half blocks, two modules high each, with its quiet zone; dark is foreground.

    To be drawn black on white, or it cannot be read.
    """
    import segno

    rows = [*segno.make(text, error="l", micro=False, boost_error=False).matrix_iter(border=4)]
    pairs = zip_longest(rows[::2], rows[1::2], fillvalue=bytes(len(rows)))
    return tuple("".join(" ▀▄█"[upper + 2 * lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs)


def link_for_others(desk: Desk, table: Table) -> str:
    """Return the link to the room by an address that others can reach."""
    return reachable_address(desk.link.address).link_to(table.room.code)


def draw_code(picture: Picture, link: str) -> int:
    """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
    lines = render_code(link)
    x = picture.width - len(lines[0]) - 1
    if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
        return picture.width - 1
    for number, line in enumerate(lines, 2):
        picture.put(x, number, line, "qr")
    return x - 1


def fill_invitation(table: Table, state: RoomState, link: str, width: int, height: int) -> tuple[list[Line], list[str]]:
    """Return at most so many lines on how others get here, and for each line of the talk what it is a part of."""
    company, clock = describe_players(state, table.room.viewer), describe_clock_in_words(state.time_control)
    if table.room.seat is None:
        company = f"You are watching. {company}"
    elif sum(held is not None for held in state.seats.values()) == 1:
        company = f"You wait in a room of your own; you are {table.room.seat}."
    facts = company, f"{clock[:1].upper()}{clock[1:]}; {state.visibility}."
    lines: list[Line] = [((shorten_words(fact, width), "dim"),) for fact in facts]
    lines += [()] if height > _LOW else []
    for title, text, role in (("Code", table.room.code, "title"), ("Link", link, ""), ("Or", invitation(link), "")):
        for number, line in enumerate(wrap(text, width - 7)):
            lines.append(((f"{'' if number else title:<7}", "dim"), (line, role)))
    del lines[max(0, height) :]
    talk = break_talk(table, width)
    talk = cut_talk(table, talk, max(0, min(_MOST_TALK, len(talk), height - len(lines) - 1)))
    return [*lines, *([()] if talk else []), *(((part, "dim"),) for _, part in talk)], [line for line, _ in talk]
