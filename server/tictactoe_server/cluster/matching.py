"""Quick match for the whole cluster: for each kind of game, one server pairs the players of all servers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Any, Final

import msgspec
import structlog

from tictactoe_protocol.terms import RulesFields
from tictactoe_server.cluster.jetstream.link import Link
from tictactoe_server.cluster.members import Members
from tictactoe_server.cluster.messages import MATCHES, Found, MatchRequest, ask, encode
from tictactoe_server.cluster.rooms import OtherRoom, OtherRooms
from tictactoe_server.core.core import Core
from tictactoe_server.listings.listed import GameKind, Listed, RoomAt, kind_of
from tictactoe_server.rooms import Player, open_room
from tictactoe_server.rooms.terms import terms_of
from tictactoe_server.storage.store import StoreUnavailable

RESERVED_SECONDS: Final = 3.0  # how long a seat is reserved for a player, or a room expected from its opener
_ANSWER_SECONDS: Final = 0.4
_ATTEMPTS: Final = 2

log: Final = structlog.get_logger(__name__)


class Matching:
    """Finds rooms for players, by asking the server responsible for the kind of game."""

    def __init__(self, link: Link, members: Members, rooms: OtherRooms, core: Core) -> None:
        self._link = link
        self._members = members
        self._rooms = rooms
        self._lists = core.lists
        self._agenda = core.agenda
        self._kept: dict[str, Listed] = {}

    async def find_match(self, kind: GameKind, player: Player, but: Collection[str] = ()) -> RoomAt:
        """Return the room for a player, and its server; see `Elsewhere.find_match`."""
        rules, clock, rated = kind
        code, fields = self._lists.new_code(), RulesFields.of(rules)
        request = MatchRequest(self._members.id, player.id, player.name, fields, clock, code, rated, tuple(but))
        key = "match/" + msgspec.json.encode((request.rules, clock)).decode()
        for _ in range(_ATTEMPTS):
            knowing = self._members.chosen_for(key)
            if knowing == self._members.id:
                found = self.find(request)
            else:
                try:
                    found = await ask(self._link, MATCHES + knowing, encode(request), Found, _ANSWER_SECONDS)
                except StoreUnavailable:
                    log.debug("a match was not answered", server=knowing)
                    await asyncio.sleep(0.1)
                    continue
            url = self._members.url_of(found.server)
            if url is not None or found.server in ("", self._members.id):
                return found.code, url
        raise StoreUnavailable("nobody can say who waits for a match")

    def find(self, request: MatchRequest) -> Found:
        """Return the room for a player, and reserve the seat for a while; raises `InvalidRules`."""
        kind, player = (request.rules.to_rules(), request.clock, request.rated), Player(request.player, request.name)
        matchmaker = self._lists.matchmaker
        if player.id in self._kept:
            self._keep_no_longer(self._kept[player.id], player)
        own = [one for one in self._lists.seats.rooms_of(player.id) if kind_of(one.room) == kind]
        waiting = (one for one in own if one.room.status == "waiting" and one.room.visibility == "public")
        listed: Listed | None = next(waiting, None) or matchmaker.find(kind, player.id, request.but)
        if listed is None:
            if request.sender != self._members.id:  # the next player is sent to the room that the sender opens
                terms: dict[str, Any] = {"clock": request.clock, "rated": request.rated}
                terms["terms"] = terms_of("", rated=request.rated)
                room = open_room(request.code, kind[0], player, 0, **terms)
                expected = self._rooms.expect(request.sender, room)
                matchmaker.offer(expected)
                self._agenda.after(RESERVED_SECONDS, partial(self._rooms.expect_no_more, expected))
            return Found(request.code)
        if listed.room.mark_of(player.id) is None:
            listed.entering |= {player.id}
            self._kept[player.id] = listed
            self._agenda.after(RESERVED_SECONDS, partial(self._keep_no_longer, listed, player))
        return Found(listed.room.code, listed.server if isinstance(listed, OtherRoom) else self._members.id)

    def _keep_no_longer(self, listed: Listed, player: Player) -> None:
        if self._kept.get(player.id) is listed:
            del self._kept[player.id]
            listed.entering -= {player.id}
            self._lists.matchmaker.offer(listed)
