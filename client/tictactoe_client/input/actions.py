"""What somebody wants in a room, carried out: the one executor, for typed lines, commands, keys and clicks alike."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final, Literal

from tictactoe_client.board.board import BoardView, render_board
from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.files.records import save_game
from tictactoe_client.input.cells import describe_full_column, landing_cell
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb, VerbKind, parse_intent
from tictactoe_client.input.past import Judge, Timeline
from tictactoe_client.online.errors import Interrupted, MovesUnknown, Refused
from tictactoe_client.online.events import Offered, OfferKind, RoomEvent, Updated
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import answer_query, list_moves
from tictactoe_client.text.choices import ask_before_going, describe_ways_on, find_absent, open_offers
from tictactoe_client.text.talk import Muted
from tictactoe_client.text.wording import (
    MOST_FREE_AFTER_MISTAKE,
    NO_CONNECTION,
    NO_MOVE_YET,
    ONLY_PLAYERS_MOVE,
    list_free,
)
from tictactoe_client.text.worth import review_position
from tictactoe_engine import BLOCKED, FREE, format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import AnalysisState, RoomState
from tictactoe_protocol.requests import OfferAction
from tictactoe_protocol.wording import describe_cell, describe_turn, name_of

_LONG_SECONDS: Final = 2.0
_WITH_FREE_CELLS: Final = frozenset({"occupied", "blocked", "floating"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to tell at once, and where the person wants to go, None to stay."""

    lines: tuple[str, ...] = ()
    going: Literal["leave", "new"] | None = None


