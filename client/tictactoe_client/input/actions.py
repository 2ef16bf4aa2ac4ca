"""Carries out the user's commands in a room, whether typed, pressed or clicked."""

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
from tictactoe_client.input import challenges, plans
from tictactoe_client.input.cells import describe_full_column, landing_cell
from tictactoe_client.input.intents import BadInput, parse_intent
from tictactoe_client.input.past import Judge, Timeline
from tictactoe_client.input.ways import Choice, next_turn
from tictactoe_client.online import events
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import Interrupted, ProtocolBroken, Refused
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import answer_query, describe_last, draw_board, list_moves
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.talk import Muted, announce_chat, list_sentences
from tictactoe_client.text.wording import MOST_FREE_AFTER_MISTAKE, describe_due, describe_ways_on, list_free
from tictactoe_engine import BLOCKED, FREE, format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.codes import MAX_CHAT_LENGTH
from tictactoe_protocol.pushes import AnalysisState, Happening, RoomState
from tictactoe_protocol.rated import Rated
from tictactoe_protocol.terms import OfferAction
from tictactoe_words.catalogue import say
from tictactoe_words.choices import Choices, describe_reason, take_of
from tictactoe_words.commands import Intent, Look, Place, Query, Verb, VerbKind, word_of
from tictactoe_words.ladders import describe_rated
from tictactoe_words.openings import choices_at, placer
from tictactoe_words.scene import View, describe_banner, list_questions, tell_move
from tictactoe_words.telling import tell_choice
from tictactoe_words.wording import describe_turn
from tictactoe_words.worth import review_position

OfferKind = Literal["draw", "undo", "rematch"]
GivingUp = Literal["resign", "leave", "new", "quit"]

