"""The connection of a run: connects as the right player, and moves between servers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, TypeVar

from tictactoe_client.files.players import Identity, Role
from tictactoe_client.nearby import run_local_server
from tictactoe_client.online.address import Address, Cluster, parse_cluster
from tictactoe_client.online.client import Client, connect
from tictactoe_client.online.errors import BadAddress, ClientError, Refused, Unreachable
from tictactoe_client.online.events import Lost, Retrying
from tictactoe_client.online.messages import Message
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.settings import Settings
from tictactoe_client.streams.keyboard import is_decision
from tictactoe_protocol.pushes import Welcome

Phase = Literal["connecting", "online", "away", "failed"]
Entered = TypeVar("Entered", bound=Room | Tournament)


def cluster_for(settings: Settings, address: Address | None) -> Cluster:
    """Return the cluster of the settings, rotated to start at `address`; raises `BadAddress`.

    An address outside that cluster becomes a cluster of its own.
    """
    if address is None:
        return parse_cluster(settings.server)
    try:
        return parse_cluster(settings.server).starting_at(address)
    except BadAddress:
        return Cluster((address,))


def _ignore(*_: Any) -> None: ...


class Session:
    """A connection as the player of `identity`. A command uses `open`; the full screen uses `run`.

    Attributes:
        phase: "away" while we reconnect, "failed" until `retry` is called.
        cluster: The addresses, the current or wanted server first.
        client: The client, or None before the first connection.
        failure: Why the connection failed, or None.
        is_bot: Whether to be shown as a program.
        before: The server that we came from, or None.
        retrying: The latest attempt to reconnect, or None.
        retries_at, held_until: When the next attempt follows, and until when our seats are held, by the loop's clock.
    """

    def __init__(
        self,
        settings: Settings,
        cluster: Cluster,
        identity: Identity,
        *,
        hear: Callable[[Message], object] = _ignore,
        connected: Callable[[], object] = _ignore,
        changed: Callable[[], object] = _ignore,
        failed: Callable[[ClientError], object] = _ignore,
    ) -> None:
        """Prepare a connection.

        Args:
            hear: Called with every message.
            connected: Called after each hello.
            changed: Called when there is something new to show.
            failed: Called with the error when the connection has failed; `retry` starts again.
        """
        self.settings = settings
        self.is_bot = False
        self.cluster = cluster
        self.identity = identity
        self.phase: Phase = "connecting"
        self.client: Client | None = None
        self.failure: ClientError | None = None
        self.retrying: Retrying | None = None
        self.retries_at = self.held_until = 0.0
        self.before: Address | None = None
        self._hear, self._connected, self._changed, self._failed = hear, connected, changed, failed
        self._latency_ms: int | None = None
        self._starts_local = settings.local
        self._own_server: Address | None = None
        self._own_servers = AsyncExitStack()
        self._reached: Address | None = None
        self._is_wanted, self._is_settled = asyncio.Event(), asyncio.Event()
        self._conversing: asyncio.Task[None] | None = None

    @property
    def address(self) -> Address:
        return self.cluster.first

    @property
    def connection(self) -> Client:
        assert self.client is not None
        return self.client

    @property
    def latency_ms(self) -> int | None:
        """The latency to show, or None before the first connection; small changes are ignored."""
        if self.client is not None:
            self._latency_ms = settle_latency(self._latency_ms, self.client.latency_seconds)
        return self._latency_ms

    @property
    def is_own(self) -> bool:
        """Whether the current server is the one that this process started."""
        return self.address == self._own_server

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Client]:
        """Connect; at the end, remove our seats from the file unless the connection was lost. Raises like `connect`."""
        async with self._own_servers, AsyncExitStack() as connections:
            client = await self._arrive(connections)
            await self.identity.finish()
            try:
                yield client
            finally:
                for room in () if client.was_cut_off else tuple(self.identity.rooms):
                    self.forget_room(room)
                await self.identity.release()

    async def run(self) -> None:
        """Stay connected until cancelled; after a failure, wait for `retry`."""
        running = asyncio.current_task()
        async with self._own_servers:
            while True:
                self._is_wanted.clear()
                self.phase, self.failure = "connecting", None
                self._changed()
                self._conversing = asyncio.create_task(self._converse())
                try:
                    await self._conversing
                except asyncio.CancelledError:
                    if running is None or running.cancelling():
                        raise
                except ClientError as failure:
                    self.failure, self.phase = failure, "failed"
                    self._is_settled.set()
                    self._failed(failure)
                    self._changed()
                    await self._is_wanted.wait()

    def retry(self) -> None:
        if self.phase == "away" and self.client is not None:
            self.client.retry_now()
        elif self.phase == "failed":
            self._is_wanted.set()

    def start_local(self) -> None:
        self._starts_local = True
        self.retry()

    def move(self, address: Address, role: Role = "player", *, room: str | None = None) -> None:
        """Move to another server, as our earlier player there; a player with a seat in `room` is preferred."""
        self.before = self._reached if self._reached != address else None
        self.cluster = cluster_for(self.settings, address)
        self.identity.role, self.identity.seat_in, self.identity.resumes = role, room, False
        self.client, self._latency_ms = None, None
        self._starts_local, self.failure = False, None
        self._begin_again()

    def rename(self, name: str) -> None:
        self.identity.name = name
        self._begin_again()

    def become(self, **codes: str) -> None:
        """Say hello again as the player of a `link` or `rescue` code; without a code, as a new player."""
        self.identity.codes = codes
        self._begin_again()

    async def greet_again(self) -> None:
        """Replace the connection, so that the server holds our seats as after a loss; return once we are connected."""
        self._is_settled.clear()
        self._begin_again()
        await self._is_settled.wait()

    def _begin_again(self) -> None:
        self.phase = "connecting"
        self._is_wanted.set()
        if self._conversing is not None:
            self._conversing.cancel()

    async def _converse(self) -> None:
        async with AsyncExitStack() as connections:
            client = await self._arrive(connections)
            messages = client.messages()
            self._is_settled.set()
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
        elif isinstance(message.push, Welcome):
            self._note_address(client)
        self._hear(message)
        if event is not None:
            self._changed()

    async def _arrive(self, connections: AsyncExitStack) -> Client:
        """Connect as our stored player, or as a new player if the server refuses the token.

        If a new player's server belongs to a cluster where another server knows us, connect to that server instead. If
        no local server answers, start one if the settings ask for it.
        """
        identity, backoff = self.identity, self.settings.backoff
        codes, identity.codes = identity.codes, {}
        token = None if codes else await identity.find_token(self.cluster)
        is_new, way_here = token is None and not codes, None
        if self._conversing is not None:  # in the full screen, the person decides how long to wait
            backoff = replace(backoff, absent_seconds=math.inf)
        while True:
            name = identity.new_name or identity.name or (identity.players.find_name() if self.is_own else None)
            try:
                coming = self._connect(name=name, token=token, reconnect=backoff, **codes)
                client = await connections.enter_async_context(coming)
            except Refused as refused:
                if refused.code != "bad_token" or token is None:
                    raise
                token = await identity.refuse_token(refused.server or self.address.url, token, self.cluster)
                is_new = False
            except Unreachable:
                if way_here is not None:
                    self.cluster, token, way_here = way_here, None, None
                elif self._starts_local and self.address.is_loopback:
                    self._starts_local = False
                    self._own_server = await self._own_servers.enter_async_context(run_local_server())
                    self.cluster, token = Cluster((self._own_server,)), None
                else:
                    raise
            else:
                known = await identity.find_in_cluster(client) if is_new else None
                if known is None:
                    self.client = client
                    self._note_address(client)
                    if codes:
                        await identity.write(identity.players.forget_refused, client.cluster.given.urls)
                    identity.settle_in(client, is_own=self.is_own)
                    return client
                await connections.aclose()
                way_here, is_new = self.cluster, False
                self.cluster, token = known

    def _note_address(self, client: Client) -> None:
        self.phase, self.cluster, self._reached = "online", client.cluster, client.cluster.given.first

    def _connect(self, **options: Any) -> AbstractAsyncContextManager[Client]:
        timeout_seconds, ca = self.settings.timeout_seconds, self.settings.ca
        options |= {"ca": ca, "keep_seats": True, "bot": self.is_bot}
        return connect(self.cluster, timeout_seconds=timeout_seconds, **options)

    async def enter(self, coming: Awaitable[Entered]) -> Entered:
        """Wait until a room or an event is entered, and store the seat in a room for later runs."""
        room = await coming
        if isinstance(room, Room) and room.seat is not None and not room.keeps_seat:
            self.keep_room(room.code)
            await self.identity.finish()
        return room

    def keep_room(self, room: str) -> None:
        """Store our seat in a room for later runs, in the background."""
        self.identity.rooms.add(room)
        if self.client is not None and not self.is_own:
            self.identity.write_down(self.client, room)

    def forget_room(self, room: str) -> None:
        if self.client is not None:
            self.identity.forget_room(self.client, room)

    async def end_by(self, end: BaseException) -> None:
        """End the run because of `end`: give our seats up after Ctrl-C if the server answers; otherwise hold them."""
        if not is_decision(end) or self.client is None or not await self.client.rooms.leave():
            self.hold()

    def hold(self) -> None:
        """Leave our seats in the file when this run ends, so that a later run can return to them."""
        self.identity.rooms.clear()


def settle_latency(shown_ms: int | None, seconds: float) -> int:
    """Return the latency to show, in whole ms and at least 1: `shown_ms` if the change is small."""
    measured = max(1, round(seconds * 1000))
    return measured if shown_ms is None or abs(measured - shown_ms) >= max(2, shown_ms / 4) else shown_ms
