"""A game on record as a room that one looks back in: nobody plays, no server takes part, and every face shows it alike.

Its last state is the newest; the moments before it are a `Timeline`'s, as in any room.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tictactoe_client.input import intents
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.intents import BadInput, Intent, Look, Verb
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import list_moves, read_cell
from tictactoe_client.text.help import describe_record_help
from tictactoe_client.text.record import describe_notes, describe_players, name_in
from tictactoe_engine import Position
from tictactoe_engine.records import GameRecord, format_record
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Offers, Ok, Result, RoomState, RulesState, SeatState
from tictactoe_protocol.requests import Leave, Request

STEP_HELP: Final = "n next, p previous, a number that move, b board, h help, q quit."


class _Shelf:
    """Where a record stands: what a room asks of a server nobody answers here."""

    player = ""
    features: frozenset[str] = frozenset()

    async def request(self, request: Request) -> Ok:
        """Let whoever looks go; raises `Refused` for anything else."""
        if isinstance(request, Leave):
            return Ok(id="")
        raise Refused("not_allowed", "This is a record of a game: it is looked at, and nothing else.")

    def forget(self, room: Room) -> None:
        """Let go of a room: nothing is kept here."""


class RecordedRoom(Room):
    """The room of one recorded game, which is its `content`."""

    def __init__(self, content: GameRecord) -> None:
        super().__init__(_Shelf(), content.room or "")
        self.content = content
        self._enter(Ok(id="", moves=content.moves))
        self._take(_state_of(content))

    @property
    def position(self) -> Position:
        """The last position."""
        return self.content.position

    async def record(self, game: int) -> str:
        """Return the record as text, whatever the game's number."""
        return format_record(self.content)


class RecordActions(Actions):
    """What one does with a record, beginning after `ply` moves: one steps, and asks about the moment that is shown."""

    def __init__(
        self,
        room: RecordedRoom,
        settings: Settings,
        ply: int = 0,
        *,
        shows: bool = False,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(room, settings, shows=shows, tell=tell)
        self._record = room.content
        self.timeline = self.timeline.jump(ply)

    def parse(self, line: str) -> Intent | BadInput:
        """Return what a typed line asks for: a number is a move here, and an empty line goes on."""
        word = line.strip().lower().removeprefix("/").removeprefix(":")
        if word in ("", "n"):
            return Look("by", 1)
        if word == "q":
            return Verb("quit")
        if word.isascii() and word.isdigit() and len(word) <= 6:
            return Look("at", int(word))
        intent = super().parse(line)
        is_unknown = isinstance(intent, BadInput) and intent.message.startswith("I don't know")
        if is_unknown or isinstance(intent, intents.Say | intents.Mute) or _is_for_players(intent):
            return BadInput(
                "bad_input", f'I don\'t know "{clean_text(line.strip().removeprefix(":"))}". Type {STEP_HELP}'
            )
        return intent

    def _answer(self, intent: Intent, state: RoomState) -> list[str] | None:
        shown = self.timeline.show(state)
        match intent:
            case intents.Query(kind="who"):
                return [f"{describe_players(self._record)}."]
            case intents.Query(kind="clock"):
                return ["A record does not tell what the clocks showed."]
            case intents.Query(kind="help"):
                return describe_record_help()
            case intents.Query(kind="board"):
                return self._draw(state, is_wanted=True)
            case intents.Place():
                return [read_cell(shown, intent.cell)]
            case intents.Moves():
                return [list_moves(shown, self.timeline.moves[: self.timeline.here], intent.count)]
            case Look():
                return super()._answer(intent, state)
            case _:
                return super()._answer(intent, shown)

    def tell_moment(self, look: Look | None = None) -> list[str]:
        """Return what is to be told of the moment that is looked at, with its board where boards are drawn."""
        return super().tell_moment()

    def describe_moment(self, state: RoomState) -> list[str]:
        """Return the move that led to the moment that is looked at, and what the record notes there."""
        return [*super().describe_moment(state), *describe_notes(self._record, self.timeline.here)]

    def _describe_edge(self, *, is_end: bool) -> str:
        return "This is the end: p goes back, q quits." if is_end else "This is the start: n goes on, q quits."

    def _name(self, state: RoomState, mark: str) -> str:
        return name_in(self._record, mark)


def _is_for_players(intent: Intent | BadInput) -> bool:
    return isinstance(intent, Verb) and intent.kind not in ("leave", "quit")


def _state_of(record: GameRecord) -> RoomState:
    """Return what the room of the game would show to one who watches, after its last move."""
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
    )
