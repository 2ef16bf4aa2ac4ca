"""What somebody wants in a room, carried out: the one executor, for typed lines, commands, keys and clicks alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final, Literal

from tictactoe_client.files.records import save_game
from tictactoe_client.input.cells import describe_full_column, landing_cell
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb, VerbKind, parse_intent
from tictactoe_client.input.past import Past
from tictactoe_client.online.errors import Interrupted, Refused
from tictactoe_client.online.events import Offered, OfferKind, RoomEvent, Updated
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import answer_query, list_moves
from tictactoe_client.text.news import ask_before_going, describe_ways_on, open_offers
from tictactoe_client.text.talk import Muted
from tictactoe_client.text.wording import (
    MOST_FREE_AFTER_MISTAKE,
    NO_CONNECTION,
    ONLY_PLAYERS_MOVE,
    describe_turn,
    list_free,
)
from tictactoe_engine import BLOCKED, FREE, format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import OfferAction

_AFTERWARDS: Final = "Mistakes are told when the game is over."
_WITH_FREE_CELLS: Final = frozenset({"occupied", "blocked", "floating"})
_GIVING_UP: Final[frozenset[VerbKind]] = frozenset({"resign", "leave", "quit", "new"})
_LEAVING: Final = ("leave", "quit")
"""Words that ask for one and the same: the one answers the question about the other."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to tell at once, and where the person wants to go, None to stay."""

    lines: tuple[str, ...] = ()
    going: Literal["leave", "new"] | None = None


