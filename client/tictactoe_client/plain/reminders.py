"""Reminders of plain mode about the clock and long waits. The caller passes the current time, in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tictactoe_client.settings import Settings
from tictactoe_client.text.wording import describe_seconds, has_moved_on
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.wording import count, format_duration, seat_of

LOW_SECONDS: Final = (30, 10)
"""Our clock is mentioned when it has these seconds left, once per game, or per move if each move has its own time."""
LOW_SECONDS_OF_DAYS: Final = (3600, 600)
"""The same for a clock that counts days."""

_START: Final = -1
"""The key of the reminder about the time for the first move."""
_WAITING: Final = -2
"""The key of the reminder that we still wait for another player or for the connection."""


class Reminders:
    """The reminders in a room; `_due` has the time of each reminder, by remaining seconds or by a key above."""

    def __init__(self, viewer: str, settings: Settings) -> None:
        self._viewer = viewer
        self._settings = settings
        self._due: dict[int, float] = {}
        self._mentioned: set[int] = set()
        self._since = 0.0
        self._runs_out_at = 0.0
        self._is_offline = False

    @property
    def next_at(self) -> float | None:
        return min(self._due.values(), default=None)

    def take(self, old: RoomState | None, state: RoomState, now: float, *, came_back: bool = False) -> None:
        """Set the reminders for a new state; `came_back` says that it is the first state after a lost connection."""
        own, terms = seat_of(state, self._viewer), state.time_control
        if old is None or came_back or has_moved_on(old, state):
            self._since = now
        is_new_time = old is None or old.game != state.game
        if old is not None and terms and (terms.move_ms or terms.counts_days):
            is_new_time |= (old.ply, old.chosen) != (state.ply, state.chosen)
        if is_new_time:
            self._mentioned.clear()
        self._due = dict(self._watch_clock(state, own, now))
        self._is_offline = False
        if state.status == "waiting" and own is not None:
            self._wait_on(now)

    def lose_connection(self, now: float) -> None:
        self._is_offline, self._since = True, now
        self._wait_on(now)

    def speak(self, now: float) -> list[str]:
        due, lines, left = [key for key, at in self._due.items() if at <= now], [], round(self._runs_out_at - now)
        for key in due:
            del self._due[key]
        self._mentioned.update(due)
        if left > 0 and any(key != _WAITING for key in due):
            time = describe_seconds(left) if left > max(LOW_SECONDS) else count(left, "second")
            lines.append(say("seconds left for first move" if _START in due else "seconds left", time=time))
        if _WAITING in due:
            id = "still offline" if self._is_offline else "still waiting"
            lines.append(say(id, time=format_duration(round((now - self._since) * 1000))))
            self._wait_on(now)
        return lines

    def _wait_on(self, now: float) -> None:
        every = self._settings.waiting_line_seconds
        if not self._settings.quiet:
            self._due[_WAITING] = self._since + every * ((now - self._since) // every + 1)

    def _watch_clock(self, state: RoomState, own: str | None, now: float) -> Iterator[tuple[int, float]]:
        """Yield the key and time of each reminder about our clock; skip those above the clock's full time."""
        clock, terms = state.clock, state.time_control
        if clock is None or own is None or state.turn != own:
            return
        if isinstance(clock.start_ms, int):
            self._runs_out_at = now + clock.start_ms / 1000
            yield _START, max(now, self._runs_out_at - LOW_SECONDS[-1])
        elif clock.running == own:
            self._runs_out_at = now + clock.remaining_ms[own] / 1000
            allowed = None if terms is None else terms.full_ms / 1000
            for seconds in LOW_SECONDS_OF_DAYS if terms is not None and terms.counts_days else LOW_SECONDS:
                if seconds not in self._mentioned and (allowed is None or seconds < allowed):
                    yield seconds, self._runs_out_at - seconds
