"""The core: rooms, their path and their timers, and who is here. Services plug into it; it knows none of them."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from tictactoe_engine import Rules
from tictactoe_protocol.events import Call as EventCall
from tictactoe_protocol.pushes import SeatState
from tictactoe_server.core.agenda import Agenda
from tictactoe_server.core.changes import Changes, ServerChange
from tictactoe_server.core.kept import ROOMS
from tictactoe_server.core.limits import Allowances
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.lobby import Lobby
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.rooms import FinishedGame, Player, Room, open_room
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Session
from tictactoe_server.core.tally import Tally
from tictactoe_server.core.timers import Timers
from tictactoe_server.settings import Limits
from tictactoe_server.storage.specs import Storage


class Presence:
    """The sessions of all peers whose handshake is done, in the order of their arrival."""

    def __init__(self) -> None:
        self._since: dict[Session, float] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._since))

    @property
    def greeted(self) -> list[tuple[Session, Player]]:
        """Those who have said who they are, with that."""
        return [(session, session.player) for session in self._since if session.player is not None]

    def add(self, session: Session) -> None:
        self._since[session] = asyncio.get_running_loop().time()

    def remove(self, session: Session) -> None:
        self._since.pop(session, None)

    def seconds(self, session: Session) -> float:
        """Return for how long somebody has been here."""
        return asyncio.get_running_loop().time() - self._since[session]

    def of_player(self, id: str) -> list[Session]:
        """Return the sessions of one player."""
        return [session for session, player in self.greeted if player.id == id]


class Core:
    """What all services work with. Rooms hold the seat of one who drops for `hold_ms`; limits go by `monotonic_ns`.

    `calls_of` returns to which rooms of events a player is called now, and `seat` has those sit in a room of an event
    who are to play there.
    """

    def __init__(
        self, store: Storage, time: ServedTime, limits: Limits, hold_ms: int, monotonic_ns: Callable[[], int]
    ) -> None:
        self.store = store
        self.time = time
        self.limits = limits
        self.hold_ms = hold_ms
        self.monotonic_ns = monotonic_ns
        self.tally = tally = Tally()
        self.presence = Presence()
        self.agenda = Agenda()
        rooms = store.table(ROOMS)
        self.changes = Changes(rooms, time)
        self.timers = Timers(self.agenda, self.changes, time, limits)
        self.lobby = Lobby(time)
        self.registry = Registry(rooms, self.timers, self.lobby, tally)
        self.allowances = Allowances(limits, tally.limited, monotonic_ns)
        self.calls_of: Callable[[str], Awaitable[tuple[EventCall, ...]]] = _nobody
        self.seat: Callable[[LiveRoom], Awaitable[object]] = _nobody

    def on_result(self, listener: Callable[[FinishedGame], object]) -> None:
        """Tell a listener of each game that is over and stored from now on, also of one that was aborted."""
        self.changes.on_result.add(listener)

    def on_room(self, listener: Callable[[LiveRoom, Room | None], object]) -> None:
        """Tell a listener of each room that opens or whose seats, clock or result change, and what it was before."""
        self.changes.on_room.add(listener)

    async def open_room(
        self,
        rules: Rules,
        *,
        seats: Mapping[str, Player | SeatState | str] | None = None,
        origin: str = "",
        **terms: Any,
    ) -> LiveRoom:
        """Open a room in which nobody is yet, and return it once it is stored; it counts for the first player.

        `seats` are reserved, by their marks, for players who come by `join`, and for bots of the level that is named,
        or of a name and an id of their own. `terms` are as for `rooms.open_room`, and its `code`: with an `event` and
        a `pairing` the room counts for nobody and is opened under that code alone, else `RoomExists` is raised.
        Raises `Refused` and `StoreUnavailable`.
        """
        seats = seats or {}
        bots = iter(bot_seats([level for level in seats.values() if isinstance(level, str)]))
        reserved = {mark: next(bots) if isinstance(one, str) else _reserved(one) for mark, one in seats.items()}
        owner = terms.pop("owner", next((one.id for one in seats.values() if isinstance(one, Player)), ""))
        live = self.new_room(rules, None, self.time(), owner=owner, origin=origin, reserved=reserved, **terms)

        def then(error: Exception | None) -> None:
            if error is None:
                self.timers.close_later(live)
            else:
                self.registry.give_up(live)

        opening = ServerChange(
            live, live.room.opened_at, then=then, make=lambda room: self.registry.with_free_code(opening)
        )
        await self.changes.until_settled(opening)
        return live

    def let_go(self, live: LiveRoom) -> None:
        """Let a room of an event end as any other does, once nobody is there; after a restart to be said again."""
        live.is_kept = False
        self.timers.close_later(live)

    def new_room(
        self, rules: Rules, player: Player | None, now: int, *, owner: str, origin: str, code: str = "", **terms: Any
    ) -> LiveRoom:
        """Return a room that is about to be opened, under a new code where none is given; raises `Refused`."""
        terms = {"hold_ms": self.hold_ms, "start_ms": round(self.limits.start_seconds * 1000), **terms}
        room = open_room(code or self.registry.new_code(), rules, player, now, **terms)
        live = LiveRoom(room, owner=owner, origin=origin, source=self.registry.source_of(origin))
        self.registry.expect(live)
        return live


async def _nobody(asked: object) -> tuple[()]:
    """Call nobody, and have nobody sit anywhere: there are no events."""
    return ()


def _reserved(one: Player | SeatState) -> SeatState:
    return one if isinstance(one, SeatState) else SeatState(one.id, one.name, online=False, bot=None)


def bot_seats(levels: Sequence[str]) -> list[SeatState]:
    """Return the seats of bots; those of one room are told apart by numbers."""
    names = [f"{level}-bot" if len(levels) == 1 else f"{level}-bot-{number}" for number, level in enumerate(levels, 1)]
    return [
        SeatState(f"bot-{secrets.token_hex(4)}", name, online=True, bot=level)
        for name, level in zip(names, levels, strict=True)
    ]
