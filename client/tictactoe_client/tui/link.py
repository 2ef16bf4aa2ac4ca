"""The connection as the pages see it: being made, there, lost for a while, or not to be had; and the way to try again.

It runs beside the pages, hands them every message, and never raises: whatever goes wrong becomes a state of the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Literal

from tictactoe_client.address import Address
from tictactoe_client.client import Client, connect
from tictactoe_client.errors import ClientError, ConnectionLost, Refused, Unreachable
from tictactoe_client.events import Back, Lost, Retrying
from tictactoe_client.local_server import run_local_server
from tictactoe_client.messages import Message
from tictactoe_client.players import KnownPlayer, KnownPlayers
from tictactoe_client.seats import SavedSeat, Seats
from tictactoe_client.settings import Settings

Phase = Literal["connecting", "online", "away", "failed"]


class Link:
    """One server for one person; `client` is None until the first connection."""

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
        self.address = address
        self.phase: Phase = "connecting"
        self.client: Client | None = None
        self.failure: ClientError | None = None
        self.retrying: Retrying | None = None
        self.retries_at = 0.0
        self.held_until = 0.0
        self.name = settings.name
        self.seats = Seats()
        self._token = token
        self._hear = hear
        self._connected = connected
        self._changed = changed
        self._failed = failed
        self._wanted = asyncio.Event()
        self._starts_local = settings.local
        self._restarts = False
        self._is_own_server = False
        self._players = KnownPlayers()
        self._watches = watches

    @property
    def latency_ms(self) -> int | None:
        """How long the server took to answer our hello, or None."""
        return max(1, round(self.client.latency_seconds * 1000)) if self.client else None

    async def run(self) -> None:
        """Keep a conversation going until cancelled."""
        async with AsyncExitStack() as servers:
            while True:
                self.phase, self.failure = "connecting", None
                self._changed()
                try:
                    await self._converse()
                except ClientError as failure:
                    if await self._mends(failure, servers):
                        continue
                    self.failure, self.phase = failure, "failed"
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

    def rename(self, name: str) -> None:
        """Say hello again under another name, as the same player."""
        self.name = name
        if self.client is not None:
            self._token = self.client.token
        self._restarts = True
        self._wanted.set()

    def keep_seat(self, room: str, seat: str) -> None:
        """Write down the seat that we took, for a later run."""
        if self.client is not None:
            client = self.client
            self.seats.keep(SavedSeat(self.address.url, room, seat, client.name, client.token))

    def forget_seat(self, room: str) -> None:
        """Strike out a seat that we gave up."""
        if self.client is not None:
            self.seats.forget(self.address.url, self.client.token, room)

    async def _converse(self) -> None:
        settings = self.settings
        if (
            self._token is None
            and not self._watches
            and (known := self._players.take(self.address.url, self.name)) is not None
        ):
            self._token = known.token
        async with connect(
            self.address,
            name=self.name,
            token=self._token,
            timeout_seconds=settings.timeout_seconds,
            reconnect=settings.backoff,
        ) as client:
            self.client, self.phase, self._restarts = client, "online", False
            self._token = client.token
            if not self._is_own_server and not self._watches:
                self._players.keep(KnownPlayer(self.address.url, client.name, client.token))
            messages = client.messages()
            self._connected()
            self._changed()
            wanted = asyncio.create_task(self._wanted.wait())
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

    def _take(self, message: Message) -> None:
        now = asyncio.get_running_loop().time()
        event = message.event
        if isinstance(event, Lost):
            self.phase, self.held_until = "away", now + event.hold_seconds
        elif isinstance(event, Retrying):
            self.retrying, self.retries_at = event, now + event.in_seconds
        elif isinstance(event, Back):
            self.phase, self.retrying = "online", None
        self._hear(message)

    async def _mends(self, failure: ClientError, servers: AsyncExitStack) -> bool:
        """Tell whether another attempt at once makes sense: as a new player, or with a server of our own."""
        if isinstance(failure, Refused) and failure.code == "bad_token" and self._token is not None:
            self.seats.forget(self.address.url, self._token)
            self._players.forget(self.address.url, self._token)
            self._token = None
            return True
        if isinstance(failure, ConnectionLost) and failure.gave_up:
            return False
        if isinstance(failure, Unreachable) and self._starts_local and self.address.is_loopback:
            self._starts_local = False
            try:
                self.address = await servers.enter_async_context(run_local_server())
                self._is_own_server = True
                self._token = None
            except Unreachable:
                return False
            return True
        return False