class Actions(Past):
    """What one person does in one room.

    What gives the game up must be typed twice; the screen (`shows`) asks about it itself. Where lines are `piped` in,
    moves out of turn are told once in each position. `unblamed` are those of whom it is not said that they have
    dropped, `muted` those of whom nothing is heard. `aborts` as for `cost_of_going`.
    """

    def __init__(
        self,
        room: Room,
        settings: Settings,
        *,
        muted: Muted | None = None,
        shows: bool = False,
        piped: bool = False,
        aborts: bool = False,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(room, settings, shows=shows, tell=tell)
        self.kept: Place | None = None
        self._kept_at = (0, 0)
        self.muted = Muted(room.viewer) if muted is None else muted
        self.unblamed: frozenset[str] = frozenset()
        self._piped = piped
        self.aborts = aborts
        self._asked: VerbKind | None = None
        self._refused_at: tuple[int, int] | None = None
        self._came_at = monotonic()
        self._came_meanwhile: set[OfferKind] = set()
        room.subscribe(self._hear)

    # -- in ---------------------------------------------------------------------------------------------------------

    async def do_line(self, line: str) -> Outcome:
        """Carry a typed line out; raises `ConnectionLost` and nothing else."""
        return await self.do(self.parse(line))

    async def do(self, intent: Intent | BadInput) -> Outcome:
        """Carry one intent out; raises `ConnectionLost` and nothing else, since refusals are outcomes."""
        (asked, self._asked), state = (self._asked, None), self._room.state
        try:
            return Outcome() if state is None else await self._carry_out(intent, state, asked)
        except (BadInput, Interrupted) as failed:
            return Outcome((clean_text(failed.message),))
        except Refused as refused:
            return Outcome() if state is None else self._answer_refusal(refused, state)

    def do_line_offline(self, line: str, *, is_sending: bool = False) -> Outcome:
        """Answer a line without a connection, and keep a move; with `is_sending` an earlier one is on its way."""
        state, intent = self._room.state, self.parse(line)
        if isinstance(intent, BadInput) or state is None:
            return Outcome((clean_text(intent.message),) if isinstance(intent, BadInput) else ())
        if isinstance(intent, Place):
            return Outcome((self._keep(intent.cell, state, is_sending=is_sending),))
        is_answer = isinstance(intent, Look) and self._means_no(intent, state, None)
        if not is_answer and (told := self._answer(intent, state)) is not None:
            prefix = f"{NO_CONNECTION} " if intent == Query("turn") else ""
            return Outcome((prefix + told[0], *told[1:]))
        words = line.strip().lstrip("/:").split()
        asked_for = words[0] if isinstance(intent, Verb) and intent.kind == "chat" else " ".join(words)
        return Outcome((f"{NO_CONNECTION[:-1]}: type {clean_text(asked_for)} again when it is back.",))

    def needs_nobody(self, line: str) -> bool:
        """Tell whether a line asks what the finished game was worth, for which there need be no connection."""
        match self.parse(line):
            case Query("value" | "mistakes") | Look("mistake"):
                return self.judge is not None
        return False

    async def play_kept(self) -> Outcome:
        """Play the move that was kept, where the game still stands as it did."""
        kept, self.kept, state = self.kept, None, self._room.state
        if kept is None or state is None:
            return Outcome()
        if state.status == "playing" and self._kept_at == (state.game, state.ply):
            return await self.do(kept)
        name = format_cell(kept.cell, state.rules.to_rules())
        return Outcome((f"{name} is not played: the game has gone on without it.",))

    def parse(self, line: str) -> Intent | BadInput:
        """Return what a typed line asks for, or why it cannot be understood."""
        settings, state = self._settings, self._room.state
        if state is None:
            return Query("turn")
        rules, plays = state.rules.to_rules(), self._room.seat is not None
        try:
            return parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=plays)
        except BadInput as bad:
            return bad

    async def _carry_out(self, intent: Intent | BadInput, state: RoomState, asked: VerbKind | None) -> Outcome:
        if isinstance(intent, BadInput):
            raise intent
        if isinstance(intent, Look) and self._means_no(intent, state, asked):
            intent = Verb("no")
        if (told := self._answer(intent, state)) is not None:
            return Outcome(tuple(told))
        match intent:
            case Place():
                await self._place(intent.cell, state)
                return Outcome()
            case Verb():
                return await self._do_verb(intent, state, asked)
            case Query("value"):
                return Outcome(tuple(await self.weigh(intent.number, state)))
            case Query("mistakes"):
                return Outcome(tuple(await self.list_mistakes(state)))
            case Look("mistake"):
                return Outcome(tuple(await self.look_at_mistake(intent.number, state)))
        raise BadInput("The moves of this game are not known.")

    # -- what is said at once ---------------------------------------------------------------------------------------

    def _answer(self, intent: Intent, state: RoomState) -> list[str] | None:
        """Return what is to be told without asking anybody, None where that is not enough."""
        knows_moves = self._room.knows_moves
        match intent:
            case Query("mistakes") | Look("mistake"):
                return [_AFTERWARDS] if self.judge is None else None
            case Query("value"):
                return None
            case Query("moves"):
                return [list_moves(state, self._room.moves, intent.number)] if knows_moves else None
            case Query():
                passed = monotonic() - self._came_at
                viewer, unblamed = self._room.viewer, self.unblamed
                return answer_query(intent.kind, intent.number, state, viewer, self._settings, unblamed, passed)
            case Look() if knows_moves:
                return self.look(intent, state)
            case Verb("mute", name):
                return [self.muted.mute(name, state) if name else self.muted.describe()]
            case Verb("unmute", name):
                return [self.muted.unmute(name)]
        return None

    def _hear(self, event: RoomEvent) -> None:
        """Follow the game; take note of what is offered while one looks back: then ``n`` is a step and no answer."""
        if isinstance(event, Offered) and self.timeline.is_back:
            self._came_meanwhile.add(event.kind)
        elif isinstance(event, Updated):
            self._came_at = monotonic()
            self.timeline = self.timeline.follow(event.state.game, self._room.moves)
            self._came_meanwhile &= set(open_offers(event.state, self._room.viewer))

    def _means_no(self, look: Look, state: RoomState, asked: VerbKind | None) -> bool:
        """Tell whether ``n`` means no: to our own question, and in a game while one does not step through its moves."""
        if not look.may_be_no or asked is not None:
            return look.may_be_no
        if self.timeline.is_back or self._came_meanwhile:
            return False
        return bool(open_offers(state, self._room.viewer)) or self._is_live(state)

    # -- moves ------------------------------------------------------------------------------------------------------

    async def _place(self, cell: int, state: RoomState) -> None:
        if self._room.seat is None:
            raise BadInput(ONLY_PLAYERS_MOVE)
        target = landing_cell(state, cell)
        if target is None and self._is_live(state):
            raise BadInput(describe_full_column(state, cell))
        await self._room.move(cell if target is None else target, ply=state.ply)

    def refuse_move(self, state: RoomState) -> str:
        """Return why we cannot move in this state, "" where we can."""
        if self._room.seat is None:
            return ONLY_PLAYERS_MOVE
        if state.status == "over":
            return self._describe_end(state)
        if state.status == "waiting":
            return "The game has not begun: a seat is free."
        if not self._room.plays:
            return "You are out of the game; the others play on."
        return "" if self._room.is_my_turn else describe_turn(state, self._room.viewer)

    def _keep(self, cell: int, state: RoomState, *, is_sending: bool) -> str:
        """Keep a move for the return of the connection, or return why not."""
        if why := self.refuse_move(state):
            return why
        if is_sending:
            return "What you typed before is still on its way: wait for the connection."
        rules, when = state.rules.to_rules(), "it is played when the connection is back"
        if self.kept is not None:
            return f"{format_cell(self.kept.cell, rules)} is kept already: {when}."
        target = landing_cell(state, cell)
        if target is None:
            return describe_full_column(state, cell)
        name = format_cell(target, rules)
        if state.board[target] != FREE:
            why = "blocked" if state.board[target] == BLOCKED else f"taken by {state.board[target]}"
            return f"{name} is {why}. {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        self.kept, self._kept_at = Place(target), (state.game, state.ply)
        return f"{name} is kept: {when}."

    # -- the game and the room --------------------------------------------------------------------------------------

    async def _do_verb(self, verb: Verb, state: RoomState, asked: VerbKind | None) -> Outcome:
        kind, may_ask = verb.kind, self._settings.asks and not self._shows and self._is_live(state)
        if kind in ("yes", "no") and asked is None:
            await self._answer_offer(state, accepts=kind == "yes")
            return Outcome()
        if kind == "no":
            return Outcome(("All right, the game goes on.",))
        if kind == "yes" and asked is not None:
            kind = asked
        elif may_ask and kind in _GIVING_UP and asked not in (_LEAVING if kind in _LEAVING else (kind,)):
            self._asked = kind
            question = ask_before_going(kind, state, self._room.viewer, aborts=self.aborts)
            again = "leave or yes" if kind == "quit" else f"{kind} again, or yes,"
            return Outcome((f"{question} Type {again} to do it; anything else plays on.",))
        if kind in _LEAVING:
            return Outcome(going="leave")
        if kind == "new":
            return Outcome(going="new")
        if kind == "save":
            return Outcome((await save_game(verb.argument, state, self._room),))
        await self._request(kind, verb.argument, state)
        return Outcome()

    async def _request(self, kind: VerbKind, argument: str, state: RoomState) -> None:
        room = self._room
        match kind:
            case "resign":
                await room.resign()
            case "rematch":
                await room.rematch()
            case "chat":
                await room.chat(argument)
            case "draw":
                await room.draw(self._find_action(state.offers.draw, argument, "offered no draw"))
            case "undo":
                await room.undo(self._find_action(state.offers.undo, argument, "asked for nothing back"))
            case _:
                await room.claim("draw" if argument == "draw" else "win")

    async def _answer_offer(self, state: RoomState, *, accepts: bool) -> None:
        """Answer the one offer that waits for it; on the screen, where a key does that, also withdraw one's own."""
        offers, viewer = open_offers(state, self._room.viewer), self._room.viewer
        own: list[OfferKind] = [kind for kind in ("draw", "undo") if self._is_own(getattr(state.offers, kind))]
        if not offers and own and accepts:
            raise BadInput("That is your own offer: the other side answers it.")
        if not offers and not (own and self._shows):
            raise BadInput(f"Nothing was asked. {describe_turn(state, viewer)}")
        if len(offers) > 1 and not self._shows:
            word = "accept" if accepts else "decline"
            raise BadInput(f"To which? Type {' or '.join(f'{kind} {word}' for kind in offers)}.")
        kind = (offers or own)[0]
        if kind == "rematch" and not accepts:
            raise BadInput("A rematch is refused by going: type leave, or new for another opponent.")
        await self._request(kind, "accept" if accepts else "decline", state)

    def _is_own(self, offered_by: str | None) -> bool:
        return offered_by is not None and offered_by == self._room.seat

    def _find_action(self, offered_by: str | None, argument: str, nothing: str) -> OfferAction:
        """Return what a bare ``draw`` or ``undo`` means: accept the other's offer where there is one, else offer."""
        if argument == "withdraw" and not self._is_own(offered_by):
            raise BadInput(f"You have {nothing}.")
        if argument in ("decline", "no", "withdraw"):
            return "decline"
        others = offered_by is not None and not self._is_own(offered_by)
        return "accept" if others or argument in ("accept", "yes") else "offer"

    def _describe_end(self, state: RoomState) -> str:
        return f"{describe_turn(state, self._room.viewer)} {describe_ways_on(state, self._room.viewer)}"

    def _is_live(self, state: RoomState) -> bool:
        return state.status == "playing" and self._room.seat is not None

    # -- refusals ---------------------------------------------------------------------------------------------------

    def _answer_refusal(self, refused: Refused, state: RoomState) -> Outcome:
        told = self._explain(refused, state)
        if not self._piped or refused.code != "not_your_turn":
            return Outcome((told,))
        before, self._refused_at = self._refused_at, (state.game, state.ply)
        if before is None:
            hint = "Moves are not kept for later: type each when it is its turn; for scripts see --json."
            return Outcome((told, hint))
        return Outcome() if before == self._refused_at else Outcome((told,))

    def _explain(self, refused: Refused, state: RoomState) -> str:
        """Return a refusal for people: our own words where the code says all, else the server's."""
        if refused.code == "not_your_turn" and not self._room.is_my_turn:
            return describe_turn(state, self._room.viewer)
        if refused.code == "game_over":
            return self._describe_end(state)
        free = f" {list_free(state, MOST_FREE_AFTER_MISTAKE)}" if refused.code in _WITH_FREE_CELLS else ""
        return clean_text(refused.message) + free
