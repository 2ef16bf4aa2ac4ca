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
    """One room; `seats` stand in the order of the marks, None where free. `seq` grows with every change.

    `score` holds the games won by each player's id, and ``draws``. `opened_at` and `gone_at` (when the connection of a
    player who is away dropped, by id) are in ms of the server's clock.
    """

    code: str
    position: Position
    seats: tuple[SeatState | None, ...]
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
        cls, code: str, rules: Rules, player: Player, now: int, *, seat: int = 0, visibility: Visibility = "public"
    ) -> Room:
        """Return a new room in which `player` holds seat number `seat` and the others are free."""
        seats = tuple(_seat_of(player) if index == seat else None for index in range(len(rules.marks)))
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
        return "waiting" if None in self.seats else "playing"

    @property
    def is_deserted(self) -> bool:
        """Whether nobody is left who could play on: every seat is free or left for good."""
        return all(seat is None or seat.left or seat.bot for seat in self.seats)

    def seat_of(self, player: str) -> int | None:
        """Return the number of the seat that a player holds and has not left, or None."""
        for index, seat in enumerate(self.seats):
            if seat is not None and seat.player == player and not seat.left:
                return index
        return None

    def mark_of(self, player: str) -> str | None:
        """Return the mark that a player plays, or None for one who holds no seat."""
        index = self.seat_of(player)
        return None if index is None else self.rules.marks[index]

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
                index = self._seated(player)
                self._check_playing()
                return self._resign(index)
            case Rematch():
                return self._ask_rematch(player)
            case _:
                assert_never(command)

    def _play(self, player: Player, move: Move) -> Room:
        index = self._seated(player)
        position, mark = self.position, self.rules.marks[index]
        if move.ply < position.ply and position.moves[move.ply] == move.cell and position.board[move.cell] == mark:
            return self
        self._check_playing()
        if position.turn != mark:
            raise Refused(ErrorCode.NOT_YOUR_TURN, f"It's {self._name_of(position.turn)}'s move.")
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
        index = self.seat_of(player.id)
        if index is not None:
            seat = self.seats[index]
            assert seat is not None
            here = replace(seat, name=player.name, online=True)
            if here == seat:
                return self
            gone_at = {id: when for id, when in self.gone_at.items() if id != player.id}
            return replace(self._with_seat(index, here), gone_at=gone_at)
        if any(seat is not None and seat.player == player.id for seat in self.seats):
            raise Refused(ErrorCode.NOT_ALLOWED, "You left this room for good; you may watch it.")
        if None not in self.seats:
            raise Refused(ErrorCode.ROOM_FULL, f"Room {self.code} is full; you may watch it.")
        room = self._with_seat(self.seats.index(None), _seat_of(player))
        return replace(room, score={**self.score, player.id: 0})

    def _drop(self, player: Player, now: int) -> Room:
        index = self.seat_of(player.id)
        seat = None if index is None else self.seats[index]
        if index is None or seat is None or not seat.online:
            return self
        room = self._with_seat(index, replace(seat, online=False))
        return replace(room, gone_at={**self.gone_at, player.id: now})

    def _leave(self, player: Player) -> Room:
        index = self._seated(player)
        if self.status == "waiting":
            score = {name: wins for name, wins in self.score.items() if name != player.id}
            return replace(self._with_seat(index, None), score=score)
        room = self._resign(index) if self.status == "playing" else replace(self, seq=self.seq + 1)
        seat = self.seats[index]
        assert seat is not None
        seats = _replaced(room.seats, index, replace(seat, online=False, left=True))
        return replace(room, seats=seats, offers=Offers())

    def _resign(self, index: int) -> Room:
        """Return the room without this player in the game: passed over, or lost where one other is left."""
        mark = self.rules.marks[index]
        active = self.position.active_marks
        if mark not in active:
            raise Refused(ErrorCode.NOT_ALLOWED, "You are out of this game already.")
        if len(active) > 2:
            return replace(self, seq=self.seq + 1, position=self.position.pass_over(mark))
        winner = active.replace(mark, "")
        return replace(self, seq=self.seq + 1)._finish(Result(winner, "resigned"))

    def _ask_rematch(self, player: Player) -> Room:
        index = self._seated(player)
        if self.status == "waiting":
            raise Refused(ErrorCode.NOT_STARTED, "The game has not started.")
        if self.status == "playing":
            raise Refused(ErrorCode.NOT_ALLOWED, "The game is not over yet.")
        for seat in self.seats:
            if seat is not None and seat.left:
                raise Refused(ErrorCode.NOT_ALLOWED, f"{seat.name} left the room: there is nobody to play again.")
        marks = self.rules.marks
        if marks[index] in self.offers.rematch:
            return self
        agreed = {*self.offers.rematch, marks[index]}
        if len(agreed) == len(marks):
            return self._start_again()
        asked = tuple(mark for mark in marks if mark in agreed)
        return replace(self, seq=self.seq + 1, offers=replace(self.offers, rematch=asked))

    def _start_again(self) -> Room:
        """Return the room with the next game on the table, everyone one mark further on."""
        return replace(
            self,
            seq=self.seq + 1,
            game=self.game + 1,
            position=Position.start(self.rules),
            seats=(self.seats[-1], *self.seats[:-1]),
            result=None,
            offers=Offers(),
        )

    def _finish(self, result: Result) -> Room:
        """Return the room with the game over and its score counted; `seq` is the caller's."""
        winner = "draws" if result.winner is None else self._player_of(result.winner)
        score = {**self.score, winner: self.score.get(winner, 0) + 1}
        return replace(self, result=result, offers=Offers(), score=score)

    def _with_seat(self, index: int, seat: SeatState | None) -> Room:
        return replace(self, seq=self.seq + 1, seats=_replaced(self.seats, index, seat))

    def _seated(self, player: Player) -> int:
        index = self.seat_of(player.id)
        if index is None:
            raise Refused(ErrorCode.NOT_SEATED, "You only watch this room.")
        return index

    def _check_playing(self) -> None:
        if self.result is not None:
            raise Refused(ErrorCode.GAME_OVER, "The game is over.")
        if None in self.seats:
            raise Refused(ErrorCode.NOT_STARTED, "The game has not started: a seat is still free.")

    def _player_of(self, mark: str) -> str:
        seat = self.seats[self.rules.marks.index(mark)]
        assert seat is not None
        return seat.player

    def _name_of(self, mark: str | None) -> str:
        seat = None if mark is None else self.seats[self.rules.marks.index(mark)]
        return "nobody" if seat is None else seat.name


def _replaced(seats: tuple[SeatState | None, ...], index: int, seat: SeatState | None) -> tuple[SeatState | None, ...]:
    return (*seats[:index], seat, *seats[index + 1 :])


def _seat_of(player: Player) -> SeatState:
    return SeatState(player.id, player.name, online=True, bot=None)
