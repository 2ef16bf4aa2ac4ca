"""A challenge as it is kept and as people are shown it, and the list of those to all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from tictactoe_protocol import MAX_LISTED_ROOMS, encode
from tictactoe_protocol.challenges import OpenChallenge, SeekChanges
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.listings.lobby import MAX_CHANGE_BYTES, in_groups
from tictactoe_server.ratings.blocks import Blocking
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
    """The challenges to all that are `open`, the oldest first, for those who know them and are shown them."""

    def __init__(self, blocking: Blocking, time: Callable[[], int]) -> None:
        super().__init__()
        self._blocking, self._time = blocking, time
        self.open: dict[str, Made] = {}
        self._changed: dict[str, Made] = {}

    def is_shown(self, made: Made, player: str) -> bool:
        """Tell whether a player sees a challenge: not where one of both blocks the other."""
        is_deaf = self._blocking.is_deaf
        return not (player in made.hidden or is_deaf(player, made.player) or is_deaf(made.player, player))

    def change(self, seek: Made, *, is_told: bool) -> None:
        """Know one that is new or over, of which others are told soon where that `is_told`."""
        if seek.stage == 2:
            self.open.pop(seek.challenge, None)
        else:
            self.open[seek.challenge] = seek
        if is_told:
            self._changed[seek.challenge] = seek
            self.tell_later()

    def subscribe(self, session: Session, count: int = 1) -> None:
        super().subscribe(session)
        self._send([session], list(islice(reversed(self.open.values()), MAX_LISTED_ROOMS)))

    def tell(self) -> None:
        changed, self._changed = list(self._changed.values()), {}
        self._send(self.subscribers, changed)

    def _send(self, sessions: Iterable[Session], seeks: Sequence[Made]) -> None:
        """Send each session what it may see, maybe in several messages; what is the same for several is made once.

        From whom one is hidden is not told of its end either.
        """
        over = [seek for seek in seeks if seek.stage == 2]
        rows = {encode(seek.row(OpenChallenge, self._time())): seek for seek in seeks if seek.stage < 2}
        for some in in_groups(rows, MAX_CHANGE_BYTES):
            frames: dict[tuple[tuple[bytes, ...], tuple[str, ...]], bytes] = {}
            for session in sessions:
                id = session.player.id if session.player else ""
                shown = tuple(row for row in some if self.is_shown(rows[row], id))
                closed = tuple(seek.challenge for seek in over if id not in seek.hidden)
                if (shown, closed) not in frames:
                    frames[shown, closed] = encode_frame(encode(SeekChanges(list_of(shown), closed)))
                if shown or closed:
                    session.connection.push_frame(frames[shown, closed])
            over = []
