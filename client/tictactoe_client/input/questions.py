"""The answers to what is asked about a position, in a game, without a connection and in a replay alike. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from tictactoe_client.input.intents import Marks, Query, Read
from tictactoe_client.settings import Settings
from tictactoe_client.text.guide import answer_query
from tictactoe_client.text.reading import list_marks, read_aloud
from tictactoe_protocol.pushes import RoomState


def answer_question(
    question: Query | Read | Marks,
    state: RoomState,
    viewer: str,
    settings: Settings,
    unblamed: Collection[str] = (),
) -> list[str]:
    """Return what the state says to it; `unblamed` are those of whom it is not said that they have dropped."""
    match question:
        case Query():
            return answer_query(question.kind, state, viewer, settings, unblamed)
        case Read():
            return read_aloud(question.kind, question.index, state)
        case Marks():
            return list_marks(state, question.mark)
        case _:
            assert_never(question)
