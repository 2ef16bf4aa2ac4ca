"""A room as one person sees it from their chair: the newest state, the moves so far, what was said, and the past.

Pure: states, lines and times are handed in. Looking back changes only what is shown, never what is known.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from tictactoe_client.online.changes import changes
from tictactoe_client.online.moves import fits, follow_moves
from tictactoe_client.text.news import announce, announce_chat
from tictactoe_client.text.wording import seat_of
from tictactoe_protocol.pushes import ChatLine, RoomState

_MOST_LINES = 200


class Table:
    """The room `code`; `viewer` is who looks, `shown_ply` the moment looked back at, None for now.

    `unblamed` are those who have been away since we came back from a loss of our own connection. `whole_hold_ms` is for
    how long the server keeps a seat, once somebody was seen to drop.
    """

    def __init__(self, code: str, viewer: str, moves: tuple[int, ...] = (), *, aborts: bool = False) -> None:
        self.code = code
        self.aborts = aborts
        self.viewer = viewer
        self.state: RoomState | None = None
        self.moves = moves
        self.talk: list[str] = []
        self.shown_ply: int | None = None
        self.received_at = 0.0
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.ending: RoomState | None = None
        self.unseen = 0
        self.unblamed: frozenset[str] = frozenset()
        self.whole_hold_ms: int | None = None

    @property
    def seat(self) -> str | None:
        """Our mark, or None for a watcher."""
        return seat_of(self.state, self.viewer) if self.state else None

    @property
    def plays(self) -> bool:
        """Whether we still play a game that is on; not one who is out of it, among three or more."""
        state, own = self.state, self.seat
        seat = state.seats.get(own) if state is not None and own is not None else None
        return state is not None and state.status == "playing" and seat is not None and not seat.out

    @property
    def looks_on(self) -> bool:
        """Whether there is nothing for us to play: we watch, or are out of the game, or it is over."""
        if self.state is None or (self.state.status == "waiting" and self.seat is not None):
            return False
        return not self.plays

    @property
    def is_my_turn(self) -> bool:
        """Whether the server waits for our move."""
        return self.state is not None and self.state.turn is not None and self.state.turn == self.seat

    @property
    def is_live(self) -> bool:
        """Whether going away would cost us the game."""
        return self.plays

    def take(
        self, state: RoomState, now: float, declined: Collection[str] | None = None, *, after_loss: bool = False
    ) -> bool:
        """Take a state unless a newer one is known; tell whether the server must be asked for missing moves.

        `declined` are the offers that the viewer has put an end to, None where that is not known. The first state after
        a loss of our own connection blames nobody for being away.
        """
        old = self.state
        if old is not None and state.seq < old.seq:
            return False
        before, self.moves = self.moves, follow_moves(self.moves, old, state)
        if old is not None:
            played = self.moves if fits(self.moves, state) else None
            known = before if fits(before, old) else None
            brought = changes(old, state, moves=played, before=known)
            self._say(*announce(brought, self.viewer, sees_board=True, after_loss=after_loss))
            self._note_absent(old, state, after_loss=after_loss)
            if self.shown_ply is not None:
                self.unseen += max(0, state.ply - old.ply)
        if old is None or old.game != state.game:
            self.shown_ply, self.unseen, self.started_at, self.ended_at, self.ending = None, 0, None, None, None
            if state.ply == 0:
                self.started_at = now
        if state.status == "playing" and old is not None and old.status == "waiting":
            self.started_at = now
        if state.status == "over" and self.ended_at is None:
            self.ended_at, self.ending = now, state
        self.state, self.received_at = state, now
        return len(self.moves) < state.ply

    def hear(self, line: ChatLine) -> None:
        """Take something that was said."""
        self._say(announce_chat(line))

    def tell(self, news: str) -> None:
        """Take something that we were told of the room."""
        self._say(news)

    def shown(self) -> RoomState | None:
        """Return the state that is looked at: the newest, or the board of an earlier moment."""
        state = self.state
        if state is None or self.shown_ply is None:
            return state
        kept = self.moves[: self.shown_ply]
        board = "".join(mark if cell in kept or mark in ".#" else "." for cell, mark in enumerate(state.board))
        last = kept[-1] if kept else None
        return replace(state, board=board, ply=len(kept), last=last, result=None, turn=None)

    def step(self, by: int) -> None:
        """Look an earlier or a later move; past the newest one looks at the present again."""
        state = self.state
        if state is None or len(self.moves) < state.ply:
            return
        there = (state.ply if self.shown_ply is None else self.shown_ply) + by
        if there >= state.ply:
            self.look_at_present()
        else:
            self.shown_ply = max(0, there)

    def played_next(self) -> int | None:
        """Return the cell that was played at the moment that is looked back at, None at the present."""
        if self.shown_ply is None or self.shown_ply >= len(self.moves):
            return None
        return self.moves[self.shown_ply]

    def look_at_present(self) -> None:
        """Look at the newest state."""
        self.shown_ply, self.unseen = None, 0

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
        self.talk = [*self.talk, *lines][-_MOST_LINES:]
