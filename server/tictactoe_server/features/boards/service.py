"""A topic with the boards of some running public games.

While the topic has subscribers, it polls the games once a second, so that moves need not notify it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import LiveBoard, LiveBoards
from tictactoe_protocol.requests import Lobby
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.session import Session, Topic, list_of
from tictactoe_server.features.boards.demo import play_demos
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.feature import Feature
from tictactoe_server.rooms.view import RoomListing
from tictactoe_server.transport.connection import encode_push

LOOK_SECONDS: Final = 1.0
OVER_SECONDS: Final = 20.0  # how long the board of a finished game is still shown
DULL_SECONDS: Final = 60.0  # until a game without moves makes room for another game
LOOKED_AT: Final = 400  # how many of the newest games are searched for games with connected players
_NEWEST: Final = "boards"  # the key of boards in the queues for slow peers; no room has such a code


@dataclass(slots=True, eq=False)
class _Shown:
    """A game that is shown.

    Attributes:
        changed_at: When the board changed last (s, as the event loop's clock).
        board: The board without the players' clocks.
        row: The newest board, encoded.
    """

    live: RoomListing
    changed_at: float
    board: LiveBoard | None = None
    row: bytes = b""


class Boards(Topic, Service):
    """Chooses games, the newest first, and shows each of them while it is being played.

    A subscriber receives up to the requested number of boards when subscribing and whenever one of the boards changes.
    """

    def __init__(self, core: Core, *, shows_demos: bool) -> None:
        super().__init__()
        self._now = core.time
        self._names = core.names
        self._demos = play_demos() if shows_demos else repeat(None)
        self._demo_for: set[Session] = set()
        self._demo: LiveBoard | None = None
        self._sent: dict[Session, tuple[LiveBoard | None, ...]] = {}
        self._playing: OrderedDict[str, RoomListing] = OrderedDict()
        self._shown: list[_Shown] = []
        core.lobby.on_update.add(self.update)
        core.hooks.on_lobby_request.add(self.subscribe_to)

    def subscribe_to(self, session: Session, request: Lobby) -> None:
        """Subscribe a session to as many boards as it requests, or unsubscribe it."""
        self.unsubscribe(session)
        if request.on and request.boards:
            if request.demo:
                self._demo_for.add(session)
            is_shown = self.due is not None and request.boards <= self._most
            self.subscribe(session, request.boards)
            if is_shown:
                self._send([session])
            else:
                self.publish()

    def unsubscribe(self, session: Session) -> None:
        super().unsubscribe(session)
        self._demo_for.discard(session)
        if self._sent.pop(session, None) is not None:
            session.connection.forget_state(_NEWEST)

    def update(self, live: RoomListing) -> None:
        """Update the list of running games when a public room opens, changes its status or closes."""
        if live.room.status == "playing" and not live.is_gone:
            self._playing.setdefault(live.room.code, live)
        else:
            self._playing.pop(live.room.code, None)

    def gather_seconds(self) -> float:
        return LOOK_SECONDS

    def publish(self) -> None:
        if not self.subscribers:
            self._shown = []
            return
        self.publish_later()
        now = asyncio.get_running_loop().time()
        self._choose(now)
        for shown in self._shown:
            row = self._names.public_board(shown.live, shown.live.board(self._now()))
            board = replace(row, clock=UNSET)
            shown.row = encode(row)
            if board != shown.board:
                shown.board, shown.changed_at = board, now
        self._demo = next(self._demos) if self._demo_for and not self._shown else None
        self._send(self.subscribers)

    @property
    def _most(self) -> int:
        return max(self.subscribers.values(), default=0)

    def _send(self, sessions: Iterable[Session]) -> None:
        """Send each session its boards unless it has received them already. Equal messages are encoded only once."""
        frames: dict[tuple[int, bool], bytes] = {}
        for session in sessions:
            some = self._shown[: self.subscribers[session]]
            demo = self._demo if not some and session in self._demo_for else None
            kind = len(some), demo is not None
            boards = tuple(shown.board for shown in some) or (demo,)
            if boards == self._sent.get(session):
                continue
            if kind not in frames:
                frames[kind] = encode_push(LiveBoards(list_of([one.row for one in some]), demo or UNSET))
            self._sent[session] = boards
            session.connection.push_state(_NEWEST, frames[kind])

    def _choose(self, now: float) -> None:
        """Replace finished and idle games with new games. All other games keep their places."""
        stay = {board.live for board in self._shown if self._stays(board, now)}
        newest = islice(reversed(self._playing.values()), LOOKED_AT)
        fresh = (_Shown(live, now) for live in newest if live not in stay and _is_on(live))
        chosen = [board if board.live in stay else next(fresh, None) for board in self._shown]
        chosen += islice(fresh, max(0, self._most - len(chosen)))
        self._shown = [board for board in chosen if board is not None][: self._most]

    def _stays(self, board: _Shown, now: float) -> bool:
        live, age, code = board.live, now - board.changed_at, board.live.room.code
        if code not in self._playing:
            return live.room.status == "over" and not live.is_gone and age < OVER_SECONDS
        if age > DULL_SECONDS:
            self._playing.move_to_end(code, last=False)
            return False
        return _is_on(live)


def _is_on(live: RoomListing) -> bool:
    """Whether a game goes on; a tournament's game does not while its players are all away."""
    return live.is_alive and not live.room.stands_still


FEATURE: Final = Feature(make=lambda parts: [Boards(parts.core, shows_demos=parts.settings.of(BotOptions).demo)])
