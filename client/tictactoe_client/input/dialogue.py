"""One typed line carried out: understood, asked back about where it costs the game, sent to the server, answered.

It holds only the question that stands open. States and the room are handed in; what the server does about it is
told by the states that follow, not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from tictactoe_client.files.saving import save_game
from tictactoe_client.input.falling import describe_full_column, landing_cell
from tictactoe_client.input.intents import (
    BadInput,
    Look,
    Marks,
    Moves,
    Mute,
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
from tictactoe_client.input.parsing import parse_intent
from tictactoe_client.input.questions import answer_question
from tictactoe_client.input.stepping import Stepping
from tictactoe_client.online.errors import Interrupted, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.choices import cost_of_going, open_offers
from tictactoe_client.text.muting import Muted
from tictactoe_client.text.reading import list_moves
from tictactoe_client.text.wording import (
    GAME_IS_OVER,
    MOST_FREE_AFTER_MISTAKE,
    ONLY_PLAYERS_MOVE,
    describe_turn,
    list_free,
    seat_of,
)
from tictactoe_client.text.worth import review_position
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import OfferAction

_WITH_FREE_CELLS = frozenset({"occupied", "blocked", "floating"})
_GIVING_UP: frozenset[VerbKind] = frozenset({"resign", "leave", "quit", "new"})
_SAME: dict[VerbKind, tuple[VerbKind, ...]] = {"leave": ("leave", "quit"), "quit": ("leave", "quit")}
"""Words that ask for one and the same: the one answers the question about the other."""

Going = Literal["leave", "new"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What to print at once, and where the person wants to go, None to stay."""

    lines: tuple[str, ...] = ()
    going: Going | None = None


