"""A session of another server, in the rooms of this one: it asks by parcels, and is answered and shown by parcels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Error, Ok, Push, known_features
from tictactoe_protocol.requests import Join, Request
from tictactoe_server.house.parcels import Answered, Asked, Done, Entered, Met, Parted, Returned
from tictactoe_server.house.ways import Way
from tictactoe_server.rooms import Player
from tictactoe_server.settings import Limits
from tictactoe_server.tables import Pressure, Session, Tally
from tictactoe_server.tables.session import Handler
from tictactoe_server.transport import encode_frame


class RemotePeer:
    """Takes the place of a connection: what is pushed goes by the `way` to the server that has it."""

    is_open = True
    origin = ""

    def __init__(self, way: Way, number: int, address: str) -> None:
        self.address = address
        self._way = way
        self._number = number

    def push_frame(self, frame: bytes) -> None:
        """Send a frame."""
        self._way.put_frame(self._number, frame)

    def push_state(self, room: str, frame: bytes) -> None:
        """Send the state of a room."""
        self._way.put_frame(self._number, frame, room)

    def forget_state(self, room: str) -> None:
        """Do nothing: its own server knows who is in a room no more."""

    def let_in(self) -> None:
        """Do nothing: its own server has let it in."""

    def close(self, code: int, reason: str) -> None:
        """Do nothing: that is for its own server to do."""

    def abort(self) -> None:
        """Do nothing: that is for its own server to do."""

    def pause_reading(self) -> None:
        """Do nothing: its own server reads from it."""

    def resume_reading(self) -> None:
        """Do nothing: its own server reads from it."""


class Guest(Session):
    """A session, by its number at its own server, which limits what it says and asks for one thing at a time."""

    __slots__ = ("_asked", "_number", "_waiting", "_way")

    def __init__(
        self,
        way: Way,
        met: Met,
        handler: Handler,
        pressure: Pressure,
        limits: Limits,
        now: Callable[[], int],
        monotonic_ns: Callable[[], int],
        tally: Tally,
    ) -> None:
        super().__init__(RemotePeer(way, met.session, met.address), handler, pressure, limits, now, monotonic_ns, tally)
        self._way = way
        self._number = met.session
        self._asked = 0
        self._waiting: deque[Asked] = deque()
        self.meet(met)

    def meet(self, met: Met) -> None:
        """Take notice of who it is."""
        self.player = Player(met.player, met.name)
        self.key = met.key or None
        self.features = known_features(met.features)

    def ask(self, asked: Asked) -> None:
        """Carry a request out, or let it wait for its turn; one that is under way already only comes twice."""
        if not self.is_busy:
            self._begin(asked)
        elif asked.number != self._asked and all(asked.number != other.number for other in self._waiting):
            self._waiting.append(asked)

    def go_on(self) -> None:
        """Say that the request under way is done."""
        self.is_busy = False
        self._end(Done(self._number, self._asked))

    def push(self, message: Push) -> None:
        """Send one message; an answer goes with the number of the request under way."""
        if self._asked and isinstance(message, Ok | Error):
            frame = encode_frame(encode(message))
            self._way.put(Answered(self._number, self._asked, frame), len(frame))
        else:
            super().push(message)

    def again(self, request: Request, now: int) -> None:
        """Give the request under way back; where it was a match, and is to join now, with the room of it."""
        self.is_busy = False
        self._end(Returned(self._number, self._asked, request.room if isinstance(request, Join) else ""))

    def ended(self) -> None:
        """Take notice that its own server has lost it, or is gone."""
        self._waiting.clear()
        self._is_over = True
        if not self.is_busy:
            self._handler.dismiss(self)

    def enter(self, code: str, *, plays: bool) -> None:
        """Take notice that it is in a room, and say so."""
        self.rooms.add(code)
        self._way.put(Entered(self._number, code, plays))

    def leave(self, code: str) -> None:
        """Take notice that it is in a room no more, and say so, unless it is only its server that is believed gone."""
        self.rooms.discard(code)
        if not self._is_over:
            self._way.put(Parted(self._number, code))

    def move(self, code: str, *, plays: bool) -> None:
        """Take notice that the room is another server's: its own server leads it there."""
        self.rooms.discard(code)

    def _begin(self, asked: Asked) -> None:
        self._asked = asked.number
        if asked.is_match:
            self._handler.lead(self, asked.message, asked.room, asked.now)
        else:
            self._handler.receive(self, asked.message, asked.now)
        if not self.is_busy:
            self._end(Done(self._number, self._asked))

    def _end(self, item: Done | Returned) -> None:
        """Say what became of the request under way, and go on with what waits."""
        if self._asked:
            self._asked = 0
            self._way.put(item)
        if self._is_over:
            self._handler.dismiss(self)
        elif self._waiting and not self.is_busy:
            self._begin(self._waiting.popleft())
