"""A room as an immutable value, its terms, and its clocks. Connections and watchers are not part of a room.

- A player's clock runs from the player's second move on. The first move, or the choice in an opening, has a separate
  time limit and earns no increment.
- With a clock for each move, every turn starts with the full time.
- If a turn ends without a move, the player keeps the time that was left.
- With a clock of days, each turn, also the first, has these days and the player's reserve. Absence costs nothing.
- The time for a first move stops while the absent player's seat is held, unless the `absence` term is "loses".
- After a server restart, moves may be played while the clocks are stopped; see `Terms.stands_still`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode, error_answer
from tictactoe_protocol.guests import is_guest, owner_of
from tictactoe_protocol.pushes import GUEST, Error, Happening, Offers, Result, RoomStatus, SeatState, Visibility
from tictactoe_protocol.refusals import Refusal
from tictactoe_protocol.terms import ClockFields, ClockState, RulesState
from tictactoe_words.refusals import describe_fault

HOLD_MS: Final = 60_000
START_MS: Final = 30_000
_PEOPLE: Final = (None, GUEST)  # the values of `SeatState.bot` for people and their own programs


class Terms(Struct, frozen=True, omit_defaults=True):
    """The terms of play in a room. The defaults are for casual games."""

    is_organised: bool = False
    """Whether a feature opens and closes the room and sets its code, players and names. Limits ignore the room."""

    absence: Literal["excused", "loses", "normal"] = "excused"
    """If "excused", the time for a first move stops while an absent player's seat is held, and after the hold the
    player loses only if the opponent claims the game. If "loses", the player loses when the time for a first move or
    the hold ends. If "normal", as in games over days, no seat is held.
    """

    games_count: Literal["at end", "at opening", "never"] = "at end"  # towards limits on stored games
    is_aborted: bool = True  # whether a game that is given up before each player has moved is aborted and not counted
    stands_still: bool = False  # whether clocks are stopped after a server restart until all are back
    draw_from: int = 0  # the number of moves before a draw may be offered
    undo: bool = True  # whether moves may be taken back
    rematch: bool = True  # whether another game may follow
    hints: bool = True  # whether watchers may analyse a running game with at most one human player
    guests: bool = True  # whether several people may play at one keyboard


USUAL: Final = Terms()


class Purpose(Struct, frozen=True, omit_defaults=True):
    """What the games of a room are for: casual play, or a purpose that a feature adds.

    Attributes:
        name: The name of the purpose, such as ``rated``, or "" for casual games. It begins the keys of the purpose's
            own sentences for refusals, such as "rated draw".
        fields: Values that are added to every message and record whose class has a field of that name.
        terms: The terms of the room. They are stored with the room and never change.
    """

    name: str = ""
    fields: dict[str, Any] = {}
    terms: Terms = USUAL

    def fields_of(self, kind: type) -> dict[str, Any]:
        """Return the items of `fields` with the names of fields in the class `kind`, a message or a record."""
        return {name: value for name, value in self.fields.items() if name in kind.__annotations__}


CASUAL: Final = Purpose()


class Player(Struct, frozen=True, omit_defaults=True):
    """A player, under the name that the current connection uses; `bot` is as in `SeatState`."""

    id: str  # public and permanent
    name: str
    bot: str | None = None


NOBODY: Final = Player("", "")  # the acting player of changes that no player requests, such as an expired clock


def id_of(room: str, game: int, at: int) -> str:
    """Return the id of a stored game: the room's code, the game's number, and its end (ms since 1970)."""
    return f"{room}-{game}-{at}"


class Refused(Refusal):
    """A command is refused. If another server owns the room, `url` is that server's URL."""

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
        """Return the error reply; `request` holds the `id` and `room` of the refused request."""
        more = {"path": self.path, "url": self.url, **request}
        return error_answer(self.code, describe_fault(self), retry_ms=self.retry_ms, data=self.data, **more)


def moved_error(code: str, url: str) -> Refused:
    """Return the refusal of a request for a room on another server."""
    return Refused(ErrorCode.MOVED, url=url, room=code, at=url)


