"""A room as one person sees it from their chair: what was said, since when things are so, and the past they look at.

What the room is like it knows from the room itself; times are handed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_client.input.actions import Actions
from tictactoe_client.input.past import Timeline
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.online.events import Change, Updated
from tictactoe_client.online.room import Room
from tictactoe_client.text.news import announce, announce_chat
from tictactoe_client.tui.room.hand import Hand
from tictactoe_client.tui.room.review import Review
from tictactoe_protocol.pushes import ChatLine, RoomState

_MOST_LINES = 200


class Table:
    """The table in `room` for whoever acts with `actions`; `record` is the game where it is one on record.

    In the `hand` is what they have not sent yet, and `review` knows what the moves they look at are worth.
    `unblamed` are those who have been away since we came back from a loss of our own connection. `whole_hold_ms` is for
    how long the server keeps a seat, once somebody was seen to drop. `falling` are the boards to be shown before the
    newest one, and `turning_point` says where the game that is over was decided.
    """

    def __init__(self, room: Room, actions: Actions, review: Review, *, aborts: bool = False) -> None:
        self.room = room
        self.actions = actions
        self.review = review
        self.hand = Hand()
        self.aborts = aborts
        self.record = room.content if isinstance(room, RecordedRoom) else None
        self.received_at = 0.0
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.ending: RoomState | None = None
        self.unblamed: frozenset[str] = frozenset()
        self.whole_hold_ms: int | None = None
        self.falling: list[str] = []
        self.turning_point = ""
        self._talk: list[str] = []

    @property
    def code(self) -> str:
        """The room's code."""
        return self.room.code

    @property
    def viewer(self) -> str:
        """Who looks, by the public id."""
        return self.room.viewer

    @property
    def state(self) -> RoomState | None:
        """The newest state, None before the first."""
        return self.room.state

    @property
    def moves(self) -> Sequence[int]:
        """The cells of the game in order, as far as they are known."""
        return self.room.moves

    @property
    def timeline(self) -> Timeline:
        """The moment that is looked at."""
        return self.actions.timeline

    @timeline.setter
    def timeline(self, timeline: Timeline) -> None:
        self.actions.timeline = timeline

    @property
    def talk(self) -> list[str]:
        """What was said here; in a record first what it notes at the moment that is looked at."""
        return self._talk if self.record is None else [*self.describe_moment()[1:], *self._talk]

    def describe_moment(self) -> list[str]:
        """Return the move that led to the moment that is looked at, and what a record notes there."""
        return [] if self.state is None else self.actions.describe_moment(self.state)

    @property
    def seat(self) -> str | None:
        """Our mark, or None for a watcher."""
        return self.room.seat

    @property
    def plays(self) -> bool:
        """Whether we still play a game that is on, which going away would cost us."""
        return self.room.plays

    @property
    def looks_on(self) -> bool:
        """Whether there is nothing for us to play: we watch, or are out of the game, or it is over."""
        return self.room.looks_on

    @property
    def is_my_turn(self) -> bool:
        """Whether the server waits for our move."""
        return self.room.is_my_turn

    def take(self, update: Updated, brought: Sequence[Change], now: float) -> None:
        """Take note of a state, and of what it has brought."""
        old, state = update.old, update.state
        if old is not None:
            self._say(*announce(brought, self.viewer, sees_board=True, after_loss=update.after_loss))
            self._note_absent(old, state, after_loss=update.after_loss)
        if old is None or old.game != state.game:
            self.started_at, self.ended_at, self.ending = now if state.ply == 0 else None, None, None
            self.turning_point = ""
        if state.status == "playing" and old is not None and old.status == "waiting":
            self.started_at = now
        if state.status == "over" and self.ended_at is None:
            self.ended_at, self.ending = now, state
        self.received_at = now

    def hear(self, line: ChatLine) -> None:
        """Take something that was said."""
        self._say(announce_chat(line))

    def tell(self, *news: str) -> None:
        """Take something that we were told of the room."""
        self._say(*news)

    def shown(self) -> RoomState | None:
        """Return the state that is looked at: the newest, or the board of an earlier moment."""
        return None if self.state is None else self.timeline.show(self.state)

    def remaining_ms(self, mark: str, now: float) -> int | None:
        """Return what is left on a clock by now, or None without clocks."""
        clock = self.state.clock if self.state else None
        if clock is None or mark not in clock.remaining_ms:
            return None
        spent = (now - self.received_at) * 1000 if clock.running == mark else 0
        return max(0, round(clock.remaining_ms[mark] - spent))

    def start_ms(self, now: float) -> int | None:
        """Return how long the player to move still has for a first move by now, or None where none is due.

        It stands still while their seat is held.
        """
        state = self.state
        clock = state.clock if state else None
        if state is None or clock is None or not isinstance(clock.start_ms, int) or state.turn is None:
            return None
        spent = 0 if self.hold_ms(state.turn, now) else (now - self.received_at) * 1000
        return max(0, round(clock.start_ms - spent))

    def hold_ms(self, mark: str, now: float) -> int | None:
        """Return for how long an absent player's seat is still held by now, or None where that is not so."""
        seat = self.state.seats.get(mark) if self.state else None
        if seat is None or not isinstance(seat.hold_ms, int):
            return None
        return max(0, round(seat.hold_ms - (now - self.received_at) * 1000))

    def _note_absent(self, old: RoomState, new: RoomState, *, after_loss: bool) -> None:
        """Remember who was away when we came back, for as long as they are."""
        away = frozenset(mark for mark, seat in new.seats.items() if seat is not None and not seat.online)
        before = {mark for mark, seat in old.seats.items() if seat is not None and not seat.online}
        self.unblamed = away & (self.unblamed | (away - before if after_loss else frozenset()))
        holds = [seat.hold_ms for mark, seat in new.seats.items() if seat is not None and mark in away - before]
        if not after_loss:
            self.whole_hold_ms = max((hold for hold in holds if isinstance(hold, int)), default=self.whole_hold_ms)

    def _say(self, *lines: str) -> None:
        self._talk = [*self._talk, *lines][-_MOST_LINES:]
