"""One person on one server at a time: who they are there, and the connection.

A person may be several players there, since runs at the same time are. No file is waited for on the event loop."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal, ParamSpec, TypeVar

from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_client.online.address import Address, House, parse_house
from tictactoe_client.online.client import Client, connect
from tictactoe_client.online.errors import BadAddress, ClientError, Refused, Unreachable
from tictactoe_client.online.events import Back, Lost, Retrying
from tictactoe_client.online.local_server import run_local_server
from tictactoe_client.online.messages import Message
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_client.streams.keyboard import is_decision
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Welcome

Phase = Literal["connecting", "online", "away", "failed"]
Role = Literal["player", "reader", "nobody"]
"""Who we are on a server: the player of an earlier run that nobody else plays as; just like the last one, without
getting in their way; or somebody new whom nobody remembers."""
Enter = Callable[[Client], Awaitable[Room]]
Given = ParamSpec("Given")
Written = TypeVar("Written")


def house_for(settings: Settings, address: Address | None) -> House:
    """Return the house of the settings, or of an address, which comes first; raises `BadAddress` for none."""
    if address is None:
        return parse_house(settings.server)
    try:
        return parse_house(settings.server).led_by(address)
    except BadAddress:
        return House((address,))


def _ignore(*_: Any) -> None: ...


class Session:
    """The connection, and whose it is; `client` is None until the first one.

    `open` connects for one piece of work; `run` keeps a connection for a screen, whatever happens: each failure becomes
    a phase, and one may try again, go to another server, and back. `house` begins with the server that we are at, or
    want to be at first; `before` is the server that we came from, or None; `retrying` is the last attempt to come back,
    the next one at `retries_at`, our seats being held until `held_until`, by the loop's clock. `rooms` are those in
    which this run holds a seat.
    """

    def __init__(
        self,
        settings: Settings,
        house: House,
        role: Role = "player",
        *,
        room: str | None = None,
        resumes: bool = False,
        tell: Callable[[str], object] = _ignore,
        hear: Callable[[Message], object] = _ignore,
        connected: Callable[[], object] = _ignore,
        changed: Callable[[], object] = _ignore,
        failed: Callable[[ClientError], object] = _ignore,
    ) -> None:
        """Prepare it; whoever left a seat in the `room`, or in any where one `resumes`, comes first.

        `tell` gets a line for the person, `hear` every message; `connected` is called after each hello, `changed` when
        there is something new to show, `failed` when no attempt is made any more until `retry`.
        """
        self.settings = settings
        self.house = house
        self.role = role
        self.name = settings.name
        self.phase: Phase = "connecting"
        self.client: Client | None = None
        self._latency_ms: int | None = None
        self.failure: ClientError | None = None
        self.retrying: Retrying | None = None
        self.retries_at = 0.0
        self.held_until = 0.0
        self.before: Address | None = None
        self.players = KnownPlayers()
        self._room, self._resumes = room, resumes
        self._tell, self._hear, self._connected = tell, hear, connected
        self._changed, self._failed = changed, failed
        self._tokens: dict[str, str] = {}
        self._starts_local = settings.local
        self._own: Address | None = None
        self._reached: Address | None = None
        self.rooms: set[str] = set()
        self._wanted, self._greeted = asyncio.Event(), asyncio.Event()
        self._talk: asyncio.Task[None] | None = None
        self._servers = AsyncExitStack()
        self._writing = asyncio.Lock()
        self._writings: set[asyncio.Task[None]] = set()
        self._is_told = False

    @property
    def address(self) -> Address:
        """The server that we are at, or want to be at first."""
        return self.house.first

    @property
    def latency_ms(self) -> int | None:
        """How long the server takes to answer: a figure that stands still while the connection does, None at first."""
        if self.client is not None:
            self._latency_ms = settle_latency(self._latency_ms, self.client.latency_seconds)
        return self._latency_ms

    @property
    def is_own(self) -> bool:
        """Whether the server is one that was started for this run, where nobody else comes."""
        return self.address == self._own

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Client]:
        """Connect, and close again; seats are then struck out, unless we were cut off. Raises what `connect` does."""
        async with self._servers, AsyncExitStack() as connections:
            client = await self._arrive(connections)
            await self._write_all()
            try:
                yield client
            finally:
                for room in () if client.was_cut_off else tuple(self.rooms):
                    self.forget_room(room)
                await self.finish()

    async def run(self) -> None:
        """Keep a conversation going until cancelled; one that breaks off because we want another begins again."""
        running = asyncio.current_task()
        async with self._servers:
            while True:
                self._wanted.clear()
                self.phase, self.failure = "connecting", None
                self._changed()
                self._talk = asyncio.create_task(self._converse())
                try:
                    await self._talk
                except asyncio.CancelledError:
                    if running is None or running.cancelling():
                        raise
                except ClientError as failure:
                    self.failure, self.phase = failure, "failed"
                    self._greeted.set()
                    self._failed(failure)
                    self._changed()
                    await self._wanted.wait()

    def retry(self) -> None:
        """Try at once, whatever is being waited for."""
        if self.phase == "away" and self.client is not None:
            self.client.retry_now()
        elif self.phase == "failed":
            self._wanted.set()

    def start_local(self) -> None:
        """Where nothing answers, start a server for this run."""
        self._starts_local = True
        self.retry()

    def move(self, address: Address, role: Role = "player", *, room: str | None = None) -> None:
        """Say goodbye to this server and go to another, as whom we were there, first of all in that room."""
        self.before = self._reached if self._reached != address else None
        self.house, self.role, self._room = house_for(self.settings, address), role, room
        self.client, self._latency_ms = None, None
        self._starts_local, self._resumes = False, False
        self.phase, self.failure = "connecting", None
        self._restart()

    def rename(self, name: str) -> None:
        """Say hello again under another name, as the same player."""
        self.name = name
        self._restart()

    async def greet_again(self) -> None:
        """Say goodbye and hello again, so that the server takes us for away; return when that is done."""
        self._greeted.clear()
        self._restart()
        await self._greeted.wait()

    def _restart(self) -> None:
        self._wanted.set()
        if self._talk is not None:
            self._talk.cancel()

    async def _converse(self) -> None:
        async with AsyncExitStack() as connections:
            client = await self._arrive(connections)
            messages = client.messages()
            self._greeted.set()
            self._connected()
            self._changed()
            async for message in messages:
                self._take(message, client)

    def _take(self, message: Message, client: Client) -> None:
        now = asyncio.get_running_loop().time()
        event = message.event
        if isinstance(event, Lost):
            self.phase, self.held_until = "away", now + event.hold_seconds
        elif isinstance(event, Retrying):
            self.retrying, self.retries_at = event, now + event.in_seconds
        elif isinstance(event, Back) or isinstance(message.push, Welcome):
            self._note_address(client)
        self._hear(message)
        if event is not None:
            self._changed()

    async def _arrive(self, connections: AsyncExitStack) -> Client:
        """Connect as whom we are; anew where the server forgot us, to a server of our own where there is none."""
        token, backoff = await self._find_token(), self.settings.backoff
        is_new, way_here = token is None, None
        if self._talk is not None:  # whoever sits before a screen decides themselves how long to wait
            backoff = replace(backoff, absent_seconds=math.inf)
        while True:
            name = self.name or (self.players.find_name() if self.is_own else None)
            try:
                coming = self._connect(name=name, token=token, reconnect=backoff)
                client = await connections.enter_async_context(coming)
            except Refused as refused:
                if refused.code != "bad_token" or token is None:
                    raise
                server = refused.server or self.address.url  # the others of the house may still know us
                await self.write(self.players.forget, server, token)
                self._tokens.pop(server, None)
                token, is_new = None, False
            except Unreachable:
                if way_here is not None:
                    self.house, token, way_here = way_here, None, None
                elif self._starts_local and self.address.is_loopback:
                    self._starts_local = False
                    self._own = await self._servers.enter_async_context(run_local_server())
                    self.house, token = House((self._own,)), None
                else:
                    raise
            else:
                known = await self._find_in_cluster(client) if is_new else None
                if known is None:
                    self._settle_in(client)
                    return client
                await connections.aclose()
                way_here, is_new = self.house, False
                self.house, token = known

    async def _find_token(self) -> str | None:
        """Return the token of whom we are to be, None for somebody new; a player is then ours."""
        here, known = self._tokens.get(self.house.given.first.url), None
        if self._room or self._resumes or here is None or self.role == "reader":
            known = await self._find_player(self.house.given.urls)
        return known.token if known is not None else here

    async def _find_player(self, urls: tuple[str, ...], cluster: str = "") -> KnownPlayer | None:
        """Return whom we are to be of those who are known at these addresses, None for somebody new."""
        is_nobody = self.role == "nobody"
        if self.role == "reader":
            return self.players.find(urls, self.name, cluster=cluster)
        if is_nobody and not (self._room or self._resumes):
            return None
        take = partial(self.players.take, only_seated=is_nobody, resumes=self._resumes, cluster=cluster)
        return await self.write(take, urls, self.name, self._room)

    async def _find_in_cluster(self, client: Client) -> tuple[House, str] | None:
        """Return which server of the cluster to which we have come knows us already, and the token there, or None.

        A token goes only where it is known to be good: that it is of some cluster, any server may say.
        """
        cluster, named = client.welcome.cluster or "", client.house.learnt
        known = await self._find_player(tuple(address.url for address in named), cluster) if cluster else None
        if known is None:
            return None
        return House((next(address for address in named if known.is_known_at((address.url,))),)), known.token

    def _settle_in(self, client: Client) -> None:
        self.client = client
        self._note_address(client)
        self._tokens.update(dict.fromkeys(self.house.given.urls, client.token))
        self._room, self._resumes = None, False
        if self.role == "player" and not self.is_own:
            self._keep()
            others = (player for player in self.players.on(self.house.given.urls) if player.token != client.token)
            if not self._is_told and any(player.name == client.name and not player.is_free for player in others):
                self._is_told, name = True, clean_text(client.name)
                self._tell(f"Another program plays as {name} now: here you are another {name}, with games of your own.")

    def _note_address(self, client: Client) -> None:
        self.phase, self.house, self._reached = "online", client.house, client.house.given.first

    async def enter(self, enter: Enter) -> Room:
        """Enter a room, and have the seat there written down."""
        assert self.client is not None
        room = await enter(self.client)
        if room.seat is not None:
            self.keep_room(room.code)
            await self._write_all()
        return room

    def keep_room(self, room: str) -> None:
        """Write down, beside everything else, that we have taken a seat in a room, so that a later run finds it."""
        self.rooms.add(room)
        self._keep(room)

    def forget_room(self, room: str) -> None:
        """Strike out, beside everything else, the seat in a room that was left."""
        if self.client is not None and room in self.rooms:
            self.rooms.discard(room)
            self._begin(self.write(self.players.forget_room, self.house.given.urls, self.client.token, room))

    async def end_by(self, end: BaseException) -> None:
        """Give our seats up where this end is somebody's decision and the server can be told; else hold them."""
        if not is_decision(end) or self.client is None or not await self.client.leave_rooms():
            self.hold()

    def hold(self) -> None:
        """Let our seats stay written down when this run ends, so that the next one goes on there."""
        self.rooms.clear()

    async def finish(self) -> None:
        """Wait until everything is written, or cannot be, and let the next run be whom we were."""
        await self._write_all()
        await self.write(self.players.release)

    def _keep(self, *rooms: str) -> None:
        """Write down whom we play as, and where; nobody comes back to a server of this run."""
        client = self.client
        if client is not None and not self.is_own:
            others = tuple(address.url for address in self.house.learnt)
            row = KnownPlayer("", client.name, client.token, rooms=rooms, others=others)
            rows = [replace(row, server=url, cluster=client.welcome.cluster or "") for url in self.house.given.urls]
            self._begin(self.write(self.players.keep, *rows))

    async def write(self, change: Callable[Given, Written], *arguments: Given.args, **options: Given.kwargs) -> Written:
        """Change the file in a thread, one change at a time; where another program holds it, say so once."""
        async with self._writing:
            was_kept = self.players.problem is None
            done = await asyncio.to_thread(change, *arguments, **options)
            if was_kept and self.players.problem is not None:
                self._tell(f"Who you are here is not written down yet: {self.players.problem}.")
        return done

    async def _write_all(self) -> None:
        while self._writings:
            await asyncio.wait(self._writings)

    def _begin(self, writing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(writing)
        self._writings.add(task)
        task.add_done_callback(self._writings.discard)

    @asynccontextmanager
    async def connect_as(self, player: KnownPlayer) -> AsyncIterator[Client]:
        """Connect as one of our players to look something up; the connection that there is serves for its own."""
        if self.client is not None and player.token == self.client.token:
            yield self.client
        else:
            async with self._connect(token=player.token) as owner:
                yield owner

    def _connect(self, **options: Any) -> AbstractAsyncContextManager[Client]:
        timeout_seconds, ca = self.settings.timeout_seconds, self.settings.ca
        return connect(self.house, timeout_seconds=timeout_seconds, ca=ca, keep_seats=True, **options)


def settle_latency(shown_ms: int | None, seconds: float) -> int:
    """Return a latency to show in whole milliseconds, at least 1, which stands still while the connection does."""
    measured = max(1, round(seconds * 1000))
    return measured if shown_ms is None or abs(measured - shown_ms) >= max(2, shown_ms / 4) else shown_ms
