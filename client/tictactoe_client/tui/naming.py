"""The question what one is called, before the first game of one who never chose a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tictactoe_client.files.players import GUEST
from tictactoe_client.input.names import propose_name
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.question import Question
from tictactoe_protocol import BadName, parse_name
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.text import MAX_NAME_LENGTH

if TYPE_CHECKING:
    from tictactoe_client.tui.ways_in import Around


def asks_name_first(program: Around, choice: Choice) -> bool:
    """Ask for a name where one has none and is not on the way back to a seat; tell whether that is asked now.

    Whatever is answered one then has a name, if only the proposed one, and says hello again by it.
    """
    session, client = program.session, program.session.client
    if client is None or session.identity.name is not None or not client.name.startswith(GUEST):
        return False
    if choice.way == "watch" or any(seat.room == choice.code for seat in client.welcome.rooms):
        return False
    proposed = session.identity.players.find_name() or propose_name()

    def ask(text: str, why: str = "") -> None:
        question = Question(f"{why}{say('name question')}", text, limit=MAX_NAME_LENGTH, anew=True)
        program.push_screen(question, take)

    def take(typed: str | None) -> None:
        try:
            program.take_name(parse_name(typed or proposed))
        except BadName as bad:
            ask(typed or "", f"{bad.message}\n")

    ask(proposed)
    return True
