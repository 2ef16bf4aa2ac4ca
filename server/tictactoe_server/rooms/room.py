"""A room as a value: who sits where and the game on the table; and what can be asked of it.

It never changes: a command makes the next one. Commands are the wire's own requests, and what the server tells a room
of connections and of time. Connections and watchers are no part of it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode, error_answer
from tictactoe_protocol.guests import is_guest, owner_of
from tictactoe_protocol.pushes import Error, Happening, Offers, Result, RoomStatus, SeatState, Visibility
from tictactoe_protocol.refusals import Refusal
from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms.terms import USUAL, Terms

HOLD_MS: Final = 60_000
START_MS: Final = 30_000
"""The `hold_ms` and `start_ms` of a room where nothing else is said."""


class Player(Struct, frozen=True, omit_defaults=True):
    """Who acts: `id` is public and stays, `name` is what others read; `bot` as in `SeatState`, for this connection."""

    id: str
    name: str
    bot: str | None = None


NOBODY: Final = Player("", "")  # who acts when time does


class Enter(Struct, frozen=True):
    """The player takes a free seat and the guests one each, or all of them return to the seats that they hold."""

    guests: tuple[Player, ...] = ()


class Dropped(Struct, frozen=True):
    """The player's connection is gone; the seats of the player and the player's guests are held."""


class HandOver(Struct, frozen=True):
    """Somebody else plays on for the player, by their id, who is still to come."""

    heir: str


class Expire(Struct, frozen=True):
    """The running clock may have run out; changes nothing where it has not. No player acts."""


class StandStill(Struct, frozen=True):
    """Nothing is due until the room is told to go on, where its terms say so: not all are back. Nobody acts."""


class GoOn(Struct, frozen=True):
    """Time runs again where it stood still, a first move due and a hold ending as late as ever. Nobody acts."""


Asked = Move | Choose | Enter | Leave | Resign | Rematch | Draw | Undo | Claim
Command = Asked | Dropped | HandOver | Expire | StandStill | GoOn


def id_of(room: str, game: int, at: int) -> str:
    """Return the id of a game that is kept, by which the log finds it again: code, number, and when it ended."""
    return f"{room}-{game}-{at}"


class Refused(Refusal):
    """A command that was not carried out, with what its sender is told; `url` is where another server has the room."""

    def __init__(
        self,
        code: ErrorCode,
        why: str = "",
        *,
        path: str | None = None,
        retry_ms: int | None = None,
        url: str | None = None,
        **data: Any,
    ) -> None:
        super().__init__(code, why, **data)
        self.path, self.retry_ms, self.url = path, retry_ms, url

    def answer(self, **request: str | None) -> Error:
        """Return it as the answer to a request with such an `id`, for a `room`."""
        more = {"path": self.path, "url": self.url, **request}
        return error_answer(self.code, self.message, retry_ms=self.retry_ms, data=self.data, **more)


class Room(Struct, frozen=True, omit_defaults=True):
    """One room; `seats` maps each mark, in turn order, to who holds it, None where free.

    `seq` grows with every change. `score` holds the games won by each player's id, and ``draws``. Times are ms of the
    server's clock: `opened_at`; `gone_at`, when the connection of a player who is away dropped, by id; `hold_ms`, how
    long their seat is kept; `start_ms`, within how long a first move is due with a clock; `remaining_ms`, what each
    mark's clock showed when its turn began; `clock_started_at`, when the time for this turn began, None for none.
    `asked` is what was asked of this game and took effect, see `offers`, each with the number of moves before it.
    `happened` is what the change to this `seq` brought beside what shows in the state. `event` and `pairing` say for
    what it was opened, empty for a room that is no event's; what differs there are its `terms`, which are not stored.
    `kept_at` is when the last game ended that is over, in ms since 1970, 0 where it was not kept.
    Games of one that is `rated` count for ratings.
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
    hold_ms: int = HOLD_MS
    start_ms: int = START_MS
    analysis: Literal["closed", "open"] = "closed"  # whether running games of people may be analysed
    chat: Literal["all", "players"] = "all"  # who may chat
    remaining_ms: dict[str, int] = {}
    clock_started_at: int | None = None
    asked: dict[str, int] = {}
    happened: tuple[Happening, ...] = ()
    event: str = ""
    pairing: str = ""
    kept_at: int = 0
    terms: Terms = USUAL
    rated: bool = False

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
    def stands_still(self) -> bool:
        """Whether time does not run in a game that is on, whose terms allow for that."""
        return self.terms.stands_still and self.clock_started_at is None and self.status == "playing"

    @property
    def game_id(self) -> str:
        """The id of the game that is over, empty if none is or it was not kept."""
        return id_of(self.code, self.game, self.kept_at) if self.result is not None and self.kept_at else ""

    @property
    def is_beginning(self) -> bool:
        """Whether a game that is given up is aborted: somebody who plays has not moved, or chosen, yet."""
        return self.terms.is_aborted and not all(map(self.position.has_acted, self.position.active_marks))

    @property
    def was_aborted(self) -> bool:
        """Whether the game ended before everybody had moved: it counts for nobody and is not kept."""
        return self.result is not None and self.result.reason == "aborted"

    @property
    def names(self) -> dict[str, str]:
        """Who sits there, by mark."""
        return {mark: seat.name for mark, seat in self.seats.items() if seat is not None}

    @property
    def held_seats(self) -> list[SeatState]:
        return [seat for seat in self.seats.values() if seat is not None]

    @property
    def people(self) -> int:
        """How many people hold a seat that they have not left."""
        return sum(not (seat.is_server_bot or seat.left) for seat in self.held_seats)

    @property
    def places(self) -> int:
        """How many seats are for people, free ones as well. It stays what it was when the room was opened."""
        return sum(seat is None or not seat.is_server_bot for seat in self.seats.values())

    @property
    def is_for_several(self) -> bool:
        return self.places > 1

    @property
    def has_bots(self) -> bool:
        return self.places < len(self.seats)

    @property
    def is_for_bots(self) -> bool:
        return not self.places

    @property
    def has_somebody(self) -> bool:
        """Whether a person who plays is connected."""
        return any(seat is not None and seat.online and not seat.is_server_bot for seat in self.seats.values())

    @property
    def is_deserted(self) -> bool:
        """Whether no person is left who could play on. A room for bots alone never is, nor one that is kept."""
        return not (self.people or self.is_for_bots or self.terms.is_kept)

    @property
    def newest_time(self) -> int:
        """The latest moment that the room knows of, in ms of the server's clock."""
        return max(self.opened_at, self.clock_started_at or 0, *self.gone_at.values())

    def mark_of(self, player: str) -> str | None:
        """Return the mark of the seat that a player holds and has not left, or None."""
        for mark, seat in self.seats.items():
            if seat is not None and seat.player == player and not seat.left:
                return mark
        return None

    def marks_of(self, player: str) -> list[str]:
        """Return the marks of the seats that a player and the player's guests hold and have not left."""
        return [
            mark
            for mark, seat in self.seats.items()
            if seat is not None and player in (seat.player, owner_of(seat.player)) and not seat.left
        ]

    def seat(self, mark: str | None) -> SeatState:
        """Return the seat of a mark that somebody holds; raises LookupError where nobody does."""
        seat = self.seats[mark] if mark is not None else None
        if seat is None:
            raise LookupError(f"Nobody holds the seat {mark!r} of room {self.code}.")
        return seat

    def held_until(self, mark: str) -> int | None:
        """Return until when a seat is held for one who is away, None for one who is here or has left."""
        seat = self.seat(mark)
        gone_at = self.gone_at.get(seat.player)
        return None if seat.online or seat.left or gone_at is None else gone_at + self.hold_ms

    def hold_left(self, mark: str, now: int) -> int | None:
        """Return for how many ms a seat is still held, 0 past that, None for one who is not away."""
        until = self.held_until(mark)
        return None if until is None else max(0, until - now)

    def seated(self, player: Player) -> str:
        """Return the mark that the player plays; refuses whoever has no seat."""
        mark = self.mark_of(player.id)
        if mark is None:
            if is_guest(player.id):
                raise Refused(ErrorCode.NOT_SEATED, "guest", path="player", player=player.id)
            raise Refused(ErrorCode.NOT_SEATED)
        return mark

    def check_playing(self) -> None:
        """Refuse what needs a game that has begun and is not over."""
        if self.result is not None:
            raise Refused(ErrorCode.GAME_OVER)
        if None in self.seats.values():
            raise Refused(ErrorCode.NOT_STARTED, "seat")

    def check_active(self, mark: str) -> None:
        """Refuse what needs such a game, and a player who resigned or ran out of time while others play on."""
        self.check_playing()
        if self.position.passed and mark not in self.position.active_marks:
            raise Refused(ErrorCode.NOT_ALLOWED, "out")
