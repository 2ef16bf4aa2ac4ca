"""Quick match for the whole house: for each kind of game one server knows who waits, and where the next one goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
import structlog

from tictactoe_engine import InvalidRules
from tictactoe_protocol.requests import RulesFields
from tictactoe_server.house.members import Members
from tictactoe_server.house.parcels import Seek, decode_seek, encode
from tictactoe_server.rooms import Player, open_room
from tictactoe_server.stores import MISSING, StoreUnavailable
from tictactoe_server.stores.jetstream import Link, LinkError, NoResponders
from tictactoe_server.tables import Agenda, LiveRoom, Registry
from tictactoe_server.tables.matchmaking import GameKind

RESERVED_SECONDS: Final = 3.0
"""How long a seat is kept for one who was sent to it, and a room expected of one who is to open it."""

_ANSWER_SECONDS: Final = 0.8
_ATTEMPTS: Final = 3

SUBJECT: Final = "house.seek."

log: Final = structlog.get_logger(__name__)


class Matching:
    """Finds rooms for those who ask for a match, here or at the server that knows who waits."""

    def __init__(
        self, link: Link, members: Members, registry: Registry, agenda: Agenda, now: Callable[[], int]
    ) -> None:
        self._link = link
        self._members = members
        self._registry = registry
        self._agenda = agenda
        self._now = now
        self._kept: dict[str, LiveRoom] = {}

    async def seek(self, kind: GameKind, player: Player) -> tuple[str, bool]:
        """Return the code of the room for a player, and whether it is for this server to open.

        Raises `StoreUnavailable` where nobody can say.
        """
        code = self._registry.new_code()
        rules, clock = kind
        seek = Seek(player.id, player.name, RulesFields.of(rules), clock, code)
        key = _key_of(kind)
        for _ in range(_ATTEMPTS):
            owner = self._members.owner_of(key)
            if owner == self._members.id:
                found = self._find(kind, player, code, is_here=True)
                return found, found == code
            if owner is None:
                await asyncio.sleep(_ANSWER_SECONDS)
                continue
            try:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    found = str(await self._link.request(SUBJECT + owner, encode(seek)), "ascii")
                return found, found == code
            except NoResponders:
                self._members.lose(owner)
            except (LinkError, TimeoutError):
                log.debug("a match was not answered", server=self._members.name_of(owner))
        raise StoreUnavailable("nobody can say who waits for a match")

    def answer(self, question: bytes) -> bytes:
        """Return the code of the room for a player of another server."""
        try:
            seek = decode_seek(question)
            kind = (seek.rules.to_rules(), seek.clock)
        except (msgspec.DecodeError, InvalidRules) as error:
            log.warning("a question for a match cannot be read", reason=str(error))
            return b""
        return self._find(kind, Player(seek.player, seek.name), seek.code, is_here=False).encode()

    def _find(self, kind: GameKind, player: Player, code: str, *, is_here: bool) -> str:
        """Return the code of the room for a player, whose seat there is kept for a while."""
        kept = self._kept.get(player.id)
        if kept is not None:
            self._keep_no_longer(kept, player)
        own = self._own_waiting(kind, player)
        if own is not None:
            return own
        live = self._registry.matchmaker.find(kind, player.id)
        if live is not None:
            live.entering.add(player.id)
            self._kept[player.id] = live
            self._after_a_while(partial(self._keep_no_longer, live, player))
            return live.room.code
        if not is_here:
            rules, clock = kind
            expected = self._registry.announce(open_room(code, rules, player, self._now(), clock=clock), player.id)
            self._registry.matchmaker.offer(expected)
            self._after_a_while(partial(self._expect_no_more, expected))
        return code

    def _own_waiting(self, kind: GameKind, player: Player) -> str | None:
        """Return the code of the room of this kind in which the player waits already."""
        for room in self._registry.rooms_of(player.id):
            if room.status == "waiting" and room.visibility == "public" and (room.rules, room.clock) == kind:
                return room.code
        return None

    def _keep_no_longer(self, live: LiveRoom, player: Player) -> None:
        """Let another one have a seat, if the one for whom it was kept has not come or asks again."""
        if self._kept.get(player.id) is live:
            del self._kept[player.id]
        live.entering.discard(player.id)
        self._registry.matchmaker.offer(live)

    def _expect_no_more(self, live: LiveRoom) -> None:
        if live.revision == MISSING:
            self._registry.give_up(live)

    def _after_a_while(self, action: Callable[[], object]) -> None:
        self._agenda.at(asyncio.get_running_loop().time() + RESERVED_SECONDS, action)


def _key_of(kind: GameKind) -> str:
    """Return by what the server is chosen that knows of a kind."""
    rules, clock = kind
    return "match/" + msgspec.json.encode((RulesFields.of(rules), clock)).decode()