class Dialogue:
    """The conversation of one person about one room after another; `viewer` is their public id.

    With `asks_back` what gives the game up must be typed twice; the full screen asks in its own way. Where lines are
    `piped` in, whoever wrote them does not read along: moves out of turn are then told once in each position.
    `unblamed` are those of whom it is not said that they have dropped, `muted` those of whom nothing is heard. `aborts`
    as for `cost_of_going`.
    """

    def __init__(
        self, settings: Settings, viewer: str, *, asks_back: bool = True, piped: bool = False, aborts: bool = False
    ) -> None:
        self._aborts = aborts
        self._piped = piped
        self._refused_at: tuple[int, int] | None = None
        self._asks_back = asks_back and settings.asks
        self._settings = settings
        self._viewer = viewer
        self._asked: VerbKind | None = None
        self._declined: set[str] = set()
        self.unblamed: frozenset[str] = frozenset()
        self.stepping = Stepping(settings, viewer)
        self.muted = Muted(viewer)

    async def answer(self, line: str, state: RoomState, room: Room) -> Answer:
        """Carry one line out; raises `ConnectionLost` and nothing else, since refusals are answers."""
        asked, self._asked = self._asked, None
        settings = self._settings
        try:
            rules, plays = state.rules.to_rules(), seat_of(state, self._viewer) is not None
            intent = parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=plays)
            match intent:
                case Nothing():
                    return self._tell_turn(state)
                case Place():
                    return await self._place(intent.cell, state, room)
                case Query() | Read() | Marks():
                    return Answer(tuple(answer_question(intent, state, self._viewer, settings, self.unblamed)))
                case Moves():
                    return Answer((list_moves(state, await room.sync(), intent.count),))
                case Look():
                    return await self._look(intent, state, room, asked)
                case Weigh():
                    return Answer(tuple(await self._weigh(intent.ply, state, room)))
                case Say():
                    await room.chat(intent.text)
                    return Answer()
                case Mute():
                    return Answer((self._mute(intent, state),))
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
            return self._answer_refusal(refused, room.state or state)

    def _mute(self, intent: Mute, state: RoomState) -> str:
        if not intent.name:
            return self.muted.describe()
        return self.muted.mute(intent.name, state) if intent.is_muted else self.muted.unmute(intent.name)

    async def play(self, cell: int, state: RoomState, room: Room) -> Answer:
        """Play a cell in the position of this state; raises `ConnectionLost` and nothing else."""
        try:
            return await self._place(cell, state, room)
        except Interrupted as interrupted:
            return Answer((interrupted.message,))
        except Refused as refused:
            return self._answer_refusal(refused, room.state or state)

    async def _look(self, look: Look, state: RoomState, room: Room, asked: VerbKind | None) -> Answer:
        if look.may_be_no and self._means_no(state, asked):
            return await self._do(Verb("no"), state, room, asked)
        return Answer(tuple(self.stepping.look(look, state, await room.sync())))

    def _means_no(self, state: RoomState, asked: VerbKind | None) -> bool:
        """Tell whether ``n`` means no: to our own question, and in a game while one does not step through its moves."""
        if asked is not None or self.stepping.is_n_a_step(state):
            return asked is not None
        return bool(open_offers(state, self._viewer)) or self._is_live(state)

    async def _weigh(self, ply: int | None, state: RoomState, room: Room) -> list[str]:
        """Return what a position is worth, where its other moves lead, and whether the move before it was good."""
        after, moves, rules = await room.analyse(ply), await room.sync(), state.rules.to_rules()
        if not 0 < after.ply <= len(moves):
            return review_position(after, None, None, rules)
        return review_position(after, await room.analyse(after.ply - 1), moves[after.ply - 1], rules)

    async def _place(self, cell: int, state: RoomState, room: Room) -> Answer:
        if seat_of(state, self._viewer) is None:
            return Answer((ONLY_PLAYERS_MOVE,))
        target = landing_cell(state, cell) if state.rules.gravity else cell
        if target is None and self._is_live(state):
            return Answer((describe_full_column(state, cell),))
        await room.move(cell if target is None else target, ply=state.ply)
        return Answer()

    async def _do(self, verb: Verb, state: RoomState, room: Room, asked: VerbKind | None) -> Answer:
        kind = verb.kind
        if kind in ("yes", "no") and asked is None:
            return await self._answer_offer(state, room, accepts=kind == "yes")
        if kind == "no":
            return Answer(("All right, the game goes on.",))
        if kind == "yes" and asked is not None:
            kind = asked
        elif kind in _GIVING_UP and asked not in _SAME.get(kind, (kind,)) and self._asks_back and self._is_live(state):
            self._asked = kind
            cost = cost_of_going(state, self._viewer, aborts=self._aborts)
            loses = "Resign" if kind == "resign" else f"Leave and {cost or 'lose'} this game"
            again = "leave or yes" if kind == "quit" else f"{kind} again, or yes,"
            return Answer((f"{loses}? Type {again} to do it; anything else plays on.",))
        if kind in ("leave", "quit"):
            return Answer(going="leave")
        if kind == "new":
            return Answer(going="new")
        await self._request(kind, verb.argument, state, room)
        return Answer()

    async def _answer_offer(self, state: RoomState, room: Room, *, accepts: bool) -> Answer:
        """Answer the one offer that waits for it."""
        offers = open_offers(state, self._viewer)
        if not offers:
            return Answer((f"Nothing was asked. {describe_turn(state, self._viewer)}",))
        if len(offers) > 1:
            word = "accept" if accepts else "decline"
            return Answer((f"To which? Type {' or '.join(f'{kind} {word}' for kind in offers)}.",))
        if offers[0] == "rematch" and not accepts:
            return Answer(("A rematch is refused by going: type leave, or new for another opponent.",))
        await self._request(offers[0], "accept" if accepts else "decline", state, room)
        return Answer()

    async def _offer(self, kind: Literal["draw", "undo"], argument: str, state: RoomState, room: Room) -> None:
        """Make, answer or withdraw an offer, and remember which of them we put an end to."""
        action = self._offer_action(kind, argument, state)
        if action == "decline":
            self._declined.add(kind)
        try:
            await (room.draw(action) if kind == "draw" else room.undo(action))
        except Refused:
            self._declined.discard(kind)
            raise

    def follow(self, state: RoomState) -> None:
        """Take note of a state that is told."""
        self.stepping.follow(state)

    def take_declined(self, state: RoomState) -> frozenset[str]:
        """Return the offers that we declined or withdrew and that this state has no more; each once."""
        ended = frozenset(kind for kind in self._declined if getattr(state.offers, kind) is None)
        self._declined -= ended
        return ended

    async def _request(self, kind: VerbKind, argument: str, state: RoomState, room: Room) -> None:
        if kind == "resign":
            await room.resign()
        elif kind == "rematch":
            await room.rematch()
        elif kind in ("draw", "undo"):
            await self._offer(kind, argument, state, room)
        else:
            await room.claim("draw" if argument == "draw" else "win")

    def _offer_action(self, kind: Literal["draw", "undo"], argument: str, state: RoomState) -> OfferAction:
        """Return what a bare ``draw`` or ``undo`` means: accept the other's offer where there is one, else offer."""
        offered_by = state.offers.draw if kind == "draw" else state.offers.undo
        own = seat_of(state, self._viewer)
        if argument == "withdraw" and (own is None or offered_by != own):
            raise BadInput(
                "bad_input", f"You have {'offered no draw' if kind == 'draw' else 'asked for nothing back'}."
            )
        if argument in ("decline", "no", "withdraw"):
            return "decline"
        others = offered_by is not None and offered_by != own
        return "accept" if others or argument in ("accept", "yes") else "offer"

    def _is_live(self, state: RoomState) -> bool:
        return state.status == "playing" and seat_of(state, self._viewer) is not None

    def _tell_turn(self, state: RoomState) -> Answer:
        return Answer((describe_turn(state, self._viewer),))

    def _answer_refusal(self, refused: Refused, state: RoomState) -> Answer:
        told = self._explain(refused, state)
        if not self._piped or refused.code != "not_your_turn":
            return Answer((told,))
        is_first, is_known = self._refused_at is None, self._refused_at == (state.game, state.ply)
        self._refused_at = (state.game, state.ply)
        hint = ("Moves are not kept for later: type each when it is its turn; for scripts see --json.",)
        return Answer() if is_known else Answer((told, *(hint if is_first else ())))

    def _explain(self, refused: Refused, state: RoomState) -> str:
        """Return a refusal for people: our own words where the code says all, else the server's."""
        if refused.code == "not_your_turn" and state.turn != seat_of(state, self._viewer):
            return describe_turn(state, self._viewer)
        if refused.code == "game_over":
            return GAME_IS_OVER
        message = clean_text(refused.message)
        if refused.code in _WITH_FREE_CELLS:
            return f"{message} {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        return message
