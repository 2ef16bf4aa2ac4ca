"""From one connection's text frames to the hub, and from every failure to its answer: the one boundary that catches."""

from __future__ import annotations

import time
from typing import Any, assert_never

import structlog
from msgspec import UNSET, UnsetType

from tictactoe_engine import InvalidRules, Rules
from tictactoe_protocol import (
    PROTOCOL_VERSION,
    BadMessage,
    ErrorCode,
    decode_request,
    error_answer,
    rules_of,
)
from tictactoe_protocol.pushes import Ok, Welcome
from tictactoe_protocol.requests import (
    Analyse,
    Chat,
    Claim,
    Create,
    Draw,
    Hello,
    Join,
    Leave,
    Lobby,
    Match,
    Move,
    Ping,
    Record,
    Rematch,
    Request,
    Resign,
    Rooms,
    RulesChoice,
    Sync,
    Undo,
    Watch,
)
from tictactoe_protocol.requests import History as PastGames
from tictactoe_server import SERVER_NAME
from tictactoe_server.bots import LEVEL_NAMES
from tictactoe_server.connection import Connection
from tictactoe_server.history import History
from tictactoe_server.hub import Hub
from tictactoe_server.players import Players
from tictactoe_server.rooms import Player, Refused
from tictactoe_server.stores import StoreBusy, StoreUnavailable

log = structlog.get_logger(__name__)


class Gateway:
    """Answers what connections send; a bad message is answered and never ends the connection.

    `hold_ms` is how long the seat of one who drops is held.
    """

    def __init__(self, hub: Hub, players: Players, history: History, *, hold_ms: int) -> None:
        self._hold_ms = hold_ms
        self._hub = hub
        self._history = history
        self._players = players

    async def receive(self, connection: Connection, data: bytes) -> None:
        """Carry out one text frame, or answer why not."""
        try:
            request = decode_request(data)
        except BadMessage as bad:
            _refuse(connection, bad.id, bad.room, Refused(bad.code, bad.message, path=bad.path))
            return
        player = connection.player
        id = None if request.id is UNSET else request.id
        try:
            if player is None:
                await self._greet(connection, request)
                return
            match request:
                case Move() | Resign() | Rematch() | Draw() | Undo() | Claim():
                    await self._hub.apply(connection, player, id, request.room, request)
                case Join():
                    await self._hub.join(connection, player, id, request.room)
                case Watch():
                    await self._hub.watch(connection, player, id, request.room)
                case Leave():
                    await self._hub.leave(connection, player, id, request.room)
                case Sync():
                    await self._hub.sync(connection, id, request.room)
                case Match():
                    rules = _chosen_rules(request.rules)
                    await self._hub.match(connection, player, id, rules, request.clock)
                case Create():
                    await self._create(connection, player, id, request)
                case Rooms():
                    _answer(connection, id, rooms=self._hub.list_rooms())
                case Ping():
                    _answer(connection, id, time=int(time.time() * 1000))
                case Chat():
                    await self._hub.chat(connection, player, id, request.room, request.text)
                case Lobby():
                    self._hub.subscribe(connection, id, on=request.on)
                case PastGames():
                    before = None if request.before is UNSET else request.before
                    games = await self._history.games_of(player.id, request.limit, before)
                    _answer(connection, id, games=games)
                case Analyse():
                    await self._hub.analyse(connection, player, id, request.room, request.ply)
                case Record():
                    _answer(connection, id, record=await self._history.record_of(player.id, request.game))
                case Hello():
                    raise Refused(ErrorCode.ALREADY_HELLO, f"You said hello already, {player.name}.")
                case _:
                    assert_never(request)
        except Refused as refused:
            _refuse_request(connection, request, refused)
        except StoreBusy:
            busy = Refused(ErrorCode.BUSY, "The server has too much to store at once.", retry_ms=500)
            _refuse_request(connection, request, busy)
        except StoreUnavailable:
            log.warning("store unavailable", request=type(request).__name__)
            unavailable = Refused(ErrorCode.UNAVAILABLE, "The server cannot store this now.", retry_ms=1000)
            _refuse_request(connection, request, unavailable)
        except Exception:
            log.exception("a request failed", request=type(request).__name__)
            _refuse_request(connection, request, Refused(ErrorCode.INTERNAL, "The server made a mistake."))

    async def _greet(self, connection: Connection, request: Request) -> None:
        if not isinstance(request, Hello):
            raise Refused(ErrorCode.HELLO_REQUIRED, "Say hello first.")
        player, token = await self._players.welcome(request.name, request.token)
        connection.player = player
        held = await self._hub.held_seats(player.id)
        connection.push(
            Welcome(
                protocol=PROTOCOL_VERSION,
                server=SERVER_NAME,
                player=player.id,
                name=player.name,
                token=token,
                rooms=held,
                hold_ms=self._hold_ms,
                held_ms=self._hub.holds_left(player.id, held) or UNSET,
                id=request.id,
            )
        )

    async def _create(self, connection: Connection, player: Player, id: str | None, request: Create) -> None:
        rules = _chosen_rules(request.rules)
        for index, name in enumerate(request.bots):
            if name not in LEVEL_NAMES:
                message = f"There is no bot called {name!r}: {', '.join(LEVEL_NAMES)}."
                raise Refused(ErrorCode.BAD_MESSAGE, message, path=f"bots[{index}]")
        if len(request.bots) > len(rules.marks):
            message = f"{len(request.bots)} bots do not fit a game of {len(rules.marks)}."
            raise Refused(ErrorCode.BAD_MESSAGE, message, path="bots")
        seat = None if request.seat is UNSET else request.seat
        if seat is not None and seat not in tuple(rules.marks):
            message = f"There is no seat {seat!r}: the marks are {', '.join(rules.marks)}."
            raise Refused(ErrorCode.BAD_MESSAGE, message, path="seat")
        await self._hub.create(
            connection,
            player,
            id,
            rules,
            seat=seat,
            visibility=request.visibility,
            clock=request.clock,
            bots=request.bots,
        )


def _chosen_rules(choice: RulesChoice | UnsetType) -> Rules:
    try:
        return rules_of(choice)
    except InvalidRules as invalid:
        path = "rules" if isinstance(choice, str) or invalid.field is None else f"rules.{invalid.field}"
        raise Refused(ErrorCode(invalid.code), invalid.message, path=path) from None


def _answer(connection: Connection, id: str | None, **content: Any) -> None:
    if id is not None:
        connection.push(Ok(id=id, **content))


def _refuse_request(connection: Connection, request: Request, refused: Refused) -> None:
    id = None if request.id is UNSET else request.id
    _refuse(connection, id, getattr(request, "room", None), refused)


def _refuse(connection: Connection, id: str | None, room: str | None, refused: Refused) -> None:
    connection.push(
        error_answer(refused.code, refused.message, id=id, room=room, path=refused.path, retry_ms=refused.retry_ms)
    )
