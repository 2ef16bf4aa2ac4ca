"""One typed line carried out: understood, asked back about where it costs the game, sent to the server, answered.

It holds only the question that stands open. States and the room are handed in; what the server does about it is
told by the states that follow, not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from tictactoe_client.errors import Interrupted, Refused
from tictactoe_client.guide import answer_query
from tictactoe_client.intents import (
    BadInput,
    Marks,
    Moves,
    Nothing,
    Place,
    Query,
    Read,
    Save,
    Say,
    Verb,
    VerbKind,
    Weigh,
)
from tictactoe_client.parsing import parse_intent
from tictactoe_client.reading import list_marks, list_moves, read_aloud
from tictactoe_client.room import Room
from tictactoe_client.saving import save_game
from tictactoe_client.settings import Settings
from tictactoe_client.wording import describe_turn, list_free, seat_of
from tictactoe_client.worth import describe_position
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import OfferAction

MOST_FREE_AFTER_MISTAKE = 9
_WITH_FREE_CELLS = frozenset({"occupied", "blocked", "floating"})
_GIVING_UP: frozenset[VerbKind] = frozenset({"resign", "leave", "quit", "new"})

Going = Literal["leave", "new"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What to print at once, and where the person wants to go, None to stay."""

    lines: tuple[str, ...] = ()
    going: Going | None = None


class Dialogue:
    """The conversation of one person about one room after another; `viewer` is their public id.

    With `asks_back` what gives the game up must be typed twice; the full screen asks in its own way.
    """

    def __init__(self, settings: Settings, viewer: str, *, asks_back: bool = True) -> None:
        self._asks_back = asks_back and settings.asks
        self._settings = settings
        self._viewer = viewer
        self._asked: VerbKind | None = None

    async def answer(self, line: str, state: RoomState, room: Room) -> Answer:
        """Carry one line out; raises `ConnectionLost` and nothing else, since refusals are answers."""
        asked, self._asked = self._asked, None
        settings = self._settings
        try:
            intent = parse_intent(line, state.rules.to_rules(), keys=settings.keys, coordinates=settings.coordinates)
            match intent:
                case Nothing():
                    return self._tell_turn(state)
                case Place():
                    return await self._place(intent.cell, state, room)
                case Query():
                    return Answer(tuple(answer_query(intent.kind, state, self._viewer, settings)))
                case Read():
                    return Answer(tuple(read_aloud(intent.kind, intent.index, state)))
                case Marks():
                    return Answer(tuple(list_marks(state, intent.mark)))
                case Moves():
                    return Answer((list_moves(state, await room.sync(), intent.count),))
                case Weigh():
                    return Answer(tuple(await self._weigh(intent.ply, state, room)))
                case Say():
                    await room.chat(intent.text)
                    return Answer()
                case Save():
                    return Answer((await save_game(intent.file, state, room),))
                case Verb():
                    return await self._do(intent, state, room, asked)
                case _:
                    assert_never(intent)
        except BadInput as bad:
            return Answer((clean_text(bad.message),))
        except Interrupted as interrupted:
            return Answer((interrupted.message,))
        except Refused as refused:
            return Answer((self._explain(refused, room.state or state),))

    async def _weigh(self, ply: int | None, state: RoomState, room: Room) -> list[str]:
        """Return what a position is worth, where its other moves lead, and whether the move before it was good."""
        after, moves, rules = await room.analyse(ply), await room.sync(), state.rules.to_rules()
        if not 0 < after.ply <= len(moves):
            return describe_position(after, None, None, rules)
        return describe_position(after, await room.analyse(after.ply - 1), moves[after.ply - 1], rules)

    async def _place(self, cell: int, state: RoomState, room: Room) -> Answer:
        if seat_of(state, self._viewer) is None:
            return Answer(("You are watching: only players move.",))
        await room.move(cell, ply=state.ply)
        return Answer()

    async def _do(self, verb: Verb, state: RoomState, room: Room, asked: VerbKind | None) -> Answer:
        kind = verb.kind
        if kind == "no" or (kind == "yes" and asked is None):
            return Answer(("All right, the game goes on.",)) if asked else self._tell_turn(state)
        if kind == "yes" and asked is not None:
            kind = asked
        elif kind in _GIVING_UP and asked != kind and self._asks_back and self._is_live(state):
            self._asked = kind
            loses = "Resign" if kind == "resign" else "Leave and lose this game"
            return Answer((f"{loses}? Type {kind} again to do it, anything else to play on.",))
        if kind in ("leave", "quit"):
            return Answer(going="leave")
        if kind == "new":
            return Answer(going="new")
        await self._request(kind, verb.argument, state, room)
        return Answer()

    async def _request(self, kind: VerbKind, argument: str, state: RoomState, room: Room) -> None:
        if kind == "resign":
            await room.resign()
        elif kind == "rematch":
            await room.rematch()
        elif kind == "draw":
            await room.draw(self._offer_action(argument, state.offers.draw, state))
        elif kind == "undo":
            await room.undo(self._offer_action(argument, state.offers.undo, state))
        elif argument in ("", "win", "draw"):
            await room.claim("draw" if argument == "draw" else "win")
        else:
            raise BadInput("bad_input", f'I don\'t know "{argument}" here. Type claim, claim win or claim draw.')

    def _offer_action(self, argument: str, offered_by: str | None, state: RoomState) -> OfferAction:
        """Return what a bare ``draw`` or ``undo`` means: accept the other's offer where there is one, else offer."""
        if argument in ("decline", "no", "withdraw"):
            return "decline"
        if argument not in ("", "offer", "accept", "yes"):
            raise BadInput("bad_input", f'I don\'t know "{argument}" here. Type accept, decline or withdraw after it.')
        others = offered_by is not None and offered_by != seat_of(state, self._viewer)
        return "accept" if others or argument in ("accept", "yes") else "offer"

    def _is_live(self, state: RoomState) -> bool:
        return state.status == "playing" and seat_of(state, self._viewer) is not None

    def _tell_turn(self, state: RoomState) -> Answer:
        return Answer((describe_turn(state, self._viewer),))

    def _explain(self, refused: Refused, state: RoomState) -> str:
        """Return a refusal for people: our own words where the code says all, else the server's."""
        if refused.code == "not_your_turn" and state.turn != seat_of(state, self._viewer):
            return describe_turn(state, self._viewer)
        if refused.code == "game_over":
            return "The game is over. rematch, new or leave."
        message = clean_text(refused.message)
        if refused.code in _WITH_FREE_CELLS:
            return f"{message} {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        return message
