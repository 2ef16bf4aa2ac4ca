"""A room that waits for others, on the screen: how they get there, with a code to be photographed."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tictactoe_client.online.address import reachable_address
from tictactoe_client.text.help import invitation
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.desk import Desk
from tictactoe_client.tui.picture import Picture, measure, shorten, shorten_words, wrap
from tictactoe_client.tui.room.table import Table
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_players

LEAST: Final = (36, 10)
MOST: Final = (100, 28)
"""The size of the window that an invitation needs, and of the one that it can use."""
_LOW: Final = 16
"""Below this height no line of the invitation is left empty."""
_QUIET_ZONE: Final = 4


@lru_cache(maxsize=8)
def render_code(text: str) -> tuple[str, ...]:
    """Return a QR code as lines of half blocks, two modules high each, with its quiet zone; dark is foreground.

    To be drawn black on white, or it cannot be read.
    """
    import segno

    modules = [list(row) for row in segno.make(text, error="l", micro=False, boost_error=False).matrix]
    side = len(modules) + 2 * _QUIET_ZONE
    grid = [[0] * side for _ in range(side + side % 2)]
    for y, row in enumerate(modules):
        for x, module in enumerate(row):
            grid[y + _QUIET_ZONE][x + _QUIET_ZONE] = module
    blocks = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
    return tuple(
        "".join(blocks[bool(upper), bool(lower)] for upper, lower in zip(grid[y], grid[y + 1], strict=True))
        for y in range(0, len(grid), 2)
    )


def link_for_others(desk: Desk, table: Table) -> str:
    """Return the link to the room by an address that others can reach."""
    return reachable_address(desk.link.address).link_to(table.room.code)


def draw_invitation(picture: Picture, desk: Desk, table: Table, state: RoomState, bottom: int) -> int:
    """Draw how others get here, above this line, and what was said; return how many lines of that are in sight."""
    link = link_for_others(desk, table)
    has_code = table.hand.shows_code and desk.settings.colour and not desk.settings.ascii
    edge = _draw_code(picture, link) if has_code else picture.width - 1
    clock = describe_clock_in_words(state.time_control)
    picture.put(3, 2, shorten_words(_describe_company(state, table), edge - 3), "dim")
    picture.put(3, 3, shorten_words(f"{clock[:1].upper()}{clock[1:]}; {state.visibility}.", edge - 3), "dim")
    y = 4 if picture.height < _LOW else 5
    command = invitation(link)
    for title, text, role in (("Code", table.room.code, "title"), ("Link", link, ""), ("Or", command, "")):
        for number, line in enumerate(wrap(text, edge - 10)[: max(0, bottom - y)]):
            picture.put(3, y, "" if number else title, "dim")
            picture.put(10, y, line, role)
            y += 1
    space = max(0, min(3, bottom - y - 1))
    for number, line in enumerate(table.talk[-space:] if space else [], y + 1):
        picture.put(3, number, shorten(line, edge - 3), "dim")
    return space


def _describe_company(state: RoomState, table: Table) -> str:
    """Return who is in the room before the game begins."""
    company = describe_players(state, table.room.viewer)
    if table.room.seat is None:
        return f"You are watching. {company}"
    alone = sum(held is not None for held in state.seats.values()) == 1
    return f"You wait in a room of your own; you are {table.room.seat}." if alone else company


def _draw_code(picture: Picture, link: str) -> int:
    """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
    lines = render_code(link)
    x = picture.width - len(lines[0]) - 1
    if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
        return picture.width - 1
    for number, line in enumerate(lines):
        picture.put(x, 2 + number, line, "qr")
    return x - 1
