"""A room as one person sees it from their chair: what they have in hand, what was said, and the past they look at.

What the room is like it knows from the room itself; times are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from tictactoe_client.input.actions import Actions
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.client import Choice
from tictactoe_client.online.events import Change, Updated
from tictactoe_client.online.room import Room
from tictactoe_client.text.choices import find_absent
from tictactoe_client.tui.room.line import RoomLine
from tictactoe_client.tui.room.review import Review
from tictactoe_engine import FREE
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import announce

Situation = Literal["replay", "waiting", "playing", "watching", "over"]

MOST_AHEAD: Final = 8
MOST_LINES: Final = 200
"""How much of the talk is kept, and how many lines wait to be seen; of more the oldest are dropped."""
QUIET_SECONDS: Final = 0.4
"""For how long after the answer to a question no key places."""


class Hand:
    """The cursor, what is typed as a move and what in the line, what is being asked, and what is on its way.

    `question` is which one, with what a yes does; `pending` a move that is sent, by its cell and mark. `heard` is what
    was said since the last key, of which the first `told` lines are in sight, `returned` that the connection is back.
    """

    def __init__(self) -> None:
        self.line = RoomLine()
        self.ahead = ""
        self.cursor: int | None = None
        self.pending: tuple[int, str] | None = None
        self.question: tuple[str, Callable[[], object]] | None = None
        self.shows_code = True
        self.heard: list[str] = []
        self.told = 0
        self.returned = ""
        self.keys = 0
        self.quiet_until = 0.0

    @property
    def is_at_board(self) -> bool:
        """Whether keys are for the board: no line is open, and nothing is asked."""
        return not self.line.mode and self.question is None

    def type_ahead(self, text: str) -> None:
        self.ahead = (self.ahead + clean_text(text))[:MOST_AHEAD]

    def hear(self, line: str) -> None:
        dropped = max(0, len(self.heard) + 1 - MOST_LINES)
        self.heard, self.told = [*self.heard[dropped:], line], max(0, self.told - dropped)

    def note_key(self) -> None:
        """Take note of a key: what was in sight before it has been seen, and what was not has its turn."""
        self.keys, self.heard, self.told = self.keys + 1, self.heard[self.told :], 0

    def answered(self, now: float) -> None:
        """Take note that a key has answered a question: what is typed on is not meant for the board."""
        self.quiet_until = now + QUIET_SECONDS

    def follow(self, state: RoomState) -> None:
        """Let go of a move that a newer state has settled."""
        if self.pending is not None and (state.board[self.pending[0]] != FREE or state.status != "playing"):
            self.pending = None

    def move_cursor(self, step: tuple[int, int], state: RoomState) -> None:
        """Move the cursor by rows and columns; the first time it shows on the last move, else in the centre."""
        rows, columns = state.rules.rows, state.rules.columns
        if self.cursor is None:
            self.cursor = state.last if state.last is not None else (rows // 2) * columns + columns // 2
            return
        row, column = divmod(self.cursor, columns)
        row = min(max(row + step[0], 0), rows - 1)
        column = min(max(column + step[1], 0), columns - 1)
        self.cursor = row * columns + column


class Table:
    """The table in `room` for whoever acts with `actions`; `record` is the game where it is one on record.

    In the `hand` is what they have not sent yet, `again` is what to enter for another opponent, and `review` knows what
    the moves they look at are worth. `whole_hold_ms` is for how long the server keeps a seat, once somebody was seen to
    drop. `falling` are the boards to be shown before the newest one, and `turning_point` says where the game that is
    over was decided.
    """

    def __init__(self, room: Room, actions: Actions, review: Review, again: Choice | None = None) -> None:
        self.room = room
        self.again = again
        self.actions = actions
        self.review = review
        self.hand = Hand()
        self.record = room.content if isinstance(room, RecordedRoom) else None
        self.received_at = 0.0
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.ending: RoomState | None = None
        self.whole_hold_ms: int | None = None
        self.falling: list[str] = []
        self.turning_point = ""
        self._talk: list[str] = []

    @property
    def another(self) -> str:
        """What would be played next with somebody else, in words; empty for nothing."""
        if self.again is None or self.room.seat is None:
            return ""
        return "new game" if self.again.bots else "new private room" if self.again.private else "new opponent"

    @property
    def talk(self) -> list[str]:
        """What was said here; in a record first what it notes at the moment that is looked at."""
        return self._talk if self.record is None else [*self.describe_moment()[1:], *self._talk]

    @property
    def situation(self) -> Situation:
        if self.record is not None:
            return "replay"
        status = self.room.state.status if self.room.state is not None else "waiting"
        if status in ("waiting", "over"):
            return "over" if status == "over" else "waiting"
        return "playing" if self.room.plays else "watching"

    def describe_moment(self) -> list[str]:
        """Return the move that led to the moment that is looked at, and what a record notes there."""
        return [] if self.room.state is None else self.actions.describe_moment(self.room.state)

    def take(self, update: Updated, brought: Sequence[Change], now: float) -> None:
        old, state = update.old, update.state
        if old is not None:
            self.tell(*announce(brought, self.room.viewer, sees_board=True, after_loss=update.after_loss))
            fresh = frozenset() if update.after_loss else find_absent(state) - find_absent(old)
            holds = [seat.hold_ms for mark, seat in state.seats.items() if seat is not None and mark in fresh]
            self.whole_hold_ms = max((hold for hold in holds if isinstance(hold, int)), default=self.whole_hold_ms)
        if old is None or old.game != state.game:
            self.started_at, self.ended_at, self.ending = now if state.ply == 0 else None, None, None
            self.turning_point = ""
        if state.status == "playing" and old is not None and old.status == "waiting":
            self.started_at = now
        if state.status == "over" and self.ended_at is None:
            self.ended_at, self.ending = now, state
        self.received_at = now

    def tell(self, *news: str) -> None:
        self._talk = [*self._talk, *news][-MOST_LINES:]

    def shown(self) -> RoomState | None:
        """Return the state that is looked at: the newest, or the board of an earlier moment."""
        state = self.room.state
        return None if state is None else self.actions.timeline.show(state)

    def remaining_ms(self, mark: str, now: float) -> int | None:
        """Return what is left on a clock by now, or None without clocks."""
        clock = self.room.state.clock if self.room.state else None
        left = None if clock is None else clock.remaining_ms.get(mark)
        return self._less(left, now) if clock is not None and clock.running == mark else left

    def start_ms(self, now: float) -> int | None:
        """Return how long the player to move still has for a first move by now, or None where none is due.

        It stands still while their seat is held.
        """
        state = self.room.state
        left = state.clock.start_ms if state is not None and state.clock is not None else None
        if state is None or state.turn is None or not isinstance(left, int):
            return None
        return left if self.hold_ms(state.turn, now) else self._less(left, now)

    def hold_ms(self, mark: str, now: float) -> int | None:
        """Return for how long an absent player's seat is still held by now, or None where that is not so."""
        seat = self.room.state.seats.get(mark) if self.room.state else None
        return self._less(seat.hold_ms, now) if seat is not None else None

    def _less(self, left: object, now: float) -> int | None:
        """Return what is left by now of a time that ran when the state came, None without one."""
        return max(0, round(left - (now - self.received_at) * 1000)) if isinstance(left, int) else None
