"""The topic of the boards of some public games that are on: which ones are shown, and when they are sent.

Nothing of it is on the way of a move: while somebody subscribes, the games are looked at once a second.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import LiveBoards
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.session import Session
from tictactoe_server.core.topics import Topic, list_of
from tictactoe_server.transport.frames import encode_frame

LOOK_SECONDS: Final = 1.0  # how often the games are looked at; boards are sent no more often
OVER_SECONDS: Final = 3.0  # how long the board of a game that is over is still shown
DULL_SECONDS: Final = 60.0  # after how long without a move another game is shown instead, where there is one
LOOKED_AT: Final = 400  # among how many games those are sought that somebody plays
_NEWEST: Final = "boards"
"""What is sent here is kept under this key for a peer that lags, the newest alone; no room has such a code."""


@dataclass(slots=True, eq=False)
class _Shown:
    """A game that is shown: its row as it was last sent, and since when that is so (s of the loop's time)."""

    live: Listed
    changed_at: float
    row: bytes = b""


class Boards(Topic):
    """Chooses the games, the one first that began last, and keeps to them while they are played.

    Subscribers are sent so many boards as they asked for, at once and whenever one of these changes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sent: dict[Session, bytes] = {}
        self._playing: OrderedDict[str, Listed] = OrderedDict()
        self._shown: list[_Shown] = []

    def subscribe(self, session: Session, count: int = 1) -> None:
        """Send a session so many boards from now on; none any more where it is 0."""
        self.unsubscribe(session)
        if count:
            is_shown = self.due is not None and count <= self._most
            super().subscribe(session, count)
            if is_shown:
                self._send([session])
            else:
                self.tell()

    def unsubscribe(self, session: Session) -> None:
        super().unsubscribe(session)
        if self._sent.pop(session, None) is not None:
            session.connection.forget_state(_NEWEST)

    def update(self, live: Listed) -> None:
        """Show a public room only while its game is on; to be called when it opens or its status changes."""
        if live.room.status == "playing":
            self._playing.setdefault(live.room.code, live)
        else:
            self._playing.pop(live.room.code, None)

    def remove(self, code: str) -> None:
        self._playing.pop(code, None)

    def gather_seconds(self) -> float:
        return LOOK_SECONDS

    def tell(self) -> None:
        """Look at the games, send what changed, and look again in a while."""
        if not self.subscribers:
            self._shown = []
            return
        self.tell_later()
        now = asyncio.get_running_loop().time()
        self._choose(now)
        for shown in self._shown:
            row = encode(shown.live.board())
            if row != shown.row:
                shown.row, shown.changed_at = row, now
        self._send(self.subscribers)

    @property
    def _most(self) -> int:
        """The largest number of boards that anybody asked for."""
        return max(self.subscribers.values(), default=0)

    def _send(self, sessions: Iterable[Session]) -> None:
        """Send what these sessions were not sent yet; what is the same for several is made once."""
        rows = [shown.row for shown in self._shown]
        frames: dict[int, bytes] = {}
        for session in sessions:
            count = min(self.subscribers[session], len(rows))
            if count not in frames:
                frames[count] = encode_frame(encode(LiveBoards(list_of(rows[:count]))))
            if frames[count] != self._sent.get(session):
                self._sent[session] = frames[count]
                session.connection.push_state(_NEWEST, frames[count])

    def _choose(self, now: float) -> None:
        """Replace games that are over, or in which nothing happens; the others keep their places."""
        stay = {shown.live for shown in self._shown if self._stays(shown, now)}
        newest = islice(reversed(self._playing.values()), LOOKED_AT)
        fresh = (_Shown(live, now) for live in newest if live not in stay and live.is_alive)
        chosen = [shown if shown.live in stay else next(fresh, None) for shown in self._shown]
        chosen += islice(fresh, max(0, self._most - len(chosen)))
        self._shown = [shown for shown in chosen if shown is not None][: self._most]

    def _stays(self, shown: _Shown, now: float) -> bool:
        live, age, code = shown.live, now - shown.changed_at, shown.live.room.code
        if code not in self._playing:
            return live.room.status == "over" and not live.is_gone and age < OVER_SECONDS
        if age > DULL_SECONDS:
            self._playing.move_to_end(code, last=False)
            return False
        return live.is_alive
