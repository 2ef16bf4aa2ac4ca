"""The first thing that anybody says, and what they are told of this server and of their seats."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from msgspec import UNSET

from tictactoe_protocol import PROTOCOL_VERSION, ErrorCode
from tictactoe_protocol.pushes import FEATURES, Welcome, known_features
from tictactoe_protocol.requests import Hello
from tictactoe_server import SERVER_NAME
from tictactoe_server.admin.bans import Bans, describe_ban, expel
from tictactoe_server.core.answers import Call
from tictactoe_server.core.core import Core
from tictactoe_server.core.rooms import Refused
from tictactoe_server.core.service import Service
from tictactoe_server.services.players import Players


class Greeting(Service):
    """Makes a connection a player's, unless that one is banned. Games can be shared where `shows_pages`."""

    def __init__(self, players: Players, bans: Bans, *, shows_pages: bool) -> None:
        self._players = players
        self._bans = bans
        self._shows_pages = shows_pages
        self.handles = {Hello: self.greet}

    def start(self, core: Core) -> None:
        self._core = core

    async def close(self) -> None:
        await self._players.close()

    def greet(self, call: Call) -> Coroutine[Any, Any, None]:
        """Say who one is, and which seats they hold."""
        if call.session.player is not None:
            raise Refused(ErrorCode.ALREADY_HELLO, f"You said hello already, {call.player.name}.")
        return self._greet(call)

    async def _greet(self, call: Call) -> None:
        session, request = call.session, call.request
        async with session.source.hellos:
            player, token = await self._players.welcome(request.name, request.token, session.address)
        ban = self._bans.of_subject(player.id)
        if ban is not None:
            id = None if request.id is UNSET else request.id
            session.tally.refusals[ErrorCode.BANNED] += 1
            expel(session.connection, ErrorCode.BANNED, describe_ban(ban), id=id)
            return
        session.player = player
        session.features = known_features(request.features)
        session.messages = self._core.allowances.messages[player.id]
        session.key = session.secret = self._players.note(token)
        session.connection.let_in()
        registry = self._core.registry
        held = await registry.held_seats(player.id)
        cluster = registry.elsewhere.cluster
        session.push(
            Welcome(
                protocol=PROTOCOL_VERSION,
                server=SERVER_NAME,
                player=player.id,
                name=player.name,
                token=token,
                rooms=held,
                hold_ms=self._core.hold_ms,
                held_ms=registry.holds_left(player.id) or UNSET,
                features=tuple(name for name in FEATURES if self._shows_pages or name != "share"),
                id=request.id,
                servers=UNSET if cluster is None else cluster.urls,
                cluster=UNSET if cluster is None else cluster.id,
            )
        )