class Room(Struct, frozen=True, omit_defaults=True):
    """A room. Times are in ms of served time unless noted otherwise."""

    code: str
    position: Position
    seats: dict[str, SeatState | None]  # by mark, in turn order; None for free seats
    opened_at: int
    visibility: Visibility = "public"
    clock: ClockFields | None = None
    seq: int = 1  # incremented by each change
    game: int = 1
    result: Result | None = None
    offers: Offers = Offers()
    score: dict[str, int] = {}  # the number of games won, by player id, and the number of draws under "draws"
    gone_at: dict[str, int] = {}  # when each absent player's connection was lost, by player id
    hold_ms: int = HOLD_MS  # how long an absent player's seat is held
    start_ms: int = START_MS  # the time for a first move in a game with a clock
    analysis: Literal["closed", "open"] = "closed"  # whether running games between people may be analysed
    chat: Literal["all", "players"] = "all"  # the people with access to the chat
    remaining_ms: dict[str, int] = {}  # the time left for each mark when the current turn began
    clock_started_at: int | None = None  # when the current turn began, or None if no clock is running
    asked: dict[str, int] = {}  # the number of moves at each successful request about an offer; see `offers`
    happened: tuple[Happening, ...] = ()  # events of the last change that the new state does not show
    kept_at: int = 0  # when the game ended (ms since 1970), or 0 if it is running or not stored
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
    def keeps_seats(self) -> bool:
        """Whether absence costs nothing, as in games over days."""
        return self.purpose.terms.absence == "normal"

    @property
    def is_standing_offer(self) -> bool:
        """Whether the room awaits an opponent even while its players are away."""
        return self.keeps_seats and self.status == "waiting"

    @property
    def stands_still(self) -> bool:
        """Whether the game is running but its clock is stopped; see `Terms.stands_still`."""
        return self.purpose.terms.stands_still and self.clock_started_at is None and self.status == "playing"

    @property
    def game_id(self) -> str:
        """The id of the finished game, or "" if the game is not over or not stored."""
        return id_of(self.code, self.game, self.kept_at) if self.result is not None and self.kept_at else ""

    @property
    def is_beginning(self) -> bool:
        """Whether giving up now would abort the game, because a player has not moved yet."""
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
        return sum(seat.bot in _PEOPLE and not seat.left for seat in self.held_seats)

    @property
    def places(self) -> int:
        """The number of seats for people, including free seats. The number never changes."""
        return len([seat for seat in self.seats.values() if seat is None or seat.bot in _PEOPLE])

    @property
    def is_for_bots(self) -> bool:
        return not self.places

    @property
    def has_player(self) -> bool:
        """Whether a human player is connected, or awaits an opponent in a game over days."""
        for seat in self.seats.values():  # quicker than a generator, as games begin and end often
            if seat is not None and seat.online and seat.bot in _PEOPLE:
                return True
        return self.is_standing_offer

    @property
    def is_deserted(self) -> bool:
        """Whether all people have left. False for organised rooms and for games between bots."""
        return not (self.people or self.is_for_bots or self.terms.is_organised)

    def mark_of(self, player: str) -> str | None:
        """Return the mark of the player's seat, or None if the player has no seat or has left it."""
        for mark, seat in self.seats.items():
            if seat is not None and seat.player == player and not seat.left:
                return mark
        return None

    def marks_of(self, player: str) -> list[str]:
        """Return the marks of the player and the player's guests, except for seats that were left."""
        return [
            mark
            for mark, seat in self.seats.items()
            if seat is not None and player in (seat.player, owner_of(seat.player)) and not seat.left
        ]

    def seat(self, mark: str | None) -> SeatState:
        """Return the seat with this mark. Raise LookupError if the seat is free."""
        seat = self.seats[mark] if mark is not None else None
        if seat is None:
            raise LookupError(f"Nobody holds the seat {mark!r} of room {self.code}.")
        return seat

    def held_until(self, mark: str) -> int | None:
        """Return when an absent player's hold ends, or None if the seat is not held for an absent player."""
        seat = self.seats[mark]
        if seat is None or seat.online or seat.left or self.keeps_seats:
            return None
        gone_at = self.gone_at.get(seat.player)
        return None if gone_at is None else gone_at + self.hold_ms

    def hold_left(self, mark: str, now: int) -> int | None:
        """Return how many ms an absent player's seat is still held, 0 after the hold, or None as in `held_until`."""
        until = self.held_until(mark)
        return None if until is None else max(0, until - now)

    def require_mark(self, player: Player) -> str:
        mark = self.mark_of(player.id)
        if mark is not None:
            return mark
        if is_guest(player.id):
            raise Refused(ErrorCode.NOT_SEATED, "guest", path="player", player=player.id)
        raise Refused(ErrorCode.NOT_SEATED)

    def check_playing(self) -> None:
        if self.result is not None:
            raise Refused(ErrorCode.GAME_OVER)
        if None in self.seats.values():
            raise Refused(ErrorCode.NOT_STARTED, "seat")

    def check_active(self, mark: str) -> None:
        """Raise `Refused` unless the game is running and the player is still in it."""
        self.check_playing()
        if self.position.passed and mark not in self.position.active_marks:
            raise Refused(ErrorCode.NOT_ALLOWED, "out")


