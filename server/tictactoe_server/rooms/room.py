"""A room as a value: who sits where, the game on the table, and what a command makes of them.

`Room.apply` is the one way to change a room. It answers the next room, or raises `Refused` and has changed nothing.
Time comes in as an argument; connections and watchers are the hub's.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from tictactoe_engine import IllegalMove, Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Offers, Result, RoomStatus, SeatState, Visibility
from tictactoe_protocol.requests import ClockFields, Leave, Move, Rematch, Resign
from tictactoe_server.rooms.commands import Command, Dropped, Enter


class Refused(Exception):
    """A command that was not carried out; `code` and `message` go to whoever sent it."""

    def __init__(self, code: ErrorCode, message: str, *, path: str | None = None, retry_ms: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        self.retry_ms = retry_ms


class Player(Struct, frozen=True):
    """Who acts: `id` is public and stays, `name` is what others read."""

    id: str
    name: str


class Room(Struct, frozen=True, omit_defaults=True):
    """One room; `seats` maps each mark, in turn order, to who holds it, None where free. Its dictionaries never change.

    `seq` grows with every change. `score` holds the games won by each player's id, and ``draws``. `opened_at` and
    `gone_at` (when the connection of a player who is away dropped, by id) are in ms of the server's clock.
    """

    code: str
    position: Position
    seats: dict[str, SeatState | None]
    opened_at: int
    visibility: Visibility = "public"
    clock: ClockFields | None = None
    seq: int = 1
    game: int = 1
    result: Result | None = None
    offers: Offers = Offers()
    score: dict[str, int] = {}
    gone_at: dict[str, int] = {}

    @classmethod
    def open(
        cls,
        code: str,
        rules: Rules,
        player: Player,
        now: int,
        *,
        seat: str | None = None,
        visibility: Visibility = "public",
    ) -> Room:
        """Return a new room in which `player` plays the mark `seat`, the first where None, and others are free."""
        seats: dict[str, SeatState | None] = dict.fromkeys(rules.marks)
        seats[seat or rules.marks[0]] = _seat_of(player)
        score = {player.id: 0, "draws": 0}
        return cls(code, Position.start(rules), seats, now, visibility=visibility, score=score)

    @property
    def rules(self) -> Rules:
        """The rules of this room's games."""
        return self.position.rules

    @property
    def status(self) -> RoomStatus:
        """``waiting`` while a seat is free, then ``playing``, then ``over``."""
        if self.result is not None:
            return "over"
        return "waiting" if None in self.seats.values() else "playing"

    @property
    def is_deserted(self) -> bool:
        """Whether nobody is left who could play on: every seat is free, a bot's, or left for good."""
        return all(seat is None or seat.left or seat.bot for seat in self.seats.values())

    def mark_of(self, player: str) -> str | None:
        """Return the mark of the seat that a player holds and has not left, or None."""
        for mark, seat in self.seats.items():
            if seat is not None and seat.player == player and not seat.left:
                return mark
        return None

    def apply(self, player: Player, command: Command, now: int) -> Room:
        """Return the room after the command, this very room where it changes nothing; raises `Refused`."""
        match command:
            case Move():
                return self._play(player, command)
            case Enter():
                return self._enter(player)
            case Dropped():
                return self._drop(player, now)
            case Leave():
                return self._leave(player)
            case Resign():
                mark = self._seated(player)
                self._check_playing()
                return self._resign(mark)
            case Rematch():
                return self._ask_rematch(player)
            case _:
                assert_never(command)

    def _play(self, player: Player, move: Move) -> Room:
        mark, position = self._seated(player), self.position
        if move.ply < position.ply and position.moves[move.ply] == move.cell and position.board[move.cell] == mark:
            return self
        self._check_playing()
        if position.turn != mark:
            raise Refused(ErrorCode.NOT_YOUR_TURN, f"It's {self._seat(position.turn).name}'s move.")
        if move.ply != position.ply:
            message = f"You sent move number {move.ply}, but {position.ply} lie on the board: look again."
            raise Refused(ErrorCode.STALE, message, path="ply")
        try:
            position = position.play(move.cell)
        except IllegalMove as illegal:
            raise Refused(ErrorCode(illegal.code), illegal.message, path="cell") from None
        room = replace(self, seq=self.seq + 1, position=position)
        outcome = position.outcome
        return room if outcome is None else room._finish(Result(outcome.winner, outcome.reason, outcome.line))

    def _enter(self, player: Player) -> Room:
        held = self.mark_of(player.id)
        if held is not None:
            seat = self._seat(held)
            here = replace(seat, name=player.name, online=True)
            if here == seat:
                return self
            gone_at = {id: when for id, when in self.gone_at.items() if id != player.id}
            return replace(self._with_seat(held, here), gone_at=gone_at)
        if any(seat is not None and seat.player == player.id for seat in self.seats.values()):
            raise Refused(ErrorCode.NOT_ALLOWED, "You left this room for good; you may watch it.")
        free = next((mark for mark, seat in self.seats.items() if seat is None), None)
        if free is not None:
            room = self._with_seat(free, _seat_of(player))
            return replace(room, score={**self.score, player.id: 0})
        raise Refused(ErrorCode.ROOM_FULL, f"Room {self.code} is full; you may watch it.")

    def _drop(self, player: Player, now: int) -> Room:
        mark = self.mark_of(player.id)
        if mark is None or not self._seat(mark).online:
            return self
        room = self._with_seat(mark, replace(self._seat(mark), online=False))
        return replace(room, gone_at={**self.gone_at, player.id: now})

    def _leave(self, player: Player) -> Room:
        mark = self._seated(player)
        if self.status == "waiting":
            score = {id: wins for id, wins in self.score.items() if id != player.id}
            return replace(self._with_seat(mark, None), score=score)
        is_in_game = self.status == "playing" and mark in self.position.active_marks
        room = self._resign(mark) if is_in_game else replace(self, seq=self.seq + 1)
        gone = replace(self._seat(mark), online=False, left=True)
        return replace(room, seats={**room.seats, mark: gone}, offers=Offers())

    def _resign(self, mark: str) -> Room:
        """Return the room without this mark in the game: passed over, or lost where one other is left."""
        active = self.position.active_marks
        if mark not in active:
            raise Refused(ErrorCode.NOT_ALLOWED, "You are out of this game already.")
        if len(active) > 2:
            return replace(self, seq=self.seq + 1, position=self.position.pass_over(mark))
        winner = active.replace(mark, "")
        return replace(self, seq=self.seq + 1)._finish(Result(winner, "resigned"))

    def _ask_rematch(self, player: Player) -> Room:
        mark = self._seated(player)
        if self.status == "waiting":
            raise Refused(ErrorCode.NOT_STARTED, "The game has not started.")
        if self.status == "playing":
            raise Refused(ErrorCode.NOT_ALLOWED, "The game is not over yet.")
        for seat in self.seats.values():
            if seat is not None and seat.left:
                raise Refused(ErrorCode.NOT_ALLOWED, f"{seat.name} left the room: there is nobody to play again.")
        if mark in self.offers.rematch:
            return self
        agreed = tuple(other for other in self.seats if other == mark or other in self.offers.rematch)
        if len(agreed) == len(self.seats):
            return self._start_again()
        return replace(self, seq=self.seq + 1, offers=replace(self.offers, rematch=agreed))

    def _start_again(self) -> Room:
        """Return the room with the next game on the table, everyone one mark further on."""
        marks, seated = self.rules.marks, list(self.seats.values())
        return replace(
            self,
            seq=self.seq + 1,
            game=self.game + 1,
            position=Position.start(self.rules),
            seats=dict(zip(marks, [seated[-1], *seated[:-1]], strict=True)),
            result=None,
            offers=Offers(),
        )

    def _finish(self, result: Result) -> Room:
        """Return the room with the game over and its score counted; `seq` is the caller's."""
        winner = "draws" if result.winner is None else self._seat(result.winner).player
        score = {**self.score, winner: self.score.get(winner, 0) + 1}
        return replace(self, result=result, offers=Offers(), score=score)

    def _with_seat(self, mark: str, seat: SeatState | None) -> Room:
        return replace(self, seq=self.seq + 1, seats={**self.seats, mark: seat})

    def _seated(self, player: Player) -> str:
        mark = self.mark_of(player.id)
        if mark is None:
            raise Refused(ErrorCode.NOT_SEATED, "You only watch this room.")
        return mark

    def _check_playing(self) -> None:
        if self.result is not None:
            raise Refused(ErrorCode.GAME_OVER, "The game is over.")
        if None in self.seats.values():
            raise Refused(ErrorCode.NOT_STARTED, "The game has not started: a seat is still free.")

    def _seat(self, mark: str | None) -> SeatState:
        """Return the seat of a mark that somebody holds."""
        seat = self.seats[mark] if mark is not None else None
        if seat is None:
            raise LookupError(f"Nobody holds the seat {mark!r} of room {self.code}.")
        return seat


def _seat_of(player: Player) -> SeatState:
    return SeatState(player.id, player.name, online=True, bot=None)
