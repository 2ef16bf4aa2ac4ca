"""Typed lines while the connection is lost: what is known is answered at once, and one move is kept for the return.

Nothing here waits. What needs the server is refused with a word, so that nobody types into silence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tictactoe_client.input.falling import describe_full_column, landing_cell
from tictactoe_client.input.intents import BadInput, Look, Marks, Moves, Nothing, Place, Query, Read
from tictactoe_client.input.parsing import parse_intent
from tictactoe_client.input.questions import answer_question
from tictactoe_client.input.stepping import Stepping
from tictactoe_client.settings import Settings
from tictactoe_client.text.reading import list_moves
from tictactoe_client.text.wording import (
    GAME_IS_OVER,
    MOST_FREE_AFTER_MISTAKE,
    ONLY_PLAYERS_MOVE,
    describe_turn,
    list_free,
    seat_of,
)
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState


@dataclass(frozen=True, slots=True)
class KeptMove:
    """A cell to be played when the connection is back, if then as many moves of the same game lie on the board."""

    cell: int
    game: int
    ply: int


class Offline:
    """The lines of one person, `viewer`, without a connection; `kept` is the move that waits for it, or None.

    `stepping` is where they look in the game.
    """

    def __init__(self, settings: Settings, viewer: str, stepping: Stepping) -> None:
        self.kept: KeptMove | None = None
        self._settings = settings
        self._viewer = viewer
        self._stepping = stepping

    def answer(
        self,
        line: str,
        state: RoomState,
        moves: Sequence[int] | None,
        unblamed: Collection[str] = (),
        *,
        is_sending: bool = False,
    ) -> list[str]:
        """Return what to say to a line at once; a move that may be played is kept.

        `moves` are all of the game, None where they are not known; `unblamed` as for `describe_company`. With
        `is_sending` an earlier line still waits for its answer.
        """
        settings = self._settings
        try:
            rules, plays = state.rules.to_rules(), seat_of(state, self._viewer) is not None
            intent = parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=plays)
        except BadInput as bad:
            return [clean_text(bad.message)]
        match intent:
            case Nothing():
                return [f"There is no connection. {describe_turn(state, self._viewer)}"]
            case Place():
                return [self._keep(intent.cell, state, is_sending=is_sending)]
            case Query() | Read() | Marks():
                return answer_question(intent, state, self._viewer, settings, unblamed)
            case Moves() if moves is not None:
                return [list_moves(state, moves, intent.count)]
            case Look() if moves is not None and (not intent.may_be_no or self._stepping.is_n_a_step(state)):
                return self._stepping.look(intent, state, moves)
            case _:
                word = clean_text(line.strip().lstrip("/:").split()[0])
                return [f"There is no connection: type {word} again when it is back."]

    def take_kept(self, state: RoomState) -> tuple[int | None, list[str]]:
        """Return the cell to be played now, if the game still stands as it did, else what to say of it."""
        kept, self.kept = self.kept, None
        if kept is None:
            return None, []
        if state.status == "playing" and (kept.game, kept.ply) == (state.game, state.ply):
            return kept.cell, []
        name = format_cell(kept.cell, state.rules.to_rules())
        return None, [f"{name} is not played: the game has gone on without it."]

    def _keep(self, cell: int, state: RoomState, *, is_sending: bool) -> str:
        """Keep a move, or return why not."""
        own = seat_of(state, self._viewer)
        if own is None:
            return ONLY_PLAYERS_MOVE
        if state.status == "over":
            return GAME_IS_OVER
        if state.turn != own:
            return describe_turn(state, self._viewer)
        if is_sending:
            return "What you typed before is still on its way: wait for the connection."
        if self.kept is not None:
            waiting = format_cell(self.kept.cell, state.rules.to_rules())
            return f"{waiting} is kept already: it is played when the connection is back."
        target = landing_cell(state, cell) if state.rules.gravity else cell
        if target is None:
            return describe_full_column(state, cell)
        cell, name = target, format_cell(target, state.rules.to_rules())
        if state.board[cell] != ".":
            why = "blocked" if state.board[cell] == "#" else f"taken by {state.board[cell]}"
            return f"{name} is {why}. {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        self.kept = KeptMove(cell, state.game, state.ply)
        return f"{name} is kept: it is played when the connection is back."
