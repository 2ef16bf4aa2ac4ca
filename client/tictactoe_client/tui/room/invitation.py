"""What a room shows that waits for others: its code, its link, and both as a picture for a telephone."""

from __future__ import annotations

from typing import Final

from tictactoe_client.online.address import reachable_address
from tictactoe_client.text.programs import invitation
from tictactoe_client.text.qr import render_code
from tictactoe_client.text.wording import describe_clock_in_words
from tictactoe_client.tui.picture import Picture, measure, shorten_words, wrap
from tictactoe_client.tui.program import Program
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_client.tui.room.panel import Line, break_talk, cut_talk
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import describe_players

_LOW: Final = 10
"""Of so many lines of an invitation none is left empty."""
_MOST_TALK: Final = 3
"""How many lines of talk an invitation has."""


def link_for_others(program: Program, model: RoomModel) -> str:
    """Return the link to the room by an address that others can reach."""
    return reachable_address(program.link.cluster.given.first).link_to(model.room.code)


def draw_code(picture: Picture, link: str) -> int:
    """Draw the link as a code at the right where there is room; return the column where the room for text ends."""
    lines = render_code(link)
    x = picture.width - len(lines[0]) - 1
    if x < 11 + measure(link) or 2 + len(lines) > picture.height - 3:
        return picture.width - 1
    for number, line in enumerate(lines, 2):
        picture.put(x, number, line, "qr")
    return x - 1


def fill_invitation(
    model: RoomModel, state: RoomState, width: int, height: int, link: str
) -> tuple[list[Line], list[str]]:
    """Return at most so many lines on how others get here, and for each line of the talk what it is a part of."""
    company, clock = describe_players(state, model.room.viewer), describe_clock_in_words(state.time_control)
    if model.seat is None:
        company = say("invitation watcher", players=company)
    elif sum(held is not None for held in state.seats.values()) == 1:
        company = say("invitation own", mark=model.seat)
    facts = company, say(f"invitation {state.visibility}", clock=f"{clock[:1].upper()}{clock[1:]}")
    lines: list[Line] = [((shorten_words(fact, width), "dim"),) for fact in facts]
    lines += [()] if height > _LOW else []
    titles = (
        ("invitation code", model.room.code, "title"),
        ("invitation link", link, ""),
        ("invitation or", invitation(link), ""),
    )
    for title, text, role in titles:
        for number, line in enumerate(wrap(text, width - 7)):
            lines.append(((f"{'' if number else say(title):<7}", "dim"), (line, role)))
    del lines[max(0, height) :]
    talk = break_talk(model, width)
    talk = cut_talk(model, talk, max(0, min(_MOST_TALK, len(talk), height - len(lines) - 1)))
    return [*lines, *([()] if talk else []), *(((part, "dim"),) for _, part in talk)], [line for line, _ in talk]
