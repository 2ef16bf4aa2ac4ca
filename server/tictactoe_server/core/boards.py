"""The boards of a few public games that are on, for whoever looks at the lobby: which ones, and when they are sent.

Nothing of it is on the way of a move: while somebody looks, the few games are looked at once a second.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, cast

import msgspec

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import LiveBoard, LiveBoards
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.session import Session
from tictactoe_server.transport.frames import encode_frame

LOOK_SECONDS: Final = 1.0
"""How often the games are looked at; boards are sent no more often."""

OVER_SECONDS: Final = 3.0
"""How long the board of a game that is over is still shown."""

DULL_SECONDS: Final = 60.0
"""After how long without a move another game is shown instead, where there is one."""

LOOKED_AT: Final = 400
"""Among how many games those are sought that somebody plays."""

_NEWEST: Final = "boards"
"""What is sent here is kept under this key for a peer that lags, the newest alone; no room has such a code."""


class _Shown:
    """A game that is shown: what its row was made of, and the moment (s of the loop's time) of its last change."""

    __slots__ = ("changed_at", "live", "row", "source")

    def __init__(self, live: Listed, now: float) -> None:
        self.live = live
        self.source: object = None
        self.row = b""
        self.changed_at = now

    def look(self, now: float) -> None:
        """Take in what has changed in the game; next to nothing is done where nothing has."""
        if self.live.knows_moves and self.live.room is self.source:
            return
        self.source = self.live.room
        row = encode(self.live.board())
        if row != self.row:
            self.row, self.changed_at = row, now


class _Subscriber:
    """Who asked for so many boards, and what was sent last."""

    __slots__ = ("count", "frame")

    def __init__(self, count: int) -> None:
        self.count = count
        self.frame = b""


class Boards:
    """Chooses the games, the one first that began last, and keeps to them while they are played."""

    def __init__(self) -> None:
        self._subscribers: dict[Session, _Subscriber] = {}
        self._playing: OrderedDict[str, Listed] = OrderedDict()
        self._shown: list[_Shown] = []
        self._timer: asyncio.TimerHandle | None = None

    def subscribe(self, session: Session, count: int) -> None:
        """Send a session so many boards, at once and whenever they change; none any more where it is 0."""
        self.unsubscribe(session)
        if count == 0:
            return
        most = self._most
        self._subscribers[session] = _Subscriber(count)
        if self._timer is None or count > most:
            self._look()
        else:
            self._send([session])

    def unsubscribe(self, session: Session) -> None:
        """Send a session no more."""
        if self._subscribers.pop(session, None) is not None:
            session.connection.forget_state(_NEWEST)

    def update(self, live: Listed) -> None:
        """Take notice of a public room that opened or whose seats or status changed."""
        if live.room.status == "playing":
            self._playing.setdefault(live.room.code, live)
        else:
            self._playing.pop(live.room.code, None)

    def remove(self, code: str) -> None:
        """Take notice of a room that is gone."""
        self._playing.pop(code, None)

    def _look_again(self) -> None:
        self._timer = None
        if self._subscribers:
            self._look()
        else:
            self._shown = []

    @property
    def _most(self) -> int:
        """The largest number of boards that anybody asked for."""
        return max((subscriber.count for subscriber in self._subscribers.values()), default=0)

    def _look(self) -> None:
        """Look at the games, send what changed, and look again in a while."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look_again)
        now = asyncio.get_running_loop().time()
        self._choose(now)
        for shown in self._shown:
            shown.look(now)
        self._send(self._subscribers)

    def _send(self, sessions: Iterable[Session]) -> None:
        """Send what these sessions were not sent yet; what is the same for several is made once."""
        rows = [shown.row for shown in self._shown]
        frames: dict[int, bytes] = {}
        for session in sessions:
            subscriber = self._subscribers[session]
            count = min(subscriber.count, len(rows))
            frame = frames.get(count) or frames.setdefault(count, _frame(rows[:count]))
            if frame != subscriber.frame:
                subscriber.frame = frame
                session.connection.push_state(_NEWEST, frame)

    def _choose(self, now: float) -> None:
        """Replace games that are over, or in which nothing happens; the others keep their places."""
        stay = {shown.live for shown in self._shown if self._stays(shown, now)}
        fresh = self._seek(stay)
        chosen = []
        for shown in self._shown:
            if shown.live in stay:
                chosen.append(shown)
            elif (live := next(fresh, None)) is not None:
                chosen.append(_Shown(live, now))
        most = self._most
        chosen += (_Shown(live, now) for live in islice(fresh, max(0, most - len(chosen))))
        self._shown = chosen[:most]

    def _stays(self, shown: _Shown, now: float) -> bool:
        live, age, code = shown.live, now - shown.changed_at, shown.live.room.code
        if code not in self._playing:
            return live.room.status == "over" and not live.is_gone and age < OVER_SECONDS
        if age > DULL_SECONDS:
            self._playing.move_to_end(code, last=False)
            return False
        return live.is_alive

    def _seek(self, others: set[Listed]) -> Iterator[Listed]:
        """Yield games that somebody plays, but for those, the newest first."""
        newest = list(islice(reversed(self._playing.values()), LOOKED_AT))
        return (live for live in newest if live not in others and live.is_alive)


def _frame(rows: list[bytes]) -> bytes:
    boards = cast(tuple[LiveBoard, ...], msgspec.Raw(b"[%b]" % b",".join(rows)))
    return encode_frame(encode(LiveBoards(boards)))
