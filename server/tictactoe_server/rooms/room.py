"""A room as an immutable value, its terms, and its commands: requests of players, and events of connections and time.

Connections and watchers are not part of a room.
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

HOLD_MS: Final = 60_000
START_MS: Final = 30_000


class Terms(Struct, frozen=True, omit_defaults=True):
    """The terms of a room; the defaults are for casual games."""

    is_organised: bool = False
    """Whether a feature opens and closes the room, and sets its code, players and names; no limits count it."""

    absence: Literal["excused", "loses"] = "excused"
    """If "excused", an absent player has time for a first move while the seat is held, and after the hold loses only
    by the opponent's claim. If "loses", the end of the time for a first move or of the hold loses the game.
    """

    games_count: Literal["at end", "at opening", "never"] = "at end"  # towards the limits of stored games
    is_aborted: bool = True  # a game that ends before each player has moved does not count
    stands_still: bool = False  # after a start of the server, time stands still until `GoOn`
    draw_from: int = 0  # the number of moves before a draw may be offered
    undo: bool = True  # moves may be taken back
    rematch: bool = True  # another game may follow
    hints: bool = True  # watchers of a game against a bot may have it analysed
    guests: bool = True  # several people may play at one keyboard


USUAL: Final = Terms()


class Purpose(Struct, frozen=True, omit_defaults=True):
    """What the games of a room are for: casual play, or a purpose that a feature adds.

    Attributes:
        name: Begins the reasons of refusals, as in "rated draw"; "" for casual games.
        fields: Part of each message and record that has fields with these names.
        terms: Stored with the room, whose terms never change.
    """

    name: str = ""
    fields: dict[str, Any] = {}
    terms: Terms = USUAL

    def fields_of(self, kind: type) -> dict[str, Any]:
        """Return the fields that messages or records of this class have."""
        return {name: value for name, value in self.fields.items() if name in kind.__annotations__}


CASUAL: Final = Purpose()


class Player(Struct, frozen=True, omit_defaults=True):
    """A player with the name of this connection; `bot` is as in `SeatState`."""

    id: str  # public and permanent
    name: str
    bot: str | None = None


NOBODY: Final = Player("", "")  # the actor of commands of time


class Enter(Struct, frozen=True):
    """The player and guests take free seats, or return to their own."""

    guests: tuple[Player, ...] = ()


class Dropped(Struct, frozen=True):
    """The player's connection is lost; the seats of the player and guests are held."""


class HandOver(Struct, frozen=True):
    """Another player, still absent, takes over the player's seat."""

    heir: str  # the id


class Expire(Struct, frozen=True):
    """The running clock may have expired. The actor is `NOBODY`."""


class StandStill(Struct, frozen=True):
    """Time stops, if the room's terms allow it, until `GoOn`. The actor is `NOBODY`."""


class GoOn(Struct, frozen=True):
    """Time runs again, with full time for a first move and full holds. The actor is `NOBODY`."""


Asked = Move | Choose | Enter | Leave | Resign | Rematch | Draw | Undo | Claim
Command = Asked | Dropped | HandOver | Expire | StandStill | GoOn


def id_of(room: str, game: int, at: int) -> str:
    """Return the id of a stored game: the room's code, the game's number, and its end (ms since 1970)."""
    return f"{room}-{game}-{at}"


class Refused(Refusal):
    """A refused command; `url` is the server that has the room."""

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
        """Return the answer to a request, with its `id` and `room`."""
        more = {"path": self.path, "url": self.url, **request}
        return error_answer(self.code, self.message, retry_ms=self.retry_ms, data=self.data, **more)


