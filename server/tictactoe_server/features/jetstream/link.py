"""A connection to NATS that is restored automatically, and requests over it.

All replies arrive in one inbox, and the number at the end of the subject identifies the request, so that no request
needs its own subscription, task or timer. Without a connection, requests fail at once; they are not sent later.

The NATS library's own reconnection gives up on a node after some errors, and waits until a silent connection has been
closed. Therefore, every new connection uses a new client of the library.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Self, TypeAlias

import nkeys
import structlog
from nats import errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from tictactoe_server import clock
from tictactoe_server.features.jetstream.access import Access
from tictactoe_server.scheduler import Tasks, wait_for
from tictactoe_server.storage.store import CannotOpenStore, NotStored, Pending, StoreUnavailable

PATIENCE_SECONDS: Final = 1.3  # until a request fails; a read and a write together take less time than a player waits
OPENING_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.1  # the least time between the starts of two attempts to connect
_CONNECT_SECONDS: Final = 1  # to connect; doubled after each silent node, until a node answers within this time
_MOST_DOUBLINGS: Final = 2  # how often this time is doubled at most
_LOOK_SECONDS: Final = 0.5  # between two checks whether the connection is lost
_LATE_SECONDS: Final = 0.3  # the longest extra time for replies that arrived while this process was busy
_LOST: Final = "The connection to the store was lost."
_ECHO: Final = "echo"  # the end of the subject that a link sends messages to itself on

log: Final = structlog.get_logger(__name__)

Message: TypeAlias = Msg
Headers: TypeAlias = dict[str, str] | None
Answered = Callable[[Message | StoreUnavailable], None]
_Question = tuple[float, Answered, list[Message] | None]
"""When a request was sent (s, as `clock.monotonic`), its callback, and the list for all replies before the last one."""


class Link:
    """A connection to NATS that is restored automatically, together with its subscriptions.

    Attributes:
        on_connected: Called whenever the connection is restored.
        holds_writes: While any of these functions returns True, streams refuse writes.
        away_since: When the connection was lost (s, as `clock.monotonic`), or None.
        urls: The URLs of the store without credentials, for messages and logs.
        run: Starts a task that is cancelled when the link is closed.
    """

    def __init__(self, access: Access, patience_seconds: float) -> None:
        self.on_connected: list[Callable[[], object]] = []
        self.holds_writes: list[Callable[[], bool]] = []
        self.away_since: float | None = clock.monotonic()
        self._access, self.urls = access, access.urls
        self._patience_seconds = patience_seconds
        self._client: Client | None = None
        self._opened, self._lost = asyncio.Event(), asyncio.Event()
        self._outgoing = asyncio.Queue[tuple[Client, str, bytes, str, Headers]]()
        self._inbox = f"_INBOX.{secrets.token_hex(11)}."
        self._subscriptions: list[tuple[str, Callable[[Message], object]]] = [(f"{self._inbox}*", self._on_reply)]
        self._numbers = itertools.count(1)
        self._asked: dict[str, _Question] = {}
        self._reasons = {True: (-1.0, ""), False: (-1.0, "")}
        self._silent_nodes = 0  # the number of silent nodes in a row
        self._tasks, self._endings = Tasks(), Tasks()
        self.run = self._tasks.start
        self._is_testing = self._is_closed = False

    @classmethod
    async def open(
        cls,
        urls: str,
        *,
        credentials: Path | None = None,
        ca: Path | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        opening_seconds: float = OPENING_SECONDS,
    ) -> Self:
        """Connect to one of the nodes in `urls`, as in ``nats://a,b:4223,c`` or ``tls://...`` (see `Access`).

        May raise `CannotOpenStore`.
        """
        link = cls(Access(urls, credentials, ca), patience_seconds)
        for work in (link._keep_connected(), link._keep_sending(), link._keep_looking()):
            link.run(work)
        try:
            async with asyncio.timeout(opening_seconds):
                await link._opened.wait()
        except BaseException as error:
            await link.close()
            if not isinstance(error, TimeoutError):
                raise
            reason = link._reason_since(0) or "nobody answers"
            raise CannotOpenStore(f"Cannot reach the store {link.urls}: {reason}.") from error
        return link

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, so that a request can be sent."""
        if self._client is not None and not self._client.is_connected:
            self._drop(self._client)  # the library may take long to report the end of the connection
        return self._client is not None

    def ask(
        self, subject: str, payload: bytes, headers: Headers, answered: Answered, earlier: list[Message] | None = None
    ) -> None:
        """Send a request, and call `answered` with the reply or an error. Without a connection, it is called at once.

        For a request with several replies, the last reply has a status; those before it are appended to `earlier`.
        """
        number = str(next(self._numbers))
        if self.publish(subject, payload, headers, self._inbox + number):
            self._asked[number] = clock.monotonic(), answered, earlier
        else:
            answered(NotStored("There is no connection to the store."))

    async def request(self, subject: str, payload: bytes = b"", headers: Headers = None) -> bytes:
        """Send a request and return the reply; may raise `StoreUnavailable`."""
        return (await self._request(subject, payload, headers, None)).data

    async def request_many(self, subject: str, payload: bytes) -> list[Message]:
        """Send a request; return all replies except the last, which has a status. May raise `StoreUnavailable`."""
        found: list[Message] = []
        status = _status_of(await self._request(subject, payload, None, found))
        if status[:3] not in ("204", "404"):
            raise StoreUnavailable(f"The store refused the request: {status}.")
        return found

    def publish(self, subject: str, payload: bytes = b"", headers: Headers = None, reply: str = "") -> bool:
        """Send a message; return False if there is no connection."""
        if not self.is_connected or self._client is None:
            return False
        self._outgoing.put_nowait((self._client, subject, payload, reply, headers))
        return True

    async def subscribe(self, subject: str, callback: Callable[[Message], object]) -> None:
        """Call `callback` with each message to a subject, in order, until the link is closed."""
        self._subscriptions.append((subject, callback))
        if self._client is not None:
            with contextlib.suppress(errors.Error):  # the next connection has all subscriptions
                await _subscribe(self._client, subject, callback)

    async def flush(self) -> None:
        """Wait until the node has received everything sent so far; may raise `StoreUnavailable`."""
        await self.request(self._inbox + _ECHO)

    async def close(self) -> None:
        """Send what is queued and close the connection; pending requests fail."""
        self._is_closed = True
        while not self._outgoing.empty():
            await self._send(*self._outgoing.get_nowait())
        self._client = None
        await self._tasks.stop()
        if self._endings:
            await asyncio.wait(self._endings, timeout=self._patience_seconds)
            await self._endings.stop()
        self._fail(list(self._asked), _LOST)

    async def _keep_connected(self) -> None:
        while not self._is_closed:
            begun, client = clock.monotonic(), Client()
            try:
                await self._connect(client, self._access.servers[0])
                self._take(client)
                await self._wait_for_loss(client)
                self._drop(client)
            except (errors.Error, OSError, CannotOpenStore) as error:
                self._silent_nodes += clock.monotonic() - begun >= _CONNECT_SECONDS
                await self._note(error)
            except (nkeys.NkeysError, TypeError, ValueError) as error:  # the file with the credentials has changed
                await self._note(errors.Error(f"the credentials cannot be used: {error}"))
            except Exception:
                log.exception("connecting to the store failed")
            finally:
                self._endings.start(_end(client))
            self._access.servers.rotate(-1)
            await asyncio.sleep(begun + _PAUSE_SECONDS - clock.monotonic())

    @property
    def _stretch(self) -> int:
        """The factor that multiplies the time for the next node to answer."""
        return 1 << min(self._silent_nodes, _MOST_DOUBLINGS)

    async def _connect(self, client: Client, server: str) -> None:
        attempt = asyncio.current_task()

        async def failed(error: Exception) -> None:
            await self._note(error)
            if asyncio.current_task() is attempt and not client.is_connected and not client.is_closed:
                raise error  # the library would retry the same node forever

        async def closed() -> None:
            self._drop(client)

        await client.connect(
            [server],
            name="tictactoe-server",
            error_cb=failed,
            closed_cb=closed,
            allow_reconnect=False,
            pending_size=0,
            ping_interval=5,
            max_outstanding_pings=2,
            connect_timeout=_CONNECT_SECONDS * self._stretch,
            **self._access.options_for(server),
        )
        for subscription in self._subscriptions:  # including those added meanwhile
            await _subscribe(client, *subscription)
        if not client.is_connected:  # the library does not report a loss before this point
            raise errors.UnexpectedEOF

    def _take(self, client: Client) -> None:
        self._access.add_found(client.discovered_servers)
        if self._opened.is_set():
            log.info("store reconnected", server=self._access.servers[0])
        self._client, self.away_since = client, None
        self._lost.clear()
        self._opened.set()
        for callback in list(self.on_connected):
            callback()

    async def _wait_for_loss(self, client: Client) -> None:
        """Wait until a connection or this link is closed.

        The library does not report every loss, and before Python 3.12 it can lose a cancellation.
        """
        while not (client.is_closed or self._is_closed or await wait_for(self._lost, _LOOK_SECONDS)):
            pass

    def _drop(self, client: Client) -> None:
        if client is self._client:
            self._client, self.away_since = None, clock.monotonic()
            log.warning("store disconnected; reconnecting", server=self._access.servers[0])
            self._fail(list(self._asked), _LOST)
            self._lost.set()

    async def _keep_sending(self) -> None:
        while True:
            await self._send(*await self._outgoing.get())

    async def _send(self, client: Client, subject: str, payload: bytes, reply: str, headers: Headers) -> None:
        try:
            await client.publish(subject, payload, reply, headers)
        except errors.Error as error:
            self._answer(reply.removeprefix(self._inbox), NotStored(f"Cannot send to the store: {error}."))
        except OSError:
            self._drop(client)

    async def _note(self, error: Exception) -> None:
        """Remember an error, which may be the only sign that NATS has refused a permission."""
        is_said, reason = isinstance(error, errors.Error), (str(error) or type(error).__name__).rstrip(".")
        if self._reasons[is_said][1] != reason:
            log.debug("store error", reason=reason)
        self._reasons[is_said] = clock.monotonic(), reason

    async def _request(self, subject: str, payload: bytes, headers: Headers, earlier: list[Message] | None) -> Message:
        pending = Pending()
        self.ask(subject, payload, headers, pending.stored, earlier)
        answer: Message | StoreUnavailable = await pending.future
        if isinstance(answer, StoreUnavailable):
            raise answer
        return answer

    def _on_reply(self, message: Message) -> None:
        number, status = (message.reply or message.subject).removeprefix(self._inbox), _status_of(message)
        earlier = self._asked[number][2] if number in self._asked else None
        if earlier is not None and not status:
            earlier.append(message)
        elif status.startswith("503"):
            self._answer(number, NotStored("The store has no leader, or the stream does not exist."))
        else:
            self._answer(number, message)

    def _answer(self, number: str, answer: Message | StoreUnavailable) -> None:
        if number in self._asked:
            since, answered, _ = self._asked.pop(number)
            if self._silent_nodes and clock.monotonic() - since < _CONNECT_SECONDS:
                self._silent_nodes = 0
            answered(answer)

    def _fail(self, numbers: Iterable[str], why: str) -> None:
        for number in numbers:
            _, answered, _ = self._asked.pop(number)
            asyncio.get_running_loop().call_soon(answered, StoreUnavailable(why))

    async def _keep_looking(self) -> None:
        """Let requests fail that have been without a reply for `patience_seconds`, until cancelled."""
        while True:
            since = next(iter(self._asked.values()))[0] if self._asked else clock.monotonic()
            left = since + self._patience_seconds - clock.monotonic()
            if left > 0:
                await asyncio.sleep(left)
                late = clock.monotonic() - since - self._patience_seconds
                await asyncio.sleep(min(late, _LATE_SECONDS))
                continue
            reason = self._reason_since(since)
            self._fail([next(iter(self._asked))], "The store does not answer" + (f": {reason}." if reason else "."))
            if not self._is_testing:
                self._is_testing = True
                self.run(self._test())

    async def _test(self) -> None:
        """Drop the connection if the node itself is silent (frozen or cut off), and not just a stream's leader."""
        client = self._client
        if client is not None:
            begun, heard = clock.monotonic(), client.stats["in_msgs"]
            with contextlib.suppress(StoreUnavailable, TimeoutError):
                async with asyncio.timeout(self._patience_seconds / 2 * self._stretch):
                    await self.flush()
            is_silent = client.stats["in_msgs"] == heard and not self._reason_since(begun)
            if is_silent and client is self._client:
                log.warning("store node does not respond; trying another", server=self._access.servers[0])
                self._silent_nodes += 1
                self._drop(client)
        self._is_testing = False

    def _reason_since(self, moment: float) -> str:
        """Return the last error since `moment`, preferably an error reported by NATS, or "" if there is none."""
        return next((reason for since, reason in self._reasons.values() if since >= moment), "")


async def _end(client: Client) -> None:
    """Close a connection. With TLS and a silent node, this takes 30 s; a cancellation aborts the connection."""
    for subscription in client._subs.values():  # the library may leave their tasks running
        subscription._stop_processing()
    try:
        with contextlib.suppress(Exception):  # raised if the connection was never established
            await client.close()
    finally:
        if (writer := getattr(client._transport, "_io_writer", None)) is not None:
            writer.transport.abort()
    if client._reading_task is not None:  # retrieve its error, which asyncio would log
        await asyncio.gather(client._reading_task, return_exceptions=True)


async def _subscribe(client: Client, subject: str, callback: Callable[[Message], object]) -> None:
    async def receive(message: Message) -> None:
        try:
            callback(message)
        except Exception:
            log.exception("handling a message from the store failed")

    await client.subscribe(subject, cb=receive, pending_msgs_limit=0, pending_bytes_limit=0)


def _status_of(message: Message) -> str:
    """Return the status that a node sends without data, such as "503 No Responders", or "" for any other message."""
    headers = message.headers
    if not headers or message.data:
        return ""
    return f"{headers.get('Status', '')} {headers.get('Description', '')}".strip()
