"""What somebody wants in a room, carried out: the one executor, for typed lines, commands, keys and clicks alike.

An intent comes in, an `Outcome` goes out; refusals are outcomes too. What the server does about it is told by the
states that follow, not here. Without a connection what is known is answered at once, and one move is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from tictactoe_client.files.saving import save_game
from tictactoe_client.input.columns import describe_full_column, landing_cell
from tictactoe_client.input.intents import (
    BadInput,
    Intent,
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
from tictactoe_client.input.parser import parse_intent
from tictactoe_client.input.timeline import Timeline
from tictactoe_client.online.errors import Interrupted, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.aloud import list_marks, list_moves, read_aloud
from tictactoe_client.text.answers import answer_query, draw_board
from tictactoe_client.text.muted import Muted
from tictactoe_client.text.offers import OfferKind, cost_of_going, open_offers
from tictactoe_client.text.wording import (
    GAME_IS_OVER,
    MOST_FREE_AFTER_MISTAKE,
    ONLY_PLAYERS_MOVE,
    describe_cell,
    describe_turn,
    list_free,
    name_of,
    seat_of,
)
from tictactoe_client.text.worth import review_position
from tictactoe_engine import format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import OfferAction

_WITH_FREE_CELLS: Final = frozenset({"occupied", "blocked", "floating"})
_GIVING_UP: Final[frozenset[VerbKind]] = frozenset({"resign", "leave", "quit", "new"})
_SAME: Final[dict[VerbKind, tuple[VerbKind, ...]]] = {"leave": ("leave", "quit"), "quit": ("leave", "quit")}
"""Words that ask for one and the same: the one answers the question about the other."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to tell at once, and where the person wants to go, None to stay; `asks` is a question that stands open."""

    lines: tuple[str, ...] = ()
    going: Literal["leave", "new"] | None = None
    asks: VerbKind | None = None


@dataclass(frozen=True, slots=True)
class KeptMove:
    """A cell to be played when the connection is back, if then as many moves of the same game lie on the board."""

    cell: int
    game: int
    ply: int


