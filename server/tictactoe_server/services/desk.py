"""From a session's messages to whoever carries them out, and from every failure to its answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final, assert_never

from msgspec import UNSET

from tictactoe_protocol import (
    PROTOCOL_VERSION,
    BadMessage,
    ErrorCode,
    decode_request,
    error_answer,
    parse_room_code,
)
from tictactoe_protocol.pushes import FEATURES, Welcome, known_features
from tictactoe_protocol.requests import (
    Analyse,
    Chat,
    Claim,
    Create,
    Draw,
    Hello,
    History,
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
    Share,
    Sync,
    Undo,
    Watch,
)
from tictactoe_server import SERVER_NAME
from tictactoe_server.admin.bans import Bans, describe_ban
from tictactoe_server.admin.drain import Drain
from tictactoe_server.admin.expelling import expel
from tictactoe_server.admin.presence import Presence
from tictactoe_server.core.changes import Changes
from tictactoe_server.core.elsewhere import moved
from tictactoe_server.core.live_room import LiveRoom, not_in_room
from tictactoe_server.core.lobby import Lobby as PublicRooms
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.session import Session
from tictactoe_server.rooms import Player, Refused, has_begun
from tictactoe_server.services import playing
from tictactoe_server.services.allowances import Allowances
from tictactoe_server.services.answers import answer, refuse
from tictactoe_server.services.past_games import PastGames
from tictactoe_server.services.players import Players
from tictactoe_server.services.reviews import Reviews
from tictactoe_server.services.visits import Visits

if TYPE_CHECKING:
    from tictactoe_server.cluster.cluster import Cluster

InRoom = Move | Resign | Rematch | Draw | Undo | Claim | Join | Watch | Leave | Sync | Chat | Analyse
"""The requests that name a room."""


_MISSES: Final = (ErrorCode.NO_SUCH_ROOM, ErrorCode.NOT_IN_ROOM)
"""What those are told who try codes."""

BUSY_MS: Final = 500
"""When to ask again where there is too much to do."""


class Desk:
    """Answers what sessions send; a bad message is answered and never ends the connection.

    `hold_ms` is how long the seat of one who drops is held; `cluster` are the servers of which this is one, None
    for one on its own. Games can be shared where `shows_pages`.
    """

    def __init__(
        self,
        registry: Registry,
        changes: Changes,
        lobby: PublicRooms,
        visits: Visits,
        players: Players,
        past_games: PastGames,
        reviews: Reviews,
        allowances: Allowances,
        presence: Presence,
        bans: Bans,
        drain: Drain,
        *,
        hold_ms: int,
        cluster: Cluster | None = None,
        shows_pages: bool = True,
    ) -> None:
        self._registry = registry
        self._changes = changes
        self._lobby = lobby
        self._visits = visits
        self._players = players
        self._past_games = past_games
        self._reviews = reviews
        self._allowances = allowances
        self._presence = presence
        self._bans = bans
        self._drain = drain
        self._hold_ms = hold_ms
        self._cluster = cluster
        self._shows_pages = shows_pages
        self._tasks: set[asyncio.Task[None]] = set()

    def receive(self, session: Session, message: bytes, now: int) -> None:
        """Carry out one message that came at `now` (ms of served time), or answer why not."""
        try:
            request = decode_request(message)
        except BadMessage as bad:
            session.refuse(error_answer(bad.code, bad.message, id=bad.id, room=bad.room, path=bad.path))
            return
        try:
            player = session.player
            if type(request) is Move and player is not None and request.room in session.rooms:
                live = self._registry.find_here(request.room)
                if live is not None:  # nearly all that comes, by the shortest way
                    self._changes.submit(playing.Played(session, player, request, live, request, now))
                    return
            self._carry_out(session, request, now)
        except Exception as error:
            self.fail(session, request, error)

    def shed(self, session: Session, message: bytes) -> bool:
        """Answer a message with `busy`, but for what lets people in and out, and back to their seats."""
        try:
            request = decode_request(message)
        except BadMessage:
            return False
        if isinstance(request, Hello | Ping | Leave) or self._leads_to_own_seat(session, request):
            return False
        refuse(session, request, Refused(ErrorCode.BUSY, "The server has too much to do.", retry_ms=BUSY_MS))
        return True

    def _leads_to_own_seat(self, session: Session, request: Request) -> bool:
        player = session.player
        live = self._registry.find_here(request.room) if isinstance(request, Join) else None
        return live is not None and player is not None and live.room.mark_of(player.id) is not None

    def again(self, session: Session, request: Request, now: int) -> None:
        """Carry a request out that came at `now` and found that it needs another room."""
        session.is_busy = False
        try:
            self._carry_out(session, request, now)
        except Exception as error:
            self.fail(session, request, error)
        if not session.is_busy:
            session.go_on()

    def fail(self, session: Session, request: Request, error: Exception) -> None:
        """Say why not, and count who asks for rooms that are not there or not theirs."""
        if isinstance(error, Refused) and error.code in _MISSES and session.player is not None:
            try:
                self._allowances.count_miss(session, session.player)
            except Refused as refused:
                error = refused
        refuse(session, request, error)

    def dismiss(self, session: Session) -> None:
        """Take notice that a session is over."""
        self._presence.remove(session)
        self._registry.dismiss(session)

    async def close(self) -> None:
        """Stop what is still being found out for somebody."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- what is asked ------------------------------------------------------------------------------------------

    def _carry_out(self, session: Session, request: Request, now: int) -> None:
        player = session.player
        if player is None:
            if not isinstance(request, Hello):
                raise Refused(ErrorCode.HELLO_REQUIRED, "Say hello first.")
            self._later(session, request, self._greet(session, request))
            return
        match request:
            case (
                Move()
                | Resign()
                | Rematch()
                | Draw()
                | Undo()
                | Claim()
                | Join()
                | Watch()
                | Leave()
                | Sync()
                | Chat()
                | Analyse()
            ):
                live = self._registry.find_here(request.room)
                if live is not None and live.room.code in session.rooms:
                    self._carry_out_in(live, session, player, request, now)
                else:
                    self._check_misses(live, session, player, request.room)
                    self._carry_out_outside(live, session, player, request, now)
            case Create():
                self._visits.create(session, player, request, now)
            case Match():
                if self._cluster is None:
                    self._visits.match(session, player, request, now)
                else:
                    self._start(session, self._match(self._cluster, session, player, request, now))
            case Rooms():
                answer(session, request, rooms=self._lobby.list_rooms())
            case Lobby():
                self._subscribe(session, request)
            case Ping():
                answer(session, request, time=time.time_ns() // 1_000_000)
            case History():
                self._later(session, request, self._past_games.list(session, player, request))
            case Record():
                self._later(session, request, self._past_games.record(session, player, request))
            case Share():
                if not self._shows_pages:
                    raise Refused(ErrorCode.NOT_ALLOWED, "This server shows no games to others.")
                self._later(session, request, self._past_games.share(session, player, request))
            case Hello():
                raise Refused(ErrorCode.ALREADY_HELLO, f"You said hello already, {player.name}.")
            case _:
                assert_never(request)

    def _check_misses(self, live: LiveRoom | None, session: Session, player: Player, code: str) -> None:
        """Refuse one who may try no more codes; never one who has a seat there."""
        if live is None:
            has_seat = not self._registry.knows_all or self._registry.seats.has(player.id, parse_room_code(code))
        else:
            has_seat = live.room.mark_of(player.id) is not None
        if not has_seat:
            self._allowances.check_misses(session, player)

    def _carry_out_in(self, live: LiveRoom, session: Session, player: Player, request: InRoom, now: int) -> None:
        """Carry out a request in a room that the session is in."""
        match request:
            case Move() | Resign() | Rematch() | Draw() | Undo() | Claim():
                if type(request) is Rematch and not has_begun(live.room, request):
                    self._drain.check()
                if playing.is_offer(request, live.room):
                    self._allowances.take_offer(player)
                self._changes.submit(playing.Played(session, player, request, live, request, now))
            case Join():
                self._visits.join(session, player, request, live, now)
            case Watch():
                self._visits.watch(session, player, request, live, now)
            case Leave():
                self._visits.leave(session, player, request, live, now)
            case Sync():
                playing.sync(session, request, live, now)
            case Chat():
                playing.chat(session, player, request, live, self._allowances.crowd_chat)
            case Analyse():
                playing.take(session, session.analyses, "analyse", "You ask too much at once.")
                self._later(session, request, self._reviews.analyse(session, player, request, live.room))
            case _:
                assert_never(request)

    def _carry_out_outside(
        self, live: LiveRoom | None, session: Session, player: Player, request: InRoom, now: int
    ) -> None:
        """Bring the session into a room that it is not in, or say where the room is, or that it is not there."""
        if live is None:
            self._registry.check_here(request.room)
            self._start(session, self._find(session, request, now))
        elif isinstance(request, Join | Watch):
            self._carry_out_in(live, session, player, request, now)
        else:
            raise not_in_room(live.room.code)

    def _subscribe(self, session: Session, request: Lobby) -> None:
        """Tell of every change of the list of public rooms, beginning with the list itself, or stop."""
        if request.on:
            self._lobby.subscribe(session)
            answer(session, request, rooms=self._lobby.list_rooms())
            self._lobby.boards.subscribe(session, request.boards)
        else:
            self._lobby.unsubscribe(session)
            answer(session, request)

    # -- what takes longer --------------------------------------------------------------------------------------

    async def _greet(self, session: Session, request: Hello) -> None:
        async with session.source.hellos:
            player, token = await self._players.welcome(request.name, request.token, session.address)
        ban = self._bans.of_player(player.id)
        if ban is not None:
            id = None if request.id is UNSET else request.id
            session.tally.refusals[ErrorCode.BANNED] += 1
            expel(session.connection, ErrorCode.BANNED, describe_ban(ban), id=id)
            return
        session.player = player
        session.features = known_features(request.features)
        session.messages = self._allowances.messages.of(player.id)
        session.key = session.secret = self._players.note(token)
        session.connection.let_in()
        held = await self._registry.held_seats(player.id)
        session.push(
            Welcome(
                protocol=PROTOCOL_VERSION,
                server=SERVER_NAME,
                player=player.id,
                name=player.name,
                token=token,
                rooms=held,
                hold_ms=self._hold_ms,
                held_ms=self._registry.holds_left(player.id) or UNSET,
                features=tuple(name for name in FEATURES if self._shows_pages or name != "share"),
                id=request.id,
                servers=UNSET if self._cluster is None else self._cluster.urls,
                cluster=UNSET if self._cluster is None else self._cluster.id,
            )
        )

    async def _match(self, cluster: Cluster, session: Session, player: Player, request: Match, now: int) -> None:
        """Bring the session into the room that there is for it in the cluster, or say where that is."""
        try:
            self._drain.check()
            self._visits.check_seats(session, player)
            code, url = await cluster.seek(self._visits.kind_of(request), player)
            live = self._registry.find_here(code)
            if live is not None:
                self._visits.lead(session, player, request, live, now)
            elif url is None:
                self._visits.open_for_match(session, player, request, code, now)
            else:
                raise moved(code, url)
        except Exception as error:
            self.fail(session, request, error)
            session.go_on()

    async def _find(self, session: Session, request: InRoom, now: int) -> None:
        """Bring a room into this process, and carry the request out there."""
        try:
            await self._registry.find(request.room)
        except Exception as error:
            self.fail(session, request, error)
            session.go_on()
        else:
            self.again(session, request, now)

    def _later(self, session: Session, request: Request, work: Coroutine[Any, Any, None]) -> None:
        """Let a session wait for something that is answered at its end."""

        async def answer_at_its_end() -> None:
            try:
                await work
            except Exception as error:
                refuse(session, request, error)
            session.go_on()

        self._start(session, answer_at_its_end())

    def _start(self, session: Session, work: Coroutine[Any, Any, None]) -> None:
        session.is_busy = True
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