def ply_before_last(position: Position, mark: str) -> int:
    """Return the number of moves before the last move of `mark`, negative if it is missing or part of an opening."""
    if not position.stones(mark):
        return -1
    ply = position.ply - (1 if position.board[position.moves[-1]] == mark else 2)
    return ply if all(choice.ply <= ply for choice in position.choices) else -1


def full_clocks(clock: ClockFields | None, marks: str) -> dict[str, int]:
    """Return the time of each mark at the start of a game (ms), or an empty dict without a clock."""
    return {} if clock is None else dict.fromkeys(marks, clock.full_ms)


def is_first_move(room: Room) -> bool:
    """Return True if the player to move has not moved in this game yet, which has a time limit of its own."""
    position = room.position
    if position.turn is None or (len(position.moves) >= len(room.seats) and position.rules.opening is None):
        return False
    return not (room.keeps_seats or position.has_acted(position.turn))


def begin_turn(room: Room, now: int) -> Room:
    """Return the room with its clock started if the game is running."""
    if room.clock is None or room.clock_started_at is not None or room.status != "playing":
        return room
    return replace(room, clock_started_at=now)


def resume_turn(room: Room, mark: str, now: int) -> Room:
    """Return the room with a returning player's time for a first move extended by the absence."""
    started_at = room.clock_started_at
    if started_at is None or mark != room.position.turn or not is_first_move(room):
        return room
    return replace(room, clock_started_at=started_at + _pause_ms(room, mark, started_at, now))


def start_shown_turn(room: Room, before: Room, now: int) -> Room:
    """Return the room with the clock of a new turn started at `now`.

    Called when the new position is broadcast, so that the time for storing a move is charged to nobody.
    """
    if room.clock_started_at is None or room.clock_started_at >= now or room.position is before.position:
        return room
    return replace(room, clock_started_at=now)


def expires_at(room: Room, *, with_hold: bool = True) -> int | None:
    """Return when the time for the current turn ends (ms of served time), or None if no clock is running.

    A first move is due within `start_ms`. If absence is excused, it is due within the time for each move if that is
    longer, and the time of the absence is added.

    Args:
        with_hold: Return the end of an absent player's hold instead, if that is earlier and loses the game.
    """
    clock, started_at, turn = room.clock, room.clock_started_at, room.position.turn
    if clock is None or started_at is None or turn is None or room.result is not None:
        return None
    if not is_first_move(room):
        end = started_at + room.remaining_ms[turn]
        hold = end_of_hold(room) if with_hold and room.gone_at and room.terms.absence == "loses" else None
        return end if hold is None else min(end, hold[0])
    if room.terms.absence == "loses":
        return started_at + room.start_ms
    return started_at + max(room.start_ms, clock.move_ms or 0) + _pause_ms(room, turn, started_at)


def end_of_hold(room: Room) -> tuple[int, str] | None:
    """Return the end of the absent player's hold and the player's mark, or None unless exactly one player is absent."""
    held = [(until, mark) for mark in room.seats if (until := room.held_until(mark)) is not None]
    return held[0] if len(held) == 1 else None


def is_expired(room: Room, now: int) -> bool:
    """Return True if the time for this turn has expired."""
    end = expires_at(room)
    return end is not None and now >= end


def clock_state(room: Room, now: int) -> ClockState | None:
    """Return the clocks as they are sent to clients, or None without a clock."""
    if room.clock is None:
        return None
    remaining, turn, end = room.remaining_ms, room.position.turn, expires_at(room, with_hold=False)
    if end is None or turn is None:
        return ClockState(remaining, None)
    if is_first_move(room):
        held_until = room.held_until(turn) if room.terms.absence == "excused" else None
        return ClockState(remaining, None, max(0, end - max(now, held_until or 0)))
    return ClockState({**remaining, turn: max(0, min(remaining[turn], end - now))}, turn)


def _pause_ms(room: Room, mark: str, started_at: int, now: int | None = None) -> int:
    """Return how long the time for a first move is stopped until `now` (ms), by default until the end of the hold."""
    held_until = room.held_until(mark)
    if held_until is None:
        return 0
    until = held_until if now is None else min(now, held_until)
    return max(0, until - max(held_until - room.hold_ms, started_at))


@lru_cache(maxsize=1024)
def rules_state(rules: Rules) -> RulesState:
    """Return the rules as they are sent to clients, cached."""
    return RulesState.of(rules)