class Actions:
    """The actions of one person, `viewer`, in one room; `timeline` is what they look at of its game.

    On the screen (`shows`) a moment that is looked at is seen and not told, who plays sees the present, and what gives
    the game up is asked about by the screen; elsewhere it must be typed twice. Where lines are `piped` in, whoever
    wrote them does not read along: moves out of turn are then told once in each position. `unblamed` are those of whom
    it is not said that they have dropped, `muted` those of whom nothing is heard. `aborts` as for `cost_of_going`.
    """

    def __init__(
        self,
        room: Room,
        settings: Settings,
        viewer: str,
        *,
        muted: Muted | None = None,
        shows: bool = False,
        piped: bool = False,
        aborts: bool = False,
    ) -> None:
        self.timeline = Timeline()
        self.kept: KeptMove | None = None
        self.muted = Muted(viewer) if muted is None else muted
        self.unblamed: frozenset[str] = frozenset()
        self._room = room
        self._settings = settings
        self._viewer = viewer
        self._shows = shows
        self._piped = piped
        self._aborts = aborts
        self._asked: VerbKind | None = None
        self._refused_at: tuple[int, int] | None = None
        self._declined: set[str] = set()
        self._offers: set[OfferKind] = set()
        self._came_meanwhile: set[OfferKind] = set()

    # -- in ---------------------------------------------------------------------------------------------------------

    async def do_line(self, line: str, state: RoomState) -> Outcome:
        """Carry a typed line out; raises `ConnectionLost` and nothing else."""
        intent = self._parse(line, state)
        if isinstance(intent, BadInput):
            self._asked = None
            return _refuse(intent)
        return await self.do(intent, state)

    async def do(self, intent: Intent, state: RoomState) -> Outcome:
        """Carry one intent out; raises `ConnectionLost` and nothing else, since refusals are outcomes."""
        asked, self._asked = self._asked, None
        try:
            return await self._carry_out(intent, state, asked)
        except BadInput as bad:
            return _refuse(bad)
        except Interrupted as interrupted:
            return Outcome((interrupted.message,))
        except Refused as refused:
            return self._answer_refusal(refused, self._room.state or state)

    def do_line_offline(
        self, line: str, state: RoomState, moves: Sequence[int] | None, *, is_sending: bool = False
    ) -> Outcome:
        """Answer a line while there is no connection, and keep a move that may be played.

        `moves` are all of the game, None where they are not known. With `is_sending` an earlier line still waits for
        its answer.
        """
        intent = self._parse(line, state)
        match intent:
            case BadInput():
                return _refuse(intent)
            case Nothing():
                return Outcome((f"There is no connection. {describe_turn(state, self._viewer)}",))
            case Place():
                return Outcome((self._keep(intent.cell, state, is_sending=is_sending),))
            case Query() | Read() | Marks():
                return self._answer(intent, state)
            case Moves() if moves is not None:
                return Outcome((list_moves(state, moves, intent.count),))
            case Look() if moves is not None and (not intent.may_be_no or self._is_n_a_step(state)):
                return self._look(intent, state, moves)
            case _:
                word = clean_text(line.strip().lstrip("/:").split()[0])
                return Outcome((f"There is no connection: type {word} again when it is back.",))

    async def play_kept(self, state: RoomState) -> Outcome:
        """Play the move that was kept, where the game still stands as it did."""
        kept, self.kept = self.kept, None
        if kept is None:
            return Outcome()
        if state.status == "playing" and (kept.game, kept.ply) == (state.game, state.ply):
            return await self.do(Place(kept.cell), state)
        name = format_cell(kept.cell, state.rules.to_rules())
        return Outcome((f"{name} is not played: the game has gone on without it.",))

    def follow(self, state: RoomState) -> None:
        """Take note of a state that is told: which of its offers came while one looked back."""
        offers = set(open_offers(state, self._viewer))
        came, self._offers = offers - self._offers, offers
        self._came_meanwhile &= offers
        if self._is_back(state):
            self._came_meanwhile |= came

    def take_declined(self, state: RoomState) -> frozenset[str]:
        """Return the offers that we declined or withdrew and that this state has no more; each once."""
        ended = frozenset(kind for kind in self._declined if getattr(state.offers, kind) is None)
        self._declined -= ended
        return ended

    def _parse(self, line: str, state: RoomState) -> Intent | BadInput:
        settings, plays = self._settings, seat_of(state, self._viewer) is not None
        try:
            rules = state.rules.to_rules()
            return parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=plays)
        except BadInput as bad:
            return bad

    async def _carry_out(self, intent: Intent, state: RoomState, asked: VerbKind | None) -> Outcome:
        match intent:
            case Nothing():
                return Outcome((describe_turn(state, self._viewer),))
            case Place():
                return await self._place(intent.cell, state)
            case Query() | Read() | Marks():
                return self._answer(intent, state)
            case Moves():
                return Outcome((list_moves(state, await self._room.sync(), intent.count),))
            case Look() if intent.may_be_no and self._means_no(state, asked):
                return await self._do_verb(Verb("no"), state, asked)
            case Look():
                return self._look(intent, state, await self._room.sync())
            case Weigh():
                return Outcome(tuple(await self._weigh(intent.ply, state)))
            case Say():
                await self._room.chat(intent.text)
                return Outcome()
            case Mute():
                return Outcome((self._mute(intent, state),))
            case Save():
                return Outcome((await save_game(intent.file, state, self._room),))
            case Verb():
                return await self._do_verb(intent, state, asked)
            case _:
                assert_never(intent)

    # -- questions --------------------------------------------------------------------------------------------------

    def _answer(self, question: Query | Read | Marks, state: RoomState) -> Outcome:
        return Outcome(tuple(answer_question(question, state, self._viewer, self._settings, self.unblamed)))

    async def _weigh(self, ply: int | None, state: RoomState) -> list[str]:
        """Return what a position is worth, where its other moves lead, and whether the move before it was good."""
        room, rules = self._room, state.rules.to_rules()
        after, moves = await room.analyse(ply), await room.sync()
        if not 0 < after.ply <= len(moves):
            return review_position(after, None, None, rules)
        return review_position(after, await room.analyse(after.ply - 1), moves[after.ply - 1], rules)

    def _mute(self, intent: Mute, state: RoomState) -> str:
        if not intent.name:
            return self.muted.describe()
        return self.muted.mute(intent.name, state) if intent.is_muted else self.muted.unmute(intent.name)

    # -- looking back -----------------------------------------------------------------------------------------------

    def _look(self, look: Look, state: RoomState, moves: Sequence[int]) -> Outcome:
        """Go where the words say, and tell what is to be seen there where it is not shown."""
        if self._shows and self._is_live(state):
            return Outcome(("While you play, the board shows the present.",))
        self.timeline = self.timeline.follow(state.game, moves)
        there, count = self.timeline.find(look), len(moves)
        if look.kind == "at" and there > count:
            return Outcome((f"There is no move {there}: 0 to {count}.",))
        if not 0 <= there <= count and not self._shows:
            edge = "This is the latest move: p goes back." if there > count else "This is the start: n goes on."
            return Outcome((edge,))
        self.timeline = self.timeline.jump(there)
        return Outcome() if self._shows else Outcome(tuple(self._describe_moment(look, state)))

    def _describe_moment(self, look: Look, state: RoomState) -> list[str]:
        """Return the move that led to the moment that is looked at, and its board where boards are drawn or wanted."""
        timeline, told = self.timeline, "The start."
        if timeline.here:
            cell = timeline.moves[timeline.here - 1]
            who, where = name_of(state, state.board[cell]), describe_cell(cell, state.rules.to_rules())
            told = f"Move {timeline.here} of {len(timeline.moves)}: {who} plays {where}."
        is_drawn = look.kind == "at" or self._settings.draws_board
        lines = [told, *(draw_board(timeline.show(state), self._settings) if is_drawn else ())]
        return [*lines, describe_turn(state, self._viewer)] if look.kind == "live" else lines

    def _is_back(self, state: RoomState) -> bool:
        ply = self.timeline.ply
        return ply is not None and self.timeline.game == state.game and ply < state.ply

    def _is_n_a_step(self, state: RoomState) -> bool:
        """Tell whether ``n`` goes a move on, whatever was asked: one looks back, or did when an open offer came."""
        return self._is_back(state) or bool(self._came_meanwhile)

    def _means_no(self, state: RoomState, asked: VerbKind | None) -> bool:
        """Tell whether ``n`` means no: to our own question, and in a game while one does not step through its moves."""
        if asked is not None or self._is_n_a_step(state):
            return asked is not None
        return bool(open_offers(state, self._viewer)) or self._is_live(state)

    # -- moves ------------------------------------------------------------------------------------------------------

    async def _place(self, cell: int, state: RoomState) -> Outcome:
        if seat_of(state, self._viewer) is None:
            return Outcome((ONLY_PLAYERS_MOVE,))
        target = landing_cell(state, cell) if state.rules.gravity else cell
        if target is None and self._is_live(state):
            return Outcome((describe_full_column(state, cell),))
        await self._room.move(cell if target is None else target, ply=state.ply)
        return Outcome()

    def _keep(self, cell: int, state: RoomState, *, is_sending: bool) -> str:
        """Keep a move for the return of the connection, or return why not."""
        own = seat_of(state, self._viewer)
        if own is None:
            return ONLY_PLAYERS_MOVE
        if state.status == "over":
            return GAME_IS_OVER
        if state.turn != own:
            return describe_turn(state, self._viewer)
        if is_sending:
            return "What you typed before is still on its way: wait for the connection."
        rules = state.rules.to_rules()
        if self.kept is not None:
            waiting = format_cell(self.kept.cell, rules)
            return f"{waiting} is kept already: it is played when the connection is back."
        target = landing_cell(state, cell) if state.rules.gravity else cell
        if target is None:
            return describe_full_column(state, cell)
        name = format_cell(target, rules)
        if state.board[target] != ".":
            why = "blocked" if state.board[target] == "#" else f"taken by {state.board[target]}"
            return f"{name} is {why}. {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        self.kept = KeptMove(target, state.game, state.ply)
        return f"{name} is kept: it is played when the connection is back."

    # -- the game and the room --------------------------------------------------------------------------------------

    async def _do_verb(self, verb: Verb, state: RoomState, asked: VerbKind | None) -> Outcome:
        kind = verb.kind
        if kind in ("yes", "no") and asked is None:
            return await self._answer_offer(state, accepts=kind == "yes")
        if kind == "no":
            return Outcome(("All right, the game goes on.",))
        if kind == "yes" and asked is not None:
            kind = asked
        elif self._asks_back(kind, asked) and self._is_live(state):
            return self._ask_back(kind, state)
        if kind in ("leave", "quit"):
            return Outcome(going="leave")
        if kind == "new":
            return Outcome(going="new")
        await self._request(kind, verb.argument, state)
        return Outcome()

    def _asks_back(self, kind: VerbKind, asked: VerbKind | None) -> bool:
        is_new = kind in _GIVING_UP and asked not in _SAME.get(kind, (kind,))
        return is_new and self._settings.asks and not self._shows

    def _ask_back(self, kind: VerbKind, state: RoomState) -> Outcome:
        self._asked = kind
        cost = cost_of_going(state, self._viewer, aborts=self._aborts)
        loses = "Resign" if kind == "resign" else f"Leave and {cost or 'lose'} this game"
        again = "leave or yes" if kind == "quit" else f"{kind} again, or yes,"
        return Outcome((f"{loses}? Type {again} to do it; anything else plays on.",), asks=kind)

    async def _request(self, kind: VerbKind, argument: str, state: RoomState) -> None:
        room = self._room
        if kind == "resign":
            await room.resign()
        elif kind == "rematch":
            await room.rematch()
        elif kind == "draw" or kind == "undo":
            await self._offer(kind, argument, state)
        else:
            await room.claim("draw" if argument == "draw" else "win")

    async def _answer_offer(self, state: RoomState, *, accepts: bool) -> Outcome:
        """Answer the one offer that waits for it; on the screen, where a key does that, also withdraw one's own."""
        offers, own = open_offers(state, self._viewer), self._find_own_offer(state)
        if not offers and own is not None and accepts:
            return Outcome(("That is your own offer: the other side answers it.",))
        if not offers and (own is None or not self._shows):
            return Outcome((f"Nothing was asked. {describe_turn(state, self._viewer)}",))
        if len(offers) > 1 and not self._shows:
            word = "accept" if accepts else "decline"
            return Outcome((f"To which? Type {' or '.join(f'{kind} {word}' for kind in offers)}.",))
        kind = offers[0] if offers else own
        if kind == "rematch" and not accepts:
            return Outcome(("A rematch is refused by going: type leave, or new for another opponent.",))
        await self._request(kind or "draw", "accept" if accepts else "decline", state)
        return Outcome()

    def _find_own_offer(self, state: RoomState) -> Literal["draw", "undo"] | None:
        own = seat_of(state, self._viewer)
        if own is None:
            return None
        return "draw" if state.offers.draw == own else "undo" if state.offers.undo == own else None

    async def _offer(self, kind: Literal["draw", "undo"], argument: str, state: RoomState) -> None:
        """Make, answer or withdraw an offer, and remember which of them we put an end to."""
        action = self._offer_action(kind, argument, state)
        if action == "decline":
            self._declined.add(kind)
        try:
            await (self._room.draw(action) if kind == "draw" else self._room.undo(action))
        except Refused:
            self._declined.discard(kind)
            raise

    def _offer_action(self, kind: Literal["draw", "undo"], argument: str, state: RoomState) -> OfferAction:
        """Return what a bare ``draw`` or ``undo`` means: accept the other's offer where there is one, else offer."""
        offered_by = state.offers.draw if kind == "draw" else state.offers.undo
        own = seat_of(state, self._viewer)
        if argument == "withdraw" and (own is None or offered_by != own):
            what = "offered no draw" if kind == "draw" else "asked for nothing back"
            raise BadInput("bad_input", f"You have {what}.")
        if argument in ("decline", "no", "withdraw"):
            return "decline"
        others = offered_by is not None and offered_by != own
        return "accept" if others or argument in ("accept", "yes") else "offer"

    def _is_live(self, state: RoomState) -> bool:
        return state.status == "playing" and seat_of(state, self._viewer) is not None

    # -- refusals ---------------------------------------------------------------------------------------------------

    def _answer_refusal(self, refused: Refused, state: RoomState) -> Outcome:
        told = self._explain(refused, state)
        if not self._piped or refused.code != "not_your_turn":
            return Outcome((told,))
        is_first, is_known = self._refused_at is None, self._refused_at == (state.game, state.ply)
        self._refused_at = (state.game, state.ply)
        hint = ("Moves are not kept for later: type each when it is its turn; for scripts see --json.",)
        return Outcome() if is_known else Outcome((told, *(hint if is_first else ())))

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


def answer_question(
    question: Query | Read | Marks, state: RoomState, viewer: str, settings: Settings, unblamed: Collection[str] = ()
) -> list[str]:
    """Return what a state says to a question; `unblamed` are those of whom it is not said that they have dropped."""
    match question:
        case Query():
            return answer_query(question.kind, state, viewer, settings, unblamed)
        case Read():
            return read_aloud(question.kind, question.index, state)
        case Marks():
            return list_marks(state, question.mark)
        case _:
            assert_never(question)


def _refuse(bad: BadInput) -> Outcome:
    return Outcome((clean_text(bad.message),))