_NUMBERS: Final = tuple("123456789")
_LONG_SECONDS: Final = 2.0
_WITH_FREE_CELLS: Final = frozenset({"occupied", "blocked", "floating"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a command: lines to show at once, and the caller's next step, or None to stay in the room."""

    lines: tuple[str, ...] = ()
    going: Literal["leave", "new", "next", "quit"] | None = None


class Actions:
    """Carries out every command in a room, for every face; keeps the moment on display and the question to confirm.

    Args:
        client: The client, for commands about challenges and other games; None for a record.
        again: How to find another opponent, or None.
        shows: Whether a screen shows the moment and the question to confirm; otherwise lines describe them.
        piped: Whether lines come through a pipe; then a move out of turn is reported only once per position.
        tell: Called with a line about work that takes long.

    Attributes:
        colon: What has to be typed before a command.
        timeline: The moment on display.
        muted: The players whose chat is hidden.
        confirming: The command that gives up a running game and that the person has to confirm, or "".
        is_online: Whether there is a connection.
    """

    def __init__(
        self,
        room: Room,
        settings: Settings,
        *,
        client: Client | None = None,
        again: Choice | None = None,
        shows: bool = False,
        piped: bool = False,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.room = room
        self.colon = ""
        self.again = again
        self.timeline = Timeline()
        self.muted = Muted(room.viewer)
        self.confirming: GivingUp | Literal[""] = ""
        self.is_online = True
        self._client = client
        self._settings = settings
        self._shows = shows
        self._piped = piped
        self._tell = tell
        self._judge: Judge | None = None
        self._held_move: str | None = None
        self._is_back = asyncio.Event()
        self._refused_at: tuple[int, int] | None = None
        self._received_at = monotonic()
        self._offers_in_review: set[str] = set()
        room.subscribe(self._hear)

    @property
    def now(self) -> Choices:
        return self.room.choices(self._passed_ms, is_online=self.is_online)

    @property
    def next_turn(self) -> Choice | None:
        """In a game over days, how to enter the next game that awaits our move; otherwise None."""
        return next_turn(self._client, self.room.code) if self.room.keeps_seat else None

    @property
    def _passed_ms(self) -> float:
        return 1000 * (monotonic() - self._received_at)

    @property
    def _offers(self) -> list[OfferKind]:
        return [question.id for question in self.now.questions if question.id in ("draw", "undo", "rematch")]

    def _hear(self, event: events.RoomEvent) -> None:
        """Follow the game; remember offers made during a review, as ``n`` then steps forward instead of declining."""
        if isinstance(event, events.Lost | events.Back):
            self.is_online = isinstance(event, events.Back)
        elif isinstance(event, Happening) and event.type == "offered" and self.timeline.is_back:
            self._offers_in_review.add(event.kind or "")
        elif isinstance(event, events.Updated):
            if event.after_loss:
                self._is_back.set()
            if not self.room.plays:
                self.confirming = ""
            self._received_at = monotonic()
            self.timeline = self.timeline.follow(event.state.game, self.room.moves)
            if self._offers_in_review:
                self._offers_in_review &= {*self._offers}

    def describe_event(self, event: events.RoomEvent) -> list[str]:
        """Return lines about a chat line, a rating change, a new server or the end of the room; [] for other events."""
        state = self.room.state
        match event:
            case events.Said(line) if self.muted.hears(line):
                return [announce_chat(line)]
            case events.Told(Rated() as push):
                names = {seat.player: seat.name for seat in state.seats.values() if seat}
                return describe_rated(push, names, self.room.viewer)
            case events.RoomMoved(url=url):
                return [say("room is at", url=clean_text(url))]
            case events.Gone(room, refused):
                return [say("room gone", room=room, why=clean_text(refused.message))]
            case events.Closed(reason):
                return [describe_banner(state, View(ended="closed", reason=reason))]
            case events.Replaced(by_card):
                return [describe_banner(state, View(ended="card" if by_card else "replaced"))]
        return []

    async def do_line(self, line: str) -> Outcome:
        """Carry out a typed line. Without a connection, a move waits for its return, and only local commands work."""
        return await self.do(self.parse(line))

    async def do(self, command: Intent | BadInput) -> Outcome:
        """Carry out a command; a refusal is returned as an `Outcome`, and only `ConnectionLost` is raised.

        A command that would give up a running game has to be repeated or confirmed by yes; any other command cancels.
        """
        state, confirming, self.confirming = self.room.state, self.confirming, ""
        if confirming == "quit" and not self._shows:
            confirming = ""  # only a second Ctrl-C confirms it; a line may answer another question
        try:
            if isinstance(command, BadInput):
                raise command
            if isinstance(command, Place):
                return await self._place(command.cell, state)
            if isinstance(command, Look) and self._means_no(command, state, is_confirming=bool(confirming)):
                command = Verb("no")
            if isinstance(command, Verb):
                return await self._do_verb(command, state, confirming)
            if command == Look("by", 1) and self.next_turn and not self.timeline.is_back:
                return Outcome(going="next")
            return Outcome(tuple(await self._answer(command, state)))
        except (BadInput, Interrupted) as failed:
            return Outcome((clean_text(failed.message),))
        except Refused as refused:
            return self._answer_refusal(refused, state)

    def ask_before(self, command: GivingUp) -> bool:
        """Ask the person to confirm a command that gives up a running game; return True if it has to be confirmed.

        Leaving a game over days keeps the seat, but has to be confirmed, too, since the question also offers to resign.
        Without a connection nothing is asked, since the seat is kept.
        """
        deed, room = self.now.find("resign" if command == "resign" else "leave"), self.room
        may_resign = command == "leave" and room.keeps_seat and room.state.status != "over"
        gives_up = may_resign or (deed is not None and deed.cost != "")
        if asks := self.is_online and (self._settings.asks or self._shows) and gives_up:
            self.confirming = command
        return asks

    @property
    def view(self) -> View:
        """What the sentences need to know: the moment on display and the command to confirm."""
        confirming = self.confirming and ("resign" if self.confirming == "resign" else "leave")
        here = self.timeline.here if self.timeline.is_back else None
        return View(here=here, confirming=confirming, actor=self.room.actor)

    def parse(self, line: str) -> Intent | BadInput:
        settings, rules, plays = self._settings, self.room.state.rules.to_rules(), self.room.seat is not None
        if self.room.state.opening and line.strip() in _NUMBERS:  # a number picks an option of the opening
            ways = [deed.argument for deed in self.now.deeds if deed.id == "choose"]
            if ways:
                return Verb("choose", ways[int(line) - 1]) if int(line) <= len(ways) else Query("turn")
        try:
            return parse_intent(line, rules, keys=settings.keys, coordinates=settings.coordinates, plays=plays)
        except BadInput as bad:
            return bad

    def _means_no(self, look: Look, state: RoomState, *, is_confirming: bool) -> bool:
        is_stepping = self.timeline.is_back or bool(self._offers_in_review)
        is_asked = bool(self._offers) or self._is_live(state)
        return look.may_be_no and (is_confirming or (is_asked and not is_stepping))

    async def _answer(self, command: Query | Look, state: RoomState) -> list[str]:
        room, judge = self.room, self.judge
        match command:
            case Query("mistakes") | Look("mistake") if judge is None:
                self._require("mistakes", state)
            case Query("mistakes") if judge is not None:
                return await self.list_mistakes(judge, state)
            case Look("mistake", by) if judge is not None:
                return await self.look_at_mistake(judge, by, state)
            case Query("value", ply):
                if judge is None and not self.is_online:
                    words = f"{word_of('value')} {'' if ply is None else ply}".rstrip()
                    raise BadInput(say("offline again", words=words))
                return await self.describe_worth(self.timeline.here if ply is None else ply, state)
            case Query("moves", last):
                lines = [list_moves(state, room.moves[: state.ply], last)]
                for ply in range(1, state.ply + 1) if state.chosen else ():
                    lines += [say("position after", n=ply, told=line) for line in self._describe_choices(state, ply)]
                return lines
            case Look():
                return self.look(command, state)
            case Query("board") if self._shows:
                return [*self.look(Look("live"), state), describe_last(state, room.viewer)]
            case Query("board"):
                return draw_board(state, self._settings)
            case Query("help"):
                lines = describe_help(state, self._settings, room.actor, self.now)
                lines += [say("help challenges")] if room.has_challenges and len(room.local_players) == 1 else []
                lines += [plans.describe_usage()] if room.keeps_seat else []
                return [*lines, list_sentences()] if room.sentences else lines
            case Query("turn") if not self.is_online:
                return [say("offline turn", turn=describe_turn(state, room.viewer))]
            case Query("turn"):
                return describe_due(state, room.viewer, room.actor)
            case Query(kind, number):
                return answer_query(kind, number, state, room.viewer, self._passed_ms)
        return []

    def look(self, look: Look, state: RoomState) -> list[str]:
        if self._shows and self.room.plays:
            return [] if look.kind == "live" else [say("shows the present")]
        count = len(self.timeline.moves)
        there = count if look.kind == "live" else look.number + (self.timeline.here if look.kind == "by" else 0)
        if look.kind == "at" and there > count:
            return [say("no such move", n=there, all=count)]
        if not count and not self._shows:
            return [say("no move yet")]
        if not 0 <= there <= count and not self._shows:
            return [say("at the end" if there > count else "the start")]
        self.timeline = self.timeline.jump(there)
        return [] if self._shows else self.tell_moment(look)

    def tell_moment(self, look: Look | None = None) -> list[str]:
        state, kind = self.room.state, None if look is None else look.kind
        turn = [describe_turn(state, self.room.viewer)] if kind == "live" and state.status != "over" else []
        return [*self.describe_moment(state), *self.draw(state, is_wanted=kind == "at"), *turn]

    def describe_moment(self, state: RoomState) -> list[str]:
        """Return lines about the move that led to the moment on display, and about the opening's choices at it."""
        return [tell_move(state, self.timeline.here), *self._describe_choices(state, self.timeline.here)]

    def draw(self, state: RoomState, *, is_wanted: bool = False) -> list[str]:
        """Return the lines of the board at the moment on display; [] unless boards are drawn or `is_wanted`."""
        if self._shows or not (is_wanted or self._settings.draws_board):
            return []
        return render_board(BoardView.of(self.timeline.show(state)), BoardStyle(colour=self._settings.colour))

    def _describe_choices(self, state: RoomState, ply: int) -> list[str]:
        return [tell_choice(choice, state, self.room.viewer) for choice in choices_at(state, ply)]

    @property
    def judge(self) -> Judge | None:
        """The judge of the moves of this game, or None while the game runs."""
        position = None
        if self.room.state.status == "over":
            with suppress(ProtocolBroken):
                position = self.room.position
        if position is None:
            self._judge = None
        elif self._judge is None or self._judge.position != position:
            self._judge = Judge(position)
        return self._judge

    async def analyse(self, ply: int) -> AnalysisState:
        """Analyse the position after `ply` moves; while the game runs, the server does it and may refuse."""
        judge = self.judge
        if judge is None:
            return await self.room.analyse(ply)
        if ply > judge.position.ply:
            raise BadInput(say("no such move", all=judge.position.ply, n=ply))
        return await judge.analyse(ply)

    async def describe_worth(self, ply: int, state: RoomState) -> list[str]:
        rules, moves, after = state.rules.to_rules(), self.room.moves, await self.analyse(ply)
        if not 0 < after.ply <= len(moves) or placer(state, after.ply - 1):  # there is no best move in an opening
            return review_position(after, None, None, rules)
        return review_position(after, await self.analyse(after.ply - 1), moves[after.ply - 1], rules)

    async def list_mistakes(self, judge: Judge, state: RoomState) -> list[str]:
        self._announce(judge)
        rules, plies = state.rules.to_rules(), range(1, judge.position.ply + 1)
        return [mistake.describe(rules) async for mistake in judge.mistakes(plies)] or [say("nothing given away")]

    async def look_at_mistake(self, judge: Judge, by: int, state: RoomState) -> list[str]:
        """Go to the next mistake, or the previous one if `by` is -1, and describe it."""
        self._announce(judge)
        here = self.timeline.here if self.timeline.is_back or by < 0 else -1
        plies = range(here + 2, judge.position.ply + 1) if by > 0 else range(here, 0, -1)
        mistake = await anext(judge.mistakes(plies), None)
        if mistake is None:
            return [say("no mistake after" if by > 0 else "no mistake before")]
        self.timeline = self.timeline.jump(mistake.ply - 1)
        return [mistake.describe(state.rules.to_rules()), *self.draw(state)]

    def _announce(self, judge: Judge) -> None:
        if judge.seconds_left >= _LONG_SECONDS:
            self._tell(say("looking through", n=math.ceil(judge.seconds_left)))

    async def _place(self, cell: int, state: RoomState) -> Outcome:
        """Play a cell; without a connection, hold the move until the connection is back."""
        is_early = not self.room.is_my_turn and (self._shows or self.room.seat is None)
        if is_early or not self.is_online:
            self._require("place", state)  # otherwise the server decides, since typed lines may be ahead of the state
        target = landing_cell(state, cell)
        if target is None and self._is_live(state):
            raise BadInput(describe_full_column(state, cell))
        place = cell if target is None else target
        if self.is_online:
            await self.room.move(place, ply=state.ply)
        else:
            await self._play_later(place, state)
        return Outcome()

    async def _play_later(self, cell: int, state: RoomState) -> None:
        """Wait for the connection to return, then play a cell, unless the position has changed."""
        name, lies = format_cell(cell, state.rules.to_rules()), state.board[cell]
        if self._held_move is not None:
            raise BadInput(say("kept", cell=self._held_move))
        if lies != FREE:
            code = "blocked" if lies == BLOCKED else "occupied"
            raise Refused(code, say(f"refused {code}", cell=name, mark=lies))
        self._held_move = name
        self._is_back.clear()
        self._tell(say("kept", cell=name))
        try:
            await self._is_back.wait()
            await self.room.move(cell, ply=state.ply)
        except Refused as refused:
            if refused.code not in ("stale", "game_over"):
                raise
            raise BadInput(say("kept in vain", cell=name)) from None
        finally:
            self._held_move = None

    async def _do_verb(self, verb: Verb, state: RoomState, confirming: GivingUp | Literal[""] = "") -> Outcome:
        argument, room = verb.argument, self.room
        kind: VerbKind = "leave" if verb.kind == "quit" else verb.kind
        if confirming and kind == "no":
            return Outcome((say("room plays on"),))
        if confirming == "leave" and kind == "resign" and room.keeps_seat:
            await room.leave(gives_up=True)
            return Outcome(going="leave")
        if confirming and kind == "yes":
            kind = confirming
        elif kind in ("resign", "leave", "new") and kind != confirming and self.ask_before(kind):
            question = list_questions(state, self.now, self.view)[0].text
            id = "day leave again" if kind == "leave" and room.keeps_seat else "ask again"
            words = {"word": word_of(kind), "resign": word_of("resign")}
            return Outcome(() if self._shows else (say(id, question=question, **words),))
        match kind:
            case "leave" | "quit":
                return Outcome(going=kind)
            case "mute":
                return Outcome((self.muted.mute(argument, state) if argument else self.muted.describe(),))
            case "unmute":
                return Outcome((self.muted.unmute(argument),))
        if kind == "choose" and argument in state.seats:
            argument = "stay" if argument == room.seat else "swap"
        if not self.is_online and not (self._shows and kind == "chat"):
            raise BadInput(say("offline again", words=_words_for(kind, argument)))
        return await self._ask_server(kind, argument, state)

    async def _ask_server(self, kind: VerbKind, argument: str, state: RoomState) -> Outcome:
        room = self.room
        match kind:
            case "block" if argument and self._client is not None:
                return Outcome((await self._block(self._client, argument, state),))
            case "challenge" | "block":
                return await self._do_challenge(Verb(kind, argument))
            case "yes" | "no" if self._client and not self._offers and challenges.find_asked(self._client):
                return await self._do_challenge(Verb("challenge", "accept" if kind == "yes" else "decline"))
            case "yes" | "no":
                return await self._answer_offer(state, accepts=kind == "yes")
            case "new" if self.again is None:
                raise BadInput(say("room nobody to look for"))
            case "new":
                return Outcome(going="new")
            case "save":
                return Outcome((await save_game(argument, state, room),))
            case "draw" | "undo":
                await self._negotiate(kind, argument, state)
            case "choose":
                if state.rules.opening is None:
                    raise BadInput(say("refused not_allowed nothing to choose"))
                self._require("choose", state)
                await room.choose(take_of(state, argument), ply=state.ply)
            case "claim":
                self._require(f"claim {argument or 'win'}", state)
                await room.claim("draw" if argument == "draw" else "win")
            case "resign":
                self._require("resign", state)
                await room.resign()
            case "rematch":
                self._require("rematch", state)
                await room.rematch()
            case "chat":
                await self._chat(argument, state)
            case "plan" if self._client is not None:
                usage = plans.describe_usage(self.colon)
                return Outcome((await plans.carry_out(self._client, argument, state, self._settings, usage),))
        return Outcome()

    async def _block(self, client: Client, argument: str, state: RoomState) -> str:
        """Block a player or a watcher who has chatted, by name; with a last word ``--off`` unblock by name or id."""
        is_on = argument.split()[-1] != "--off"
        who, name = self.muted.find(argument if is_on else argument.removesuffix("--off"), state)
        if who is None and is_on:
            raise BadInput(say("nobody called", name=name))
        await client.challenges.block(who or name, on=is_on)
        return say("blocked now" if is_on else "page unblocked", name=name)

    async def _do_challenge(self, verb: Verb) -> Outcome:
        line = "" if self._client is None else await challenges.carry_out(self._client, verb, self.room)
        is_shown = self._shows and verb.kind == "challenge"
        return Outcome((line,) if line and not is_shown else ())

    async def _chat(self, text: str, state: RoomState) -> None:
        if self.is_online:
            self._require("chat", state)
        if not text or (self.room.sentences and text not in self.room.sentences):
            raise BadInput(list_sentences() if self.room.sentences else say("chat what"))
        if len(text) > MAX_CHAT_LENGTH:
            raise BadInput(say("refused too_long", length=len(text), most=MAX_CHAT_LENGTH), "too_long")
        await self.room.chat(text)

    async def _answer_offer(self, state: RoomState, *, accepts: bool) -> Outcome:
        """Answer the open offer by yes or no; on the screen, "no" also withdraws our own offer."""
        now, offers, answer = self.now, self._offers, "accept" if accepts else "decline"
        own: list[OfferKind] = [kind for kind in ("draw", "undo") if now.may(f"{kind} withdraw")]
        if not offers and own and accepts:
            raise BadInput(say("why own offer"))
        if not offers and not (own and self._shows):
            raise BadInput(say("nothing asked", turn=describe_turn(state, self.room.viewer)))
        if len(offers) > 1 and not self._shows:
            ways = [f"{word_of(kind)} {word_of(f'way {answer}')}" for kind in offers]
            raise BadInput(say("to which", words=say("or", first=", ".join(ways[:-1]), last=ways[-1])))
        kind = (offers or own)[0]
        if kind == "rematch" and not accepts:
            raise BadInput(say("rematch refused by going"))
        return await self._do_verb(Verb(kind, answer if offers else "withdraw"), state)

    async def _negotiate(self, kind: Literal["draw", "undo"], argument: str, state: RoomState) -> None:
        """Make or answer an offer; without an `argument`, accept an open offer, or else make one."""
        way = argument or ("accept" if self.now.may(f"{kind} accept") else "offer")
        self._require(f"{kind} {way}", state)
        actions: dict[str, OfferAction] = {"offer": "offer", "accept": "accept"}
        await (self.room.draw if kind == "draw" else self.room.undo)(actions.get(way, "decline"))

    def _require(self, action: str, state: RoomState) -> None:
        """Raise `Refused`, as the server would, if the action is already known to be impossible."""
        if (reason := self.now.find_reason(action)) is not None:
            raise Refused(reason.removeprefix("refused "), describe_reason(reason, state))

    def _is_live(self, state: RoomState) -> bool:
        return state.status == "playing" and self.room.seat is not None

    def _answer_refusal(self, refused: Refused, state: RoomState) -> Outcome:
        why = clean_text(refused.message)
        if refused.code == "not_your_turn" and not self.room.is_my_turn:
            why = describe_turn(state, self.room.viewer)
        elif refused.code == "choose_first":
            due = describe_due(state, self.room.viewer, self.room.actor)
            why = due[0] if self._shows else " ".join(due)
        elif refused.code == "game_over" and not self._shows:
            why = f"{say('refused game_over')} {describe_ways_on(state, self.room.actor)}"
        elif refused.code in _WITH_FREE_CELLS:
            why += f" {list_free(state, MOST_FREE_AFTER_MISTAKE)}"
        if not self._piped or refused.code != "not_your_turn":
            return Outcome((why,))
        before, self._refused_at = self._refused_at, (state.game, state.ply)
        if before is None:
            return Outcome((why, say("moves not kept")))
        return Outcome() if before == self._refused_at else Outcome((why,))


def _words_for(kind: str, argument: str) -> str:
    if kind == "choose":
        return word_of(f"choose {argument}")
    way = word_of(f"way {argument}") if argument and kind in ("draw", "undo", "claim") else ""
    return f"{word_of(kind)} {way}".rstrip()