class Room(Struct, frozen=True, omit_defaults=True):
    """A room. Times are ms of the server's clock."""

    code: str
    position: Position
    seats: dict[str, SeatState | None]  # by mark, in turn order; None for free seats
    opened_at: int
    visibility: Visibility = "public"
    clock: ClockFields | None = None
    seq: int = 1  # grows with each change
    game: int = 1
    result: Result | None = None
    offers: Offers = Offers()
    score: dict[str, int] = {}  # the number of won games by player id, and ``draws``
    gone_at: dict[str, int] = {}  # the times of lost connections, by id of the absent player
    hold_ms: int = HOLD_MS  # an absent player's seat is held this long
    start_ms: int = START_MS  # the time for a first move in a game with a clock
    analysis: Literal["closed", "open"] = "closed"  # whether running games of people may be analysed
    chat: Literal["all", "players"] = "all"  # the people with access to the chat
    remaining_ms: dict[str, int] = {}  # by mark, at the beginning of its turn
    clock_started_at: int | None = None  # the beginning of the turn, or None if no clock runs
    asked: dict[str, int] = {}  # the successful requests for offers, each with the number of moves before; see `offers`
    happened: tuple[Happening, ...] = ()  # what the last change did beyond the change of the state
    kept_at: int = 0  # the end of the last game (ms since 1970), 0 if the game is not stored
    purpose: Purpose = CASUAL

    @property
    def terms(self) -> Terms:
        return self.purpose.terms

    @property
    def rules(self) -> Rules:
        return self.position.rules

    @property
    def status(self) -> RoomStatus:
        if self.result is not None:
            return "over"
        return "waiting" if None in self.seats.values() else "playing"

    @property
    def stands_still(self) -> bool:
        """Whether time stands still in a running game."""
        return self.terms.stands_still and self.clock_started_at is None and self.status == "playing"

    @property
    def game_id(self) -> str:
        """The id of the finished game, or "" if the game is running or not stored."""
        return id_of(self.code, self.game, self.kept_at) if self.result is not None and self.kept_at else ""

    @property
    def is_beginning(self) -> bool:
        """Whether a game that is given up now is aborted, since a player has not moved yet."""
        position = self.position
        return self.terms.is_aborted and not (position.moves and all(map(position.has_acted, position.active_marks)))

    @property
    def was_aborted(self) -> bool:
        """Whether the game ended before each player had moved; it does not count and is not stored."""
        return self.result is not None and self.result.reason == "aborted"

    @property
    def names(self) -> dict[str, str]:
        return {mark: seat.name for mark, seat in self.seats.items() if seat is not None}

    @property
    def held_seats(self) -> list[SeatState]:
        return [seat for seat in self.seats.values() if seat is not None]

    @property
    def people(self) -> int:
        """The number of people who hold a seat and have not left it."""
        return sum(not (seat.is_server_bot or seat.left) for seat in self.held_seats)

    @property
    def places(self) -> int:
        """The number of seats for people, free ones included; constant."""
        return len([seat for seat in self.seats.values() if seat is None or not seat.is_server_bot])

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
        """Whether a human player is connected."""
        return any(seat is not None and seat.online and not seat.is_server_bot for seat in self.seats.values())

    @property
    def is_deserted(self) -> bool:
        """Whether all people have left; False for organised rooms and rooms of bots alone."""
        return not (self.people or self.is_for_bots or self.terms.is_organised)

    @property
    def newest_time(self) -> int:
        return max(self.opened_at, self.clock_started_at or 0, *self.gone_at.values())

    def mark_of(self, player: str) -> str | None:
        """Return the mark of the player's seat, or None without a seat or after leaving it."""
        for mark, seat in self.seats.items():
            if seat is not None and seat.player == player and not seat.left:
                return mark
        return None

    def marks_of(self, player: str) -> list[str]:
        """Return the marks of a player and the player's guests, without seats that were left."""
        return [
            mark
            for mark, seat in self.seats.items()
            if seat is not None and player in (seat.player, owner_of(seat.player)) and not seat.left
        ]

    def seat(self, mark: str | None) -> SeatState:
        """Return the seat of a mark; raises LookupError if it is free."""
        seat = self.seats[mark] if mark is not None else None
        if seat is None:
            raise LookupError(f"Nobody holds the seat {mark!r} of room {self.code}.")
        return seat

    def held_until(self, mark: str) -> int | None:
        """Return the end of an absent player's hold, or None for a player who is online or has left."""
        seat = self.seat(mark)
        gone_at = self.gone_at.get(seat.player)
        return None if seat.online or seat.left or gone_at is None else gone_at + self.hold_ms

    def hold_left(self, mark: str, now: int) -> int | None:
        """Return the ms until the end of an absent player's hold, 0 after it, or None as in `held_until`."""
        until = self.held_until(mark)
        return None if until is None else max(0, until - now)

    def seated(self, player: Player) -> str:
        """Return the player's mark; raises `Refused` without a seat."""
        mark = self.mark_of(player.id)
        if mark is not None:
            return mark
        if is_guest(player.id):
            raise Refused(ErrorCode.NOT_SEATED, "guest", path="player", player=player.id)
        raise Refused(ErrorCode.NOT_SEATED)

    def check_playing(self) -> None:
        """Raise `Refused` unless the game is running."""
        if self.result is not None:
            raise Refused(ErrorCode.GAME_OVER)
        if None in self.seats.values():
            raise Refused(ErrorCode.NOT_STARTED, "seat")

    def check_active(self, mark: str) -> None:
        """Raise `Refused` unless the game is running and the player is still in it."""
        self.check_playing()
        if self.position.passed and mark not in self.position.active_marks:
            raise Refused(ErrorCode.NOT_ALLOWED, "out")
