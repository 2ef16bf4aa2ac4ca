"""The connection as the pages see it: being made, there, lost for a while, or not to be had; and the way to try again.

It runs beside the pages, hands them every message, and never raises: whatever goes wrong becomes a state of the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final, Literal

from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_client.files.seats import SavedSeat, Seats
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client, connect
from tictactoe_client.online.errors import ClientError, ConnectionLost, Refused, Unreachable
from tictactoe_client.online.events import Back, Lost, Retrying
from tictactoe_client.online.house import House
from tictactoe_client.online.local_server import run_local_server
from tictactoe_client.online.messages import Message
from tictactoe_client.session import house_for
from tictactoe_client.settings import Settings
from tictactoe_client.tui.latency import Latency

LATENCY_SECONDS: Final = 1.0
"""How often to look at what the pings of the connection measured."""

Phase = Literal["connecting", "online", "away", "failed"]


class Link:
    """One house at a time for one person; `client` is None until the first connection to it.

    `house` begins with the server that we are at, or want to be at first.
    `before` is the server that we came from, or None where there is none to go back to.
    """

    def __init__(
        self,
        settings: Settings,
        address: Address,
        *,
        hear: Callable[[Message], None],
        connected: Callable[[], None],
        changed: Callable[[], None],
        failed: Callable[[ClientError], None],
        token: str | None = None,
        watches: bool = False,
    ) -> None:
        """Prepare it; with a `token` we are that player again, else whom an earlier run played as and nobody plays now.

        One who only `watches` is the player of the token or nobody in particular, and stays out of a player's way.
        """
        self.settings = settings
        self.house = house_for(settings, address)
        self.phase: Phase = "connecting"
        self.client: Client | None = None
        self.latency: Latency | None = None
        self.failure: ClientError | None = None
        self.retrying: Retrying | None = None
        self.retries_at = 0.0
        self.held_until = 0.0
        self.name = settings.name
        self.before: Address | None = None
        self.seats = Seats()
        self._token = token
        self._hear = hear
        self._connected = connected
        self._changed = changed
        self._failed = failed
        self._wanted = asyncio.Event()
        self._greeted = asyncio.Event()
        self._starts_local = settings.local
        self._restarts = False
        self._own: Address | None = None
        self._reached: Address | None = None
        self._tokens: dict[str, str] = {}
        self._moves = False
        self._conversing: asyncio.Task[None] | None = None
        self._players = KnownPlayers()
        self._watches = watches

    @property
    def address(self) -> Address:
        """The server that we are at, or want to be at first."""
        return self.house.first

    @property
    def is_own(self) -> bool:
        """Whether the server is one that was started for this run, where nobody else comes."""
        return self.address == self._own

    @property
    def latency_ms(self) -> int | None:
        """How long the server takes to answer now, or None before the first connection."""
        return self.latency.milliseconds if self.latency else None

    async def run(self) -> None:
        """Keep a conversation going until cancelled."""
        async with AsyncExitStack() as servers:
            while True:
                self.phase, self.failure = "connecting", None
                self._changed()
                self._moves = False
                self._conversing = asyncio.create_task(self._converse())
                try:
                    await self._conversing
                except asyncio.CancelledError:
                    if not self._moves:
                        raise
                except ClientError as failure:
                    if await self._mends(failure, servers):
                        continue
                    self.failure, self.phase = failure, "failed"
                    self._greeted.set()
                    self._failed(failure)
                    self._changed()
                    await self._wanted.wait()
                self._wanted.clear()

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

    def move(self, address: Address, *, token: str | None = None, watches: bool = False) -> None:
        """Say goodbye to this server and go to another, as the player of the token or as whom we were there before."""
        self.before = self._reached if self._reached != address else None
        self._token = token or self._tokens.get(address.url)
        self.house = house_for(self.settings, address)
        self._watches, self._starts_local = watches, False
        is_connecting = self.phase == "connecting"
        self.client, self.latency, self.retrying = None, None, None
        self.phase, self.failure, self._moves = "connecting", None, True
        if is_connecting and self._conversing is not None:
            self._conversing.cancel()
        else:
            self._restarts = True
            self._wanted.set()
        self._changed()

    def move_back(self) -> None:
        """Go back to the server that we came from."""
        if self.before is not None:
            self.move(self.before)

    def rename(self, name: str) -> None:
        """Say hello again under another name, as the same player."""
        self.name = name
        self._restart()

    async def reconnect(self) -> None:
        """Say goodbye and hello again as the same player, so that the server takes us for away from all our rooms.

        Returns when that is done, or cannot be done now.
        """
        self._greeted.clear()
        self._restart()
        await self._greeted.wait()

    def keep_seat(self, room: str, seat: str) -> None:
        """Write down the seat that we took, for a later run."""
        if self.client is not None:
            client = self.client
            self.seats.keep(*(SavedSeat(url, room, seat, client.name, client.token) for url in self.house.urls))

    def forget_seat(self, room: str) -> None:
        """Strike out a seat that we gave up."""
        if self.client is not None:
            self.seats.forget(self.house.urls, self.client.token, room)

    def _restart(self) -> None:
        if self.client is not None:
            self._token = self.client.token
        self._restarts = True
        self._wanted.set()

    async def _converse(self) -> None:
        settings = self.settings
        if (
            self._token is None
            and not self._watches
            and (known := self._players.take(self.house.urls, self.name)) is not None
        ):
            self._token = known.token
        async with connect(
            self.house,
            name=self.name or (self._players.find_name() if self.is_own else None),
            token=self._token,
            timeout_seconds=settings.timeout_seconds,
            reconnect=settings.backoff,
            ca=settings.ca,
        ) as client:
            self.client, self.phase, self._restarts = client, "online", False
            self._greeted.set()
            self.latency = Latency(client.latency_seconds)
            self._token = client.token
            self._tokens.update(dict.fromkeys(self.house.urls, client.token))
            self.house, self._reached = client.house, client.address
            if not self.is_own and not self._watches:
                self._players.keep(*(KnownPlayer(url, client.name, client.token) for url in self.house.urls))
            messages = client.messages()
            self._connected()
            self._changed()
            wanted = asyncio.create_task(self._wanted.wait())
            following_latency = asyncio.create_task(self._follow_latency(client))
            try:
                while True:
                    following = asyncio.ensure_future(anext(messages))
                    await asyncio.wait({following, wanted}, return_when=asyncio.FIRST_COMPLETED)
                    if self._restarts:
                        following.cancel()
                        return
                    self._take(await following)
            finally:
                wanted.cancel()
                following_latency.cancel()

    async def _follow_latency(self, client: Client) -> None:
        """Show how long the server takes whenever that has changed; what is asked is our own side, not the server."""
        while True:
            await asyncio.sleep(LATENCY_SECONDS)
            if self.phase == "online" and self.latency is not None and self.latency.take(client.latency_seconds):
                self._changed()

    def _take(self, message: Message) -> None:
        now = asyncio.get_running_loop().time()
        event = message.event
        if isinstance(event, Lost):
            self.phase, self.held_until = "away", now + event.hold_seconds
        elif isinstance(event, Retrying):
            self.retrying, self.retries_at = event, now + event.in_seconds
        elif isinstance(event, Back):
            self.phase, self.retrying, self.latency = "online", None, Latency(event.latency_seconds)
            if self.client is not None:
                self.house, self._reached = self.client.house, self.client.address
        self._hear(message)

    async def _mends(self, failure: ClientError, servers: AsyncExitStack) -> bool:
        """Tell whether another attempt at once makes sense: as a new player, or with a server of our own."""
        if isinstance(failure, Refused) and failure.code == "bad_token" and self._token is not None:
            server = failure.server or self.address.url  # the others of the house may still know us
            self.seats.forget(server, self._token)
            self._players.forget(server, self._token)
            self._token = None
            return True
        if isinstance(failure, ConnectionLost) and failure.gave_up:
            return False
        if isinstance(failure, Unreachable) and self._starts_local and self.address.is_loopback:
            self._starts_local = False
            try:
                self._own = await servers.enter_async_context(run_local_server())
                self.house, self._token = House((self._own,)), None
            except Unreachable:
                return False
            return True
        return False