class Actions:
    """What one person does in one room, and what they see of its game, at the moment of `timeline`.

    On the screen (`shows`) a moment that is looked at is seen and not told, who plays sees the present, and what gives
    the game up is asked about by the screen; else it must be typed twice. Where lines are `piped` in, moves out of turn
    are told once in each position. What takes long is announced by `tell`. Of those who are `muted` nothing is heard;
    `unblamed` are away since our own connection was lost: perhaps the server is, to all. `aborts` as for
    `cost_of_going`.
    """

    at_start = "This is the start: n goes on."
    at_end = "This is the latest move: p goes back."

    def __init__(
        self,
        room: Room,
        settings: Settings,
        *,
        muted: Muted | None = None,
        shows: bool = False,
        piped: bool = False,
        aborts: bool = False,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.room = room
        self.timeline = Timeline()
        self.muted = Muted(room.viewer) if muted is None else muted
        self.unblamed: frozenset[str] = frozenset()
        self.aborts = aborts
        self._settings = settings
        self._shows = shows
        self._piped = piped
        self._tell = tell
        self._judge: Judge | None = None
        self._kept: str | None = None
        self._is_back = asyncio.Event()
        self._asked: VerbKind | None = None
        self._is_offline = False
        self._refused_at: tuple[int, int] | None = None
        self._came_at = monotonic()
        self._came_meanwhile: set[OfferKind] = set()
        room.subscribe(self._hear)

    def _hear(self, event: RoomEvent) -> None:
        """Follow the game; take note of what is offered while one looks back: then ``n`` is a step and no answer."""
        if isinstance(event, Offered) and self.timeline.is_back:
            self._came_meanwhile.add(event.kind)
        elif isinstance(event, Updated):
            if event.after_loss:
                self._is_back.set()
            self._came_at = monotonic()
            self.timeline = self.timeline.follow(event.state.game, self.room.moves)
            self._came_meanwhile &= set(open_offers(event.state, self.room.viewer))
            away, was_away = find_absent(event.state), frozenset() if event.old is None else find_absent(event.old)
            self.unblamed = away & (self.unblamed | (away - was_away if event.after_loss else frozenset()))

    # -- in ---------------------------------------------------------------------------------------------------------

    async def do_line(self, line: str, *, is_offline: bool = False) -> Outcome:
        """Carry a typed line out; without a connection a move waits for it, and what needs none is done at once."""
        return await self.do(self.parse(line), is_offline=is_offline)

    async def do(self, intent: Intent | BadInput, *, is_offline: bool = False) -> Outcome:
        """Carry one intent out; raises `ConnectionLost` and nothing else, since refusals are outcomes."""
        self._is_offline = is_offline
        (asked, self._asked), state = (self._asked, None), self.room.state
        if state is None:
            return Outcome()
        if self._means_no(intent, state, asked):
            intent = Verb("no")
        try:
            if isinstance(intent, BadInput):
                raise intent
            if isinstance(intent, Place):
                return await (self._keep if is_offline else self._place)(intent.cell, state)
            if isinstance(intent, Verb):
                return await self._do_verb(intent, state, asked)
            return Outcome(tuple(await self._answer(intent, state)))
        except (BadInput, Interrupted) as failed:
            return Outcome((clean_text(failed.message),))
        except Refused as refused:
            return self._answer_refusal(refused, state)

    def parse(self, line: str) -> Intent | BadInput:
        settings, state = self._settings, self.room.state
        if state is None:
            return Query("turn")
        rules, plays = state.rules.to_rules(), self.room.seat is not None
        try:
            return parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=plays)
        except BadInput as bad:
            return bad

    def _means_no(self, intent: Intent | BadInput, state: RoomState, asked: VerbKind | None = None) -> bool:
        """Tell whether ``n`` means no: to our own question, and in a game while one does not step through its moves."""
        if not (isinstance(intent, Look) and intent.may_be_no):
            return False
        is_stepping = self.timeline.is_back or bool(self._came_meanwhile)
        is_asked = bool(open_offers(state, self.room.viewer)) or self._is_live(state)
        return asked is not None or (is_asked and not is_stepping)

    # -- what is asked ----------------------------------------------------------------------------------------------

    async def _answer(self, intent: Query | Look, state: RoomState) -> list[str]:
        room = self.room
        match intent:
            case Query("mistakes") | Look("mistake") if self.judge is None:
                return ["Mistakes are told when the game is over."]
            case Query("mistakes"):
                judge, rules = self._call_judge(), state.rules.to_rules()
                plies = range(1, judge.position.ply + 1)
                told = [mistake.describe(rules) async for mistake in judge.mistakes(plies)]
                return told or ["No move gave anything away for sure."]
            case Look("mistake", by):
                return await self._look_at_mistake(by, state)
            case Query("value", ply):
                if self.judge is None:
                    self._want_server("value" if ply is None else f"value {ply}")
                return await self._weigh(self.timeline.here if ply is None else ply, state)
            case Query("moves") | Look() if not room.knows_moves:
                raise BadInput("The moves of this game are not known.")
            case Query("moves", last):
                return [list_moves(state, room.moves[: state.ply], last)]
            case Look():
                return self.look(intent, state)
            case Query("turn") if self._is_offline:
                return [f"{NO_CONNECTION} {describe_turn(state, room.viewer)}"]
            case Query(kind, number):
                passed = monotonic() - self._came_at
                return answer_query(kind, number, state, room.viewer, self._settings, passed)

    def look(self, look: Look, state: RoomState) -> list[str]:
        """Go where somebody wants, and return what is to be told of it."""
        if self._shows and self.room.plays:
            return ["While you play, the board shows the present."]
        count = len(self.timeline.moves)
        there = count if look.kind == "live" else look.number + (self.timeline.here if look.kind == "by" else 0)
        if look.kind == "at" and there > count:
            return [f"There is no move {there}: 0 to {count}."]
        if not count and not self._shows:
            return [NO_MOVE_YET]
        if not 0 <= there <= count and not self._shows:
            return [self.at_end if there > count else self.at_start]
        self.timeline = self.timeline.jump(there)
        return [] if self._shows else self._tell_moment(look, state)

    def _tell_moment(self, look: Look, state: RoomState) -> list[str]:
        turn = [describe_turn(state, self.room.viewer)] if look.kind == "live" and state.status != "over" else []
        return [*self.describe_moment(state), *self._draw(state, is_wanted=look.kind == "at"), *turn]

    def describe_moment(self, state: RoomState) -> list[str]:
        timeline = self.timeline
        if not timeline.here:
            return ["The start."]
        cell = timeline.moves[timeline.here - 1]
        who, where = self._name(state, state.board[cell]), describe_cell(cell, state.rules.to_rules())
        return [f"Move {timeline.here} of {len(timeline.moves)}: {who} plays {where}."]

    def _draw(self, state: RoomState, *, is_wanted: bool = False) -> list[str]:
        """Return the board that is looked at, with its last move marked, where boards are drawn or this one wanted."""
        if self._shows or not (is_wanted or self._settings.draws_board):
            return []
        return render_board(BoardView.of(self.timeline.show(state)), BoardStyle(colour=self._settings.colour))

    def _name(self, state: RoomState, mark: str) -> str:
        return name_of(state, mark)

    # -- what moves were worth --------------------------------------------------------------------------------------

    @property
    def judge(self) -> Judge | None:
        """Who judges the game on the table, once it is over and its moves are known; None before."""
        position = None
        if self.room.state.status == "over":
            with suppress(MovesUnknown):
                position = self.room.position
        if position is None:
            self._judge = None
        elif self._judge is None or self._judge.position != position:
            self._judge = Judge(position)
        return self._judge

    async def analyse(self, ply: int) -> AnalysisState:
        """Return what the position after `ply` moves is worth; while a game runs its server says whether it tells.

        Raises `Refused` where it does not, and `BadInput` where fewer moves were made.
        """
        judge = self.judge
        if judge is None:
            return await self.room.analyse(ply)
        if ply > judge.position.ply:
            raise BadInput(f"There are {judge.position.ply} moves, not {ply}.")
        return await judge.analyse(ply)

    async def _weigh(self, ply: int, state: RoomState) -> list[str]:
        rules, moves, after = state.rules.to_rules(), self.room.moves, await self.analyse(ply)
        if not 0 < after.ply <= len(moves):
            return review_position(after, None, None, rules)
        return review_position(after, await self.analyse(after.ply - 1), moves[after.ply - 1], rules)

    async def _look_at_mistake(self, by: int, state: RoomState) -> list[str]:
        judge = self._call_judge()
        here = self.timeline.here if self.timeline.is_back or by < 0 else -1
        plies = range(here + 2, judge.position.ply + 1) if by > 0 else range(here, 0, -1)
        mistake = await anext(judge.mistakes(plies), None)
        if mistake is None:
            return [f"There is no mistake {'after' if by > 0 else 'before'} this moment."]
        self.timeline = self.timeline.jump(mistake.ply - 1)
        return [mistake.describe(state.rules.to_rules()), *self._draw(state)]

    def _call_judge(self) -> Judge:
        """Return who looks for mistakes in the finished game; it is announced where that takes long."""
        judge = self.judge
        assert judge is not None
        if judge.seconds_left >= _LONG_SECONDS:
            self._tell(f"Looking through the game: this takes up to {math.ceil(judge.seconds_left)} seconds.")
        return judge

    # -- moves ------------------------------------------------------------------------------------------------------

    async def _place(self, cell: int, state: RoomState) -> Outcome:
        if self.room.seat is None:
            raise BadInput(ONLY_PLAYERS_MOVE)
        target = landing_cell(state, cell)
        if target is None and self._is_live(state):
            raise BadInput(describe_full_column(state, cell))
        await self.room.move(cell if target is None else target, ply=state.ply)
        return Outcome()

    async def _keep(self, cell: int, state: RoomState) -> Outcome:
        """Have a move wait for the connection, in which it is played where the game still stands as it does now."""
        if why := self.describe_obstacle(state):
            raise BadInput(why)
        rules, when, target = (
            state.rules.to_rules(),
            "it is played when the connection is back",
            landing_cell(state, cell),
        )
        if self._kept is not None:
            raise BadInput(f"{self._kept} is kept already: {when}.")
        if target is None:
            raise BadInput(describe_full_column(state, cell))
        name, lies = format_cell(target, rules), state.board[target]
        if lies != FREE:
            why = "blocked" if lies == BLOCKED else f"taken by {lies}"
            raise BadInput(f"{name} is {why}. {list_free(state, MOST_FREE_AFTER_MISTAKE)}")
        self._kept = name
        self._is_back.clear()
        self._tell(f"{name} is kept: {when}.")
        try:
            await self._is_back.wait()
            await self.room.move(target, ply=state.ply)
        except Refused as refused:
            if refused.code not in ("stale", "game_over"):
                raise
            raise BadInput(f"{name} is not played: the game has gone on without it.") from None
        finally:
            self._kept = None
        return Outcome()

    def describe_obstacle(self, state: RoomState) -> str:
        if self.room.seat is None:
            return ONLY_PLAYERS_MOVE
        if state.status == "over":
            return self._describe_end(state)
        if state.status == "waiting":
            return "The game has not begun: a seat is free."
        if not self.room.plays:
            return "You are out of the game; the others play on."
        return "" if self.room.is_my_turn else describe_turn(state, self.room.viewer)

    # -- the game and the room --------------------------------------------------------------------------------------

    async def _do_verb(self, verb: Verb, state: RoomState, asked: VerbKind | None = None) -> Outcome:
        """Carry a deed out; what gives the game up is asked about first, and `asked` is what was."""
        kind: VerbKind = "leave" if verb.kind == "quit" else verb.kind
        argument, room = verb.argument, self.room
        may_ask = self._settings.asks and not (self._shows or self._is_offline) and self._is_live(state)
        if kind == "no" and asked is not None:
            return Outcome(("All right, the game goes on.",))
        if kind == "yes" and asked is not None:
            kind = asked
        elif may_ask and kind in ("leave", "resign", "new") and asked != kind:
            self._asked = kind
            question = ask_before_going(kind, state, room.viewer, aborts=self.aborts)
            again = "leave or yes" if verb.kind == "quit" else f"{kind} again, or yes,"
            return Outcome((f"{question} Type {again} to do it; anything else plays on.",))
        if kind not in ("leave", "mute", "unmute"):
            self._want_server(kind if kind == "chat" else f"{kind} {argument}".strip())
        match kind:
            case "yes" | "no":
                return await self._answer_offer(state, accepts=kind == "yes")
            case "leave" | "new":
                return Outcome(going=kind)
            case "save":
                return Outcome((await save_game(argument, state, room),))
            case "mute":
                return Outcome((self.muted.mute(argument, state) if argument else self.muted.describe(),))
            case "unmute":
                return Outcome((self.muted.unmute(argument),))
            case "resign":
                await room.resign()
            case "rematch":
                await room.rematch()
            case "chat":
                await room.chat(argument)
            case "draw" | "undo":
                await self._negotiate(kind, argument, getattr(state.offers, kind))
            case "claim":
                await room.claim("draw" if argument == "draw" else "win")
        return Outcome()

    async def _answer_offer(self, state: RoomState, *, accepts: bool) -> Outcome:
        """Answer the one offer that waits for it; on the screen, where a key does that, also withdraw one's own."""
        offers, seat, word = open_offers(state, self.room.viewer), self.room.seat, "accept" if accepts else "decline"
        own: list[OfferKind] = [kind for kind in ("draw", "undo") if seat and getattr(state.offers, kind) == seat]
        if not offers and own and accepts:
            raise BadInput("That is your own offer: the other side answers it.")
        if not offers and not (own and self._shows):
            raise BadInput(f"Nothing was asked. {describe_turn(state, self.room.viewer)}")
        if len(offers) > 1 and not self._shows:
            raise BadInput(f"To which? Type {' or '.join(f'{kind} {word}' for kind in offers)}.")
        kind = (offers or own)[0]
        if kind == "rematch" and not accepts:
            raise BadInput("A rematch is refused by going: type leave, or new for another opponent.")
        return await self._do_verb(Verb(kind, word), state)

    async def _negotiate(self, kind: Literal["draw", "undo"], argument: str, offered_by: str | None) -> None:
        """Offer or answer; a bare word accepts the other's offer where there is one, else offers."""
        action: OfferAction = "offer"
        if argument == "withdraw" and (offered_by is None or offered_by != self.room.seat):
            raise BadInput(f"You have {'offered no draw' if kind == 'draw' else 'asked for nothing back'}.")
        if argument in ("decline", "no", "withdraw"):
            action = "decline"
        elif argument in ("accept", "yes") or offered_by not in (None, self.room.seat):
            action = "accept"
        await (self.room.draw if kind == "draw" else self.room.undo)(action)

    def _want_server(self, words: str) -> None:
        if self._is_offline:
            raise BadInput(f"{NO_CONNECTION[:-1]}: type {words} again when it is back.")

    def _describe_end(self, state: RoomState) -> str:
        return f"{describe_turn(state, self.room.viewer)} {describe_ways_on(state, self.room.viewer)}"

    def _is_live(self, state: RoomState) -> bool:
        return state.status == "playing" and self.room.seat is not None

    # -- refusals ---------------------------------------------------------------------------------------------------

    def _answer_refusal(self, refused: Refused, state: RoomState) -> Outcome:
        """Answer a refusal for people: in our own words where the code says all, else in the server's."""
        told = clean_text(refused.message)
        if refused.code == "not_your_turn" and not self.room.is_my_turn:
            told = describe_turn(state, self.room.viewer)
        elif refused.code == "game_over":
            told = self._describe_end(state)
        elif refused.code in _WITH_FREE_CELLS:
            told += f" {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        if not self._piped or refused.code != "not_your_turn":
            return Outcome((told,))
        before, self._refused_at = self._refused_at, (state.game, state.ply)
        if before is None:
            hint = "Moves are not kept for later: type each when it is its turn; for scripts see --json."
            return Outcome((told, hint))
        return Outcome() if before == self._refused_at else Outcome((told,))
