"""A recorded game as a room without a server, and sentences about it. Names and comments are untrusted."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from msgspec import to_builtins

from tictactoe_client.input.actions import Actions
from tictactoe_client.input.intents import BadInput
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.room import Room
from tictactoe_client.text.help import describe_record_help
from tictactoe_client.text.wording import describe_unknown
from tictactoe_engine import Position
from tictactoe_engine.records import GameRecord, format_record
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Offers, Ok, Result, RoomState, SeatState, Welcome, opening_fields
from tictactoe_protocol.requests import Leave, Request
from tictactoe_protocol.terms import ClockTerms, RulesState
from tictactoe_words.catalogue import say
from tictactoe_words.commands import Intent, Look, Place, Query, Verb
from tictactoe_words.telling import describe_result
from tictactoe_words.wording import count, describe_clock, describe_rules, name_of


class _NoServer:
    player = ""
    welcome = Welcome(
        protocol=0, server="", player="", name="", token="", rooms=(), hold_ms=0, sharing=False, ladders=()
    )

    async def request(self, request: Request) -> Ok:
        if isinstance(request, Leave):
            return Ok(id="")
        raise Refused("not_allowed", say("only a record"))


class RecordedRoom(Room):
    """A room without a server that shows the end of a recorded game."""

    def __init__(self, content: GameRecord) -> None:
        super().__init__(_NoServer(), content.room or "")
        self.content = content
        self._enter(Ok(id=""))
        self._receive(_state_of(content))

    @property
    def position(self) -> Position:
        return self.content.position

    async def record(self, game: int) -> str:
        return format_record(self.content)


class RecordActions(Actions):
    """The commands for a record: steps through the game, and queries about the moment on display."""

    room: RecordedRoom

    def parse(self, line: str) -> Intent | BadInput:
        """Return the intent of a line; a number goes to that move, and an empty line goes one move forward."""
        word = line.strip().lower().removeprefix("/").removeprefix(":")
        if word in ("", "q"):
            return Verb("quit") if word else Look("by", 1)
        if word.isascii() and word.isdigit() and len(word) <= 6:
            return Look("at", int(word))
        intent = super().parse(line)
        if isinstance(intent, Place):
            return Query("cell", intent.cell)
        is_unknown = isinstance(intent, BadInput) and intent.code == "unknown"
        if is_unknown or (isinstance(intent, Verb) and intent.kind not in ("leave", "quit", "save")):
            return BadInput(describe_unknown(line.strip().removeprefix(":"), say("please type a step")))
        return intent

    async def _answer(self, intent: Query | Look, state: RoomState) -> list[str]:
        shown = self.timeline.show(state)
        match intent:
            case Query("who"):
                return [f"{_describe_players(self.room.content)}."]
            case Query("clock"):
                return [say("record clocks")]
            case Query("help"):
                return describe_record_help()
            case Query("board"):
                return self.draw(state, is_wanted=True)
        return await super()._answer(intent, state if isinstance(intent, Look) else shown)

    def tell_moment(self, look: Look | None = None) -> list[str]:
        return super().tell_moment()  # unlike in a game, going to a move does not ask for the board

    def describe_moment(self, state: RoomState) -> list[str]:
        record, here, lines = self.room.content, self.timeline.here, super().describe_moment(state)
        lines += [say("record passed over", name=name_of(state, mark)) for at, mark in record.passed if at == here]
        lines += [f"{{{clean_text(text)}}}" for at, text in record.comments if at == here]
        return [*lines, describe_end(state)] if here == len(record.moves) else lines


def _state_of(record: GameRecord) -> RoomState:
    position, result = record.position, record.result
    names, out = dict(record.players), {mark for _, mark in record.passed}
    line = position.outcome.line if position.outcome is not None else ()
    return RoomState(
        room=record.room or "",
        seq=1,
        status="playing" if result is None else "over",
        visibility="public",
        game=record.game or 1,
        rules=RulesState.of(record.rules),
        board=position.board,
        ply=position.ply,
        turn=position.turn if result is None else None,
        last=position.last,
        seats={
            mark: SeatState(mark, clean_text(names.get(mark, mark)) or "?", True, None, out=mark in out)
            for mark in record.rules.marks
        },
        result=None if result is None else Result(result.winner, result.reason, line),
        offers=Offers(),
        clock=None,
        watchers=0,
        score={},
        moves=position.moves,
        **opening_fields(position, is_over=result is not None),
    )


def describe_record(room: RecordedRoom) -> list[str]:
    record = room.content
    facts = [_describe_players(record), describe_rules(record.rules), *list_facts(record)]
    return [f"{', '.join(facts)}.", f"{count(len(record.moves), 'move')}. {describe_end(room.state)}"]


def _describe_players(record: GameRecord) -> str:
    names = {mark: say("name with mark", name=clean_text(name) or "?", mark=mark) for mark, name in record.players}
    return say("versus").join(names.get(mark, mark) for mark in record.rules.marks)


def list_facts(record: GameRecord) -> list[str]:
    """Return the clock, event, round, date, room and game number, as far as they are known."""
    facts = [] if record.clock is None else [describe_clock(ClockTerms(**asdict(record.clock)))]
    facts += [] if not record.event else [say("record event", name=clean_text(record.event))]
    facts += [] if not record.round else [say("record round", name=clean_text(record.round))]
    facts += [] if record.date is None else [record.date]
    facts += [] if record.room is None else [say("record room", room=clean_text(record.room))]
    return facts if record.game is None else [*facts, say("record game", n=record.game)]


def describe_end(state: RoomState) -> str:
    """Return the result, such as ``ana wins! Row 2 is X X X.``; or that the game has not ended."""
    return describe_result(state, "") or say("refused not_allowed playing")


def summarise_record(record: GameRecord) -> dict[str, Any]:
    """Return a recorded game as JSON mode prints it."""
    result = record.result
    return {
        "rules": to_builtins(RulesState.of(record.rules)),
        "players": dict(record.players),
        "event": record.event,
        "round": record.round,
        "date": record.date,
        "room": record.room,
        "game": record.game,
        "moves": record.moves,
        "passed": [{"ply": ply, "mark": mark} for ply, mark in record.passed],
        "choices": [choice._asdict() for choice in record.position.choices],
        "result": None if result is None else {"winner": result.winner, "reason": result.reason},
    }


def summarise_position(record: GameRecord, position: Position) -> dict[str, Any]:
    """Return a position of a recorded game as JSON mode prints it; its fields are named as in a room's state."""
    is_over = position.ply == len(record.moves) and record.result is not None
    return {
        "ply": position.ply,
        "board": position.board,
        "turn": None if is_over else position.turn,
        "last": position.last,
        "line": position.outcome.line if position.outcome else (),
        "comments": [text for at, text in record.comments if at == position.ply],
        **to_builtins(opening_fields(position, is_over=is_over)),
    }
