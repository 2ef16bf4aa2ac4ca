"""A room as one person has it on the screen: their part in it, what they may do, have typed, were told and look at.

Whose game it is and what may be done is worked out once for each state; times are handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec import UNSET

from tictactoe_client.board.board import mark_role
from tictactoe_client.input.actions import Actions
from tictactoe_client.input.record import RecordedRoom
from tictactoe_client.input.ways import Choice
from tictactoe_client.online.events import Updated
from tictactoe_client.online.room import Room
from tictactoe_client.tui.room.line import RoomLine
from tictactoe_client.tui.room.review import Review
from tictactoe_engine import FREE, format_cell
from tictactoe_protocol import clean_text
from tictactoe_protocol.choices import Choices, Cost
from tictactoe_protocol.happened import Chose
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import announce
from tictactoe_protocol.wording import seat_of

Kind = Literal["replay", "waiting", "playing", "watching", "over"]
Asked = Literal["resign", "leave", "another", "quit"]

MOST_TYPED: Final = 8
MOST_LINES: Final = 200
"""How much of the talk is kept, and how many lines wait to be seen; of more the oldest are dropped."""
QUIET_SECONDS: Final = 0.4
"""For how long after the answer to a question no key places."""


class News:
    """The talk, and of it what is `unread` since the last key: the first `in_sight` lines of that are on the screen.

    `back` says that the connection is back, which is news until `back_until`; `keys` counts the keys that were pressed.
    """

    def __init__(self) -> None:
        self.talk: list[str] = []
        self.unread: list[str] = []
        self.in_sight = 0
        self.back = ""
        self.back_until = 0.0
        self.keys = 0

    def tell(self, *lines: str) -> None:
        self.talk = [*self.talk, *lines][-MOST_LINES:]

    def say(self, *lines: str) -> None:
        """Show lines until the next key, and keep them with what was said."""
        self.tell(*lines)
        dropped = max(0, len(self.unread) + len(lines) - MOST_LINES)
        self.unread, self.in_sight = [*self.unread[dropped:], *lines], max(0, self.in_sight - dropped)

    def note_key(self) -> None:
        """Take note of a key: what was in sight before it has been seen, and what was not has its turn."""
        self.keys, self.unread, self.in_sight = self.keys + 1, self.unread[self.in_sight :], 0


class RoomModel:
    """What there is to show of `room`, and what its keys are for; `record` is the game where it is one on record.

    `names` are those of the cells, and `roles` those of the marks. `kind` is what one does there, `seat` the mark that
    one plays, `own` the same but None where several play at one keyboard and words call nobody "you", `is_to_choose`
    whether one is to choose a side, and `choices` what may be done. `typed` is what is typed of a move, `pending` a
    move that is sent, by its cell and mark, `question` what is asked, with what yes does.
    `again` is what to enter for another opponent. `falling` are boards to be shown before the newest one, `ending` is
    the first state of a game that is over, and `turning_point` says where that was decided.
    """

    def __init__(self, room: Room, actions: Actions, review: Review, again: Choice | None = None) -> None:
        self.room = room
        self.actions = actions
        self.review = review
        self.again = again
        self.record = room.content if isinstance(room, RecordedRoom) else None
        self.line = RoomLine()
        self.news = News()
        self.kind: Kind = "waiting" if self.record is None else "replay"
        self.seat: str | None = None
        self.own: str | None = None
        self.plays = False
        self.is_to_choose = False
        self.rules = rules = room.state.rules.to_rules()
        self.names = tuple(format_cell(cell, rules) for cell in range(rules.size))
        self.roles = {mark: mark_role(mark, rules) for mark in rules.marks}
        self.choices = Choices((), (), {})
        self.is_online = True
        self.typed = ""
        self.cursor: int | None = None
        self.pending: tuple[int, str] | None = None
        self.question: tuple[Asked, Callable[[], object]] | None = None
        self.shows_code = True
        self.falling: list[str] = []
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.ending: RoomState | None = None
        self.turning_point = ""
        self.quiet_until = 0.0
        self._received_at = 0.0

    @property
    def way_back(self) -> str:
        """The id of where going back leads, which need not be home from a game of an event."""
        return "key back" if self.room.state.event else "key to home"

    # -- what a state means ---------------------------------------------------------------------------------------

    def follow(self, update: Updated, now: float) -> None:
        """Take a new state, and tell what it brought."""
        old, state = update.old, update.state
        self._received_at = now
        if old is None or old.game != state.game:
            self.started_at, self.ended_at, self.ending = now if state.ply == 0 else None, None, None
            self.turning_point = ""
        elif state.status == "playing" and old.status == "waiting":
            self.started_at = now
        if state.status == "over" and self.ending is None:
            self.ended_at, self.ending = now, state
        if self.pending is not None and (state.board[self.pending[0]] != FREE or state.status != "playing"):
            self.pending = None
        self.consider(now)
        if not self.plays:
            self.typed, self.question = "", None
        if old is not None:
            told = announce(update.changes, self.room.viewer, sees_board=True, after_loss=update.after_loss)
            by_others = [change for change in update.changes if isinstance(change, Chose) and change.mark != self.seat]
            self.news.say(*told) if by_others else self.news.tell(*told)

    def consider(self, now: float) -> None:
        """Work out what may be done: there is a new state, the connection came or went, or time has passed."""
        room, state = self.room, self.room.state
        self.seat, self.plays, self.own = room.seat, room.plays, seat_of(state, room.viewer)
        self.is_to_choose = room.is_my_turn and state.opening is not UNSET and state.opening.options != ()
        if self.record is None:
            running: Kind = "playing" if self.plays else "watching"
            self.kind = state.status if state.status in ("waiting", "over") else running  # type: ignore[assignment]
        self.choices = room.choices((now - self._received_at) * 1000, is_online=self.is_online)

    @property
    def shown(self) -> RoomState:
        """The state that is looked at: the newest, or the board of an earlier moment."""
        return self.actions.timeline.show(self.room.state)

    @property
    def is_back(self) -> bool:
        """Whether an earlier moment of the game is looked at."""
        return self.actions.timeline.is_back

    @property
    def cost(self) -> Cost:
        """What going away does to one's game now; nothing without a connection, as the seat is kept then."""
        deed = self.choices.find("leave")
        return deed.cost if deed is not None and self.is_online else ""

    @property
    def talk(self) -> list[str]:
        """What was said here; in a record first what it notes at the moment that is looked at."""
        noted = [] if self.record is None else self.actions.describe_moment(self.room.state)[1:]
        return [*noted, *self.news.talk]

    # -- clocks ---------------------------------------------------------------------------------------------------

    def remaining_ms(self, mark: str, now: float) -> int | None:
        """Return what is left on a clock by now, or None without clocks."""
        clock = self.room.state.clock
        left = None if clock is None else clock.remaining_ms.get(mark)
        return self._less(left, now) if clock is not None and clock.running == mark else left

    def start_ms(self, now: float) -> int | None:
        """Return how long the player to move still has for a first move by now, or None where none is due.

        It stands still while their seat is held, but in an event.
        """
        state = self.room.state
        if state.clock is None or state.turn is None or not isinstance(state.clock.start_ms, int):
            return None
        seat = state.seats.get(state.turn)
        is_held = seat is not None and not state.event and self._less(seat.hold_ms, now)
        return state.clock.start_ms if is_held else self._less(state.clock.start_ms, now)

    def _less(self, left: object, now: float) -> int | None:
        """Return what is left by now of a time that ran when the state came, None without one."""
        return max(0, round(left - (now - self._received_at) * 1000)) if isinstance(left, int) else None

    # -- what one has in hand -------------------------------------------------------------------------------------

    @property
    def may_send(self) -> bool:
        """Whether a move would go out now: it is ours, and none is on its way."""
        return self.pending is None and self.room.is_my_turn and not self.is_to_choose

    def switch_code(self) -> None:
        """Show the invitation as a picture, or no longer."""
        self.shows_code = not self.shows_code

    def type(self, text: str) -> None:
        self.typed = (self.typed + clean_text(text))[:MOST_TYPED]

    def note_answer(self, now: float) -> None:
        """Take note that a key has answered a question: what is typed on is not meant for the board."""
        self.quiet_until = now + QUIET_SECONDS

    def move_cursor(self, rows: int, columns: int) -> None:
        """Move the cursor by rows and columns; the first time it shows on the last move, else in the centre."""
        state, rules = self.room.state, self.rules
        if self.cursor is None:
            middle = (rules.rows // 2) * rules.columns + rules.columns // 2
            self.cursor = state.last if state.last is not None else middle
            return
        row, column = divmod(self.cursor, rules.columns)
        row, column = row + rows, column + columns
        self.cursor = min(max(row, 0), rules.rows - 1) * rules.columns + min(max(column, 0), rules.columns - 1)

    def look_at(self, ply: int) -> None:
        """Look at the moment after so many moves."""
        self.actions.timeline = self.actions.timeline.jump(ply)
        self.note_look()

    def note_look(self) -> None:
        """Take note that another moment is looked at."""
        self.cursor = None
        if self.record is not None:
            self.typed = ""
        self.review.look()
