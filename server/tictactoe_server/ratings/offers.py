"""A challenge as it is kept and as people are shown it, and the list of those to all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from tictactoe_protocol import MAX_LISTED_ROOMS, encode
from tictactoe_protocol.challenges import OpenChallenge, SeekChanges
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.listings.lobby import MAX_CHANGE_BYTES, in_groups
from tictactoe_server.sessions.session import Session
from tictactoe_server.storage.specs import Persons, TableSpec
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.watching.topics import Topic, list_of

KEPT_MS: Final = 60_000
"""For how long it is kept how a challenge ended, for servers that did not hear it."""

Row = TypeVar("Row", bound=OpenChallenge)


class Made(OpenChallenge, frozen=True, kw_only=True):
    """A challenge as it is kept, from whom it is hidden, and `until` when it can be accepted (ms of served time).

    Once it is answered: `how`, by whom, by which `answer` of all that were given, and until when its room has to be
    there. A seek is looked after `at` the server of this URL, as its player was there.
    """

    player: str
    name: str
    clock: ClockFields | None
    until: int
    at: str
    hidden: tuple[str, ...] = ()
    how: str = ""
    by: str = ""
    answer: str = ""
    room: str = ""

    @property
    def people(self) -> set[str]:
        """Those whom it concerns: who made it, whom it is to where that is one, and who answered it."""
        return {self.player, self.to or self.player, self.by or self.player}

    @property
    def stage(self) -> int:
        """Return 0 while it can be answered, 1 until the room of one that is accepted is there, 2 once it is over."""
        return 2 if self.room or self.how not in ("", "accepted") else 1 if self.how else 0

    def row(self, kind: type[Row], now: int) -> Row:
        """Return what people are told of it, now or at another moment of served time (ms)."""
        shown = {name: getattr(self, name) for name in OpenChallenge.__struct_fields__}
        return kind(**shown | {"expires_ms": max(0, self.until - now)})

    def without(self, id: str, stand_in: str) -> Made | None:
        """Return what is left when somebody is forgotten."""
        return None if id in self.people else replace(self, hidden=tuple(one for one in self.hidden if one != id))


CHALLENGES: Final[TableSpec[Made]] = TableSpec(
    *("challenges", "challenge", msgspec.json.encode, msgspec.json.Decoder(Made).decode),
    key_of=lambda made: made.challenge,
    persons=Persons(
        lambda made: made.people.union(made.hidden),
        Made.without,
        lambda made: msgspec.to_builtins(made.row(OpenChallenge, made.until - made.expires_ms)),
        owner=lambda made: made.player,
    ),
    lifetime_seconds=lambda made: (KEPT_MS + (made.expires_ms if made.stage < 2 else 0)) // 1000,
)
"""By their ids, until a little after they are over."""


class Seeks(Topic):
    """The challenges to all, for those who know them and are shown them; `list_open` yields the newest first."""

    def __init__(
        self,
        list_open: Callable[[], Iterator[Made]],
        is_shown: Callable[[Made, str], bool],
        time: Callable[[], int],
    ) -> None:
        super().__init__()
        self._list_open, self._is_shown, self._time = list_open, is_shown, time
        self._changed: dict[str, Made | None] = {}

    def change(self, id: str, seek: Made | None) -> None:
        """Have one told of soon, None for one that is over."""
        self._changed[id] = seek
        self.tell_later()

    def subscribe(self, session: Session, count: int = 1) -> None:
        if "challenges" in session.features:
            super().subscribe(session)
            self._send([session], list(islice(self._list_open(), MAX_LISTED_ROOMS)), ())

    def tell(self) -> None:
        changed, self._changed = self._changed, {}
        closed = tuple(id for id, seek in changed.items() if seek is None)
        self._send(self.subscribers, [seek for seek in changed.values() if seek is not None], closed)

    def _send(self, sessions: Iterable[Session], seeks: list[Made], closed: tuple[str, ...]) -> None:
        """Send each session what it may see, maybe in several messages; what is the same for several is made once."""
        rows = {encode(seek.row(OpenChallenge, self._time())): seek for seek in seeks}
        for some in in_groups(rows, MAX_CHANGE_BYTES):
            frames: dict[tuple[bytes, ...], bytes] = {}
            for session in sessions:
                id = session.player.id if session.player else ""
                shown = tuple(row for row in some if self._is_shown(rows[row], id))
                if shown not in frames:
                    frames[shown] = encode_frame(encode(SeekChanges(list_of(shown), closed)))
                if shown or closed:
                    session.connection.push_frame(frames[shown])
            closed = ()
