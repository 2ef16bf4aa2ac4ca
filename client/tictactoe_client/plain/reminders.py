"""Reminders of plain mode: the clock, claims and long waits. Times in seconds are passed in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tictactoe_client.settings import Settings
from tictactoe_client.text.wording import describe_claim, describe_seconds, has_moved_on
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.choices import absent_opponents
from tictactoe_words.wording import count, seat_of

LOW_SECONDS: Final = (30, 10)
"""The remaining seconds at which our clock is mentioned, once a game, or once a move with a clock per move."""
LOW_SECONDS_OF_DAYS: Final = (3600, 600)
"""The same for a clock of days."""

_START: Final = -1
"""The key of the time for a first move."""
_WAITING: Final = ""
"""The key of waiting for another player or for the connection."""
_OFTEN: Final = (1, 2, 4)
_SELDOM: Final = 10
"""When waiting is mentioned, in units of the first wait: 30 s, 1 min, 2 min; then every 5 min."""


class Reminders:
    """The due times of reminders in a room, by mark or remaining seconds."""

    def __init__(self, viewer: str, settings: Settings) -> None:
        self._viewer = viewer
        self._settings = settings
        self._due: dict[str | int, float] = {}
        self._mentioned: set[str | int] = set()
        self._since = 0.0
        self._runs_out_at = 0.0
        self._is_offline = False

    @property
    def next_at(self) -> float | None:
        return min(self._due.values(), default=None)

    def take(self, old: RoomState | None, state: RoomState, now: float, *, came_back: bool = False) -> None:
        """Handle a printed state; `came_back` after a loss."""
        absent, own, terms = absent_opponents(state, self._viewer), seat_of(state, self._viewer), state.time_control
        if old is None or came_back or has_moved_on(old, state):
            self._since = now
        is_new_time = old is None or old.game != state.game
        if old is not None and terms and (terms.move_ms or terms.counts_days):
            is_new_time |= (old.ply, old.chosen) != (state.ply, state.chosen)
        kept: set[str | int] = {mark for mark, hold_ms in absent.items() if hold_ms == 0}
        kept |= set() if is_new_time else {*LOW_SECONDS, *LOW_SECONDS_OF_DAYS}
        self._mentioned &= kept
        self._due = {mark: now + ms / 1000 for mark, ms in absent.items() if mark not in self._mentioned}
        self._due.update(self._watch_clock(state, own, now))
        self._is_offline = False
        if state.status == "waiting" and own is not None:
            self._wait_on(now)

    def lose_connection(self, now: float) -> None:
        self._is_offline, self._since = True, now
        self._due = {key: at for key, at in self._due.items() if isinstance(key, int)}
        self._wait_on(now)

    def speak(self, state: RoomState, now: float) -> list[str]:
        due, lines, left = [key for key, at in self._due.items() if at <= now], [], round(self._runs_out_at - now)
        for key in due:
            del self._due[key]
        self._mentioned.update(due)
        if left > 0 and any(isinstance(key, int) for key in due):
            time = describe_seconds(left) if left > max(LOW_SECONDS) else count(left, "second")
            lines.append(say("seconds left for first move" if _START in due else "seconds left", time=time))
        if marks := [key for key in due if isinstance(key, str) and key != _WAITING]:
            lines.append(describe_claim(state, marks))
        if _WAITING in due:
            id = "still offline" if self._is_offline else "still waiting"
            lines.append(say(id, time=describe_seconds(now - self._since)))
            self._wait_on(now)
        return lines

    def _wait_on(self, now: float) -> None:
        waited, unit = now - self._since, self._settings.waiting_line_seconds
        seldom = unit * _SELDOM
        due = next((unit * times for times in _OFTEN if unit * times > waited), seldom * (waited // seldom + 1))
        if not self._settings.quiet:
            self._due[_WAITING] = self._since + due

    def _watch_clock(self, state: RoomState, own: str | None, now: float) -> Iterator[tuple[int, float]]:
        """Yield the remaining seconds to mention and when, unless the clock never has more."""
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
