"""One connection to NATS, and who waits for an answer over it.

Answers come to one inbox, by a number at the end of its subject: asking costs neither a subscription, a task nor a
timer of its own. What is sent while there is no connection is not sent later: whoever asked is told at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Final, Self, cast
from urllib.parse import urlsplit

import msgspec
import nkeys
import structlog
from nats import errors
from nats.aio.client import Client
from nats.protocol.parser import PERMISSIONS_ERR

from tictactoe_server.storage.store import CannotOpenStore, NotStored, StoreUnavailable

PATIENCE_SECONDS: Final = 1.3
"""How long an answer may take: twice that, for reading and writing, is less than players wait to hear of it."""

OPENING_SECONDS: Final = 10.0

log: Final = structlog.get_logger(__name__)


class Message(msgspec.Struct, frozen=True, gc=False):
    """What came on a subject; `lines` are its headers as they came, empty where it has none."""

    subject: str
    reply: str
    data: bytes
    lines: bytes

    @property
    def status(self) -> str:
        """What the server says in place of an answer, as in "503 No Responders"; empty for what somebody sent."""
        return self.lines.partition(b"\r\n")[0].partition(b" ")[2].decode(errors="replace").strip()


Answered = Callable[[Message | StoreUnavailable], None]
"""Who is told what was answered, on the event loop."""


class Link:
    """A connection that comes back by itself, with its subscriptions. Belongs to one event loop.

    `on_connected` are called each time it is back. `away_since` is since when there is none (s, as `time.monotonic`).
    """

    def __init__(self, patience_seconds: float) -> None:
        self.on_connected: list[Callable[[], None]] = []
        self.away_since: float | None = time.monotonic()
        self._patience_seconds = patience_seconds
        self._client = _Client()
        self._inbox = self._client.new_inbox() + "."
        self._numbers = itertools.count(1)
        self._asked: dict[str, tuple[float, Answered, list[Message] | None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._reasons = {True: (-1.0, ""), False: (-1.0, "")}
        self._server = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_testing = False

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
        """Return a link to one of the servers of ``nats://a,b:4223,c`` or ``tls://...``; raises `CannotOpenStore`.

        `credentials` is a file with a user's JWT and seed, or with the seed of an nkey, `ca` one with the certificates
        to trust instead of the system's.
        """
        servers = parse_urls(urls)
        access = {**_credentials_in(credentials), "tls": _tls_context(servers, ca)}
        link = cls(patience_seconds)
        async with on_failure(link.close):
            try:
                async with asyncio.timeout(opening_seconds):
                    await link._connect(servers, access)
            except TimeoutError as error:
                reason = link._reason_since(0) or "nobody answers"
                raise CannotOpenStore(f"Cannot reach the store {hidden(urls)}: {reason}.") from error
        return link

    @property
    def is_connected(self) -> bool:
        """Whether what is asked now is sent."""
        return self._client.is_connected

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside, until the link is closed."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def ask(
        self,
        subject: str,
        payload: bytes,
        headers: dict[str, str] | None,
        answered: Answered,
        earlier: list[Message] | None = None,
    ) -> None:
        """Send a message, and tell `answered` the answer: within the call itself where nothing could be sent.

        With a list `earlier` many answers are taken: they go there, but for the last one, which has a status.
        """
        number = str(next(self._numbers))
        error = self.publish(subject, payload, headers, self._inbox + number)
        if error is not None:
            answered(error)
            return
        self._asked[number] = (time.monotonic(), answered, earlier)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._patience_seconds, self._look)

    async def request(self, subject: str, payload: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        """Send a message and return the answer; raises `StoreUnavailable`."""
        return (await self._request(subject, payload, headers, None)).data

    async def request_many(self, subject: str, payload: bytes) -> list[Message]:
        """Send a message and return all answers before the one with a status, in order; raises `StoreUnavailable`."""
        found: list[Message] = []
        last = await self._request(subject, payload, None, found)
        if last.status[:3] not in ("204", "404"):
            raise StoreUnavailable(f"The store refuses: {last.status}.")
        return found

    def publish(
        self, subject: str, payload: bytes = b"", headers: dict[str, str] | None = None, reply: str = ""
    ) -> NotStored | None:
        """Send a message; return why it was not sent, or None.

        The library's `publish` never waits where it keeps nothing for later.
        """
        publishing = self._client.publish(subject, payload, reply, headers)
        try:
            publishing.send(None)
        except StopIteration:
            return None
        except errors.OutboundBufferLimitError:
            return NotStored("There is no connection to the store.")
        except errors.Error as error:
            return NotStored(f"Nothing could be sent to the store: {error}.")
        publishing.close()  # it waits for the flush alone, which others have asked for
        return None

    async def subscribe(self, subject: str, callback: Callable[[Message], None]) -> None:
        """Let each message to a subject come to `callback`, in order, until the link is closed."""
        self._client.callbacks[self._client._sid + 1] = callback  # the number that the subscription gets now
        await self._client.subscribe(subject)

    async def flush(self) -> None:
        """Return when the server has heard all that was sent; raises `StoreUnavailable`."""
        try:
            await self._client.flush(self._patience_seconds)
        except errors.Error as error:
            raise StoreUnavailable(f"The server does not answer: {error}") from error

    async def close(self) -> None:
        """Send what waits, and end; whoever still waits for an answer is told that none came."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()
        self._lose()
        if self._timer is not None:
            self._timer.cancel()

    # -- the connection -----------------------------------------------------------------------------------------

    async def _connect(self, servers: list[str], access: dict[str, Any]) -> None:
        try:
            await self._client.connect(
                servers,
                name="tictactoe-server",
                error_cb=self._note,
                disconnected_cb=self._disconnected,
                reconnected_cb=self._connected,
                pending_size=0,
                ping_interval=5,
                max_outstanding_pings=2,
                max_reconnect_attempts=-1,
                connect_timeout=1,
                reconnect_time_wait=0.1,  # type: ignore[arg-type]  # any number of seconds will do
                **access,
            )
            await self.subscribe(self._inbox + "*", self._hear)
            await self._client.flush(self._patience_seconds)
        except (errors.Error, nkeys.NkeysError, OSError, ValueError) as error:
            raise CannotOpenStore(f"Cannot use the store: {error}.") from error
        await self._connected()

    async def _connected(self) -> None:
        url, is_again = self._client.connected_url, bool(self._server)
        self._server = f"{url.hostname}:{url.port}" if url else "unknown"
        if is_again:
            log.info("the store is connected again", server=self._server)
        self.away_since = None
        for callback in list(self.on_connected):
            callback()

    async def _disconnected(self) -> None:
        if self.away_since is None:
            self.away_since = time.monotonic()
            if not self._client.is_closed:
                log.warning("the connection to the store is lost", server=self._server)
        self._lose()

    async def _note(self, error: Exception) -> None:
        """Keep what the library says of an error, which for a refused permission is all that is to be had."""
        is_said, reason = isinstance(error, errors.Error), (str(error) or type(error).__name__).rstrip(".")
        if self._reasons[is_said][1] != reason:
            log.debug("the store says", reason=reason)
        self._reasons[is_said] = time.monotonic(), reason
        if (task := asyncio.current_task()) and task.cancelling():
            raise asyncio.CancelledError  # before Python 3.12 `wait_for` can lose that, and the library goes on

    # -- questions and answers ----------------------------------------------------------------------------------

    async def _request(
        self, subject: str, payload: bytes, headers: dict[str, str] | None, earlier: list[Message] | None
    ) -> Message:
        """Send a message and return the last answer; raises `StoreUnavailable`."""
        future: asyncio.Future[Message | StoreUnavailable] = asyncio.get_running_loop().create_future()

        def answered(answer: Message | StoreUnavailable) -> None:
            if not future.done():
                future.set_result(answer)

        self.ask(subject, payload, headers, answered, earlier)
        answer = await future
        if isinstance(answer, StoreUnavailable):
            raise answer
        return answer

    def _hear(self, message: Message) -> None:
        """Hand on an answer."""
        number = message.subject[len(self._inbox) :]
        asked = self._asked.get(number)
        if asked is None:
            return
        _, answered, earlier = asked
        status = message.status if message.lines and not message.data else ""
        if earlier is not None and not status:
            earlier.append(message)
            return
        del self._asked[number]
        if status.startswith("503"):
            answered(NotStored("Nobody answers for the store: it has no leader, or is not there."))
        else:
            answered(message)

    def _lose(self) -> None:
        """Tell all who wait that the connection is gone."""
        asked, self._asked = self._asked, {}
        for _, answered, _ in asked.values():
            asyncio.get_running_loop().call_soon(answered, StoreUnavailable("The connection to the store was lost."))

    def _look(self) -> None:
        """Tell those who have waited for too long; the oldest are asked first."""
        self._timer, loop = None, asyncio.get_running_loop()
        long_ago = time.monotonic() - self._patience_seconds
        while self._asked:
            number, (since, answered, _) = next(iter(self._asked.items()))
            if since > long_ago:
                self._timer = loop.call_later(since - long_ago, self._look)
                return
            del self._asked[number]
            if not self._is_testing:
                self._is_testing = True
                self.run(self._test())
            reason = self._reason_since(since)  # of a refused permission nothing else is heard
            loop.call_soon(
                answered, StoreUnavailable("The store does not answer" + (f": {reason}." if reason else "."))
            )

    async def _test(self) -> None:
        """Leave a server that is silent itself, rather than the one it would ask: a frozen one, or a dead line."""
        client, heard = self._client, self._client.stats["in_msgs"]
        try:
            await client.flush(self._patience_seconds / 2)
        except errors.Error:
            if client.is_connected and client.stats["in_msgs"] == heard:
                log.warning("the server of the store is silent, another is tried", server=self._server)
                cast(Any, client._transport)._io_writer.transport.abort()  # a farewell of TLS would take 30 s
                await client.force_reconnect()
        finally:
            self._is_testing = False

    def _reason_since(self, moment: float) -> str:
        """Return the last that was said of an error since a moment, by the store rather than the system, or ""."""
        return next((reason for since, reason in self._reasons.values() if since >= moment), "")


class _Client(Client):
    """The library's client, which comes back whatever ends a connection, and never says who we are without TLS.

    It hands messages on within the turn in which they were read, by the numbers of their subscriptions: by way of the
    library's queues and tasks each answer costs three times as much.
    """

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: dict[int, Callable[[Message], None]] = {}

    async def flush(self, timeout: float = PATIENCE_SECONDS) -> None:  # noqa: ASYNC109  # as the library has it
        """Return when the server has answered a ping; one that comes later is no error, as it is in the library."""
        if not self.is_connected:
            raise errors.ConnectionClosedError
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        await self._send_ping(answered)
        done, _ = await asyncio.wait([answered], timeout=timeout)  # which never cancels what it waits for
        if not done:
            raise errors.FlushTimeoutError

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        self.stats["in_msgs"] += 1
        try:
            self.callbacks[sid](Message(subject.decode(), reply.decode(), data, headers or b""))
        except Exception:
            log.exception("what came from the store was not taken")

    async def _process_err(self, err_msg: str) -> None:
        if PERMISSIONS_ERR in err_msg:
            await super()._process_err(err_msg)
        else:  # the server throws us out, after which the library would stay away for good
            await self._process_op_err(errors.Error(err_msg))

    def _connect_command(self) -> bytes:
        if self.options.get("tls") is not None and not self._server_info.get("tls_required"):
            raise errors.Error("the server speaks no TLS")
        try:
            return super()._connect_command()
        except (nkeys.NkeysError, OSError, TypeError, ValueError) as error:  # of a file that is damaged, maybe since
            raise errors.Error(f"the credentials cannot be used: {error}") from error

    async def _process_connect_init(self) -> None:
        try:
            await super()._process_connect_init()
        except BaseException:
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]  # the next one takes its place
            raise


@contextlib.asynccontextmanager
async def on_failure(close: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Close what was just opened if what is done inside fails."""
    try:
        yield
    except BaseException:
        await close()
        raise


def parse_urls(urls: str) -> list[str]:
    """Return one URL for each host of a list behind one scheme; raises `CannotOpenStore`.

    >>> parse_urls("nats://ana:secret@a,b:4223")
    ['nats://ana:secret@a', 'nats://ana:secret@b:4223']
    """
    scheme, _, rest = urls.partition("://")
    user, at, hosts = rest.rpartition("@")
    with contextlib.suppress(ValueError):
        parts = [urlsplit(f"{scheme}://{user}{at}{host}") for host in hosts.rstrip("/").split(",")]
        if scheme in ("nats", "tls") and all(part.hostname and not part.path and part.port != 0 for part in parts):
            return [part.geturl() for part in parts]
    raise CannotOpenStore(f"{hidden(urls)!r} names no store, as in nats://a.example,b.example,c.example:4222.")


def hidden(urls: str) -> str:
    """Return URLs without what tells who we are, for people to read.

    >>> hidden("nats://ana:secret@a,b")
    'nats://a,b'
    """
    scheme, separator, rest = urls.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


def _credentials_in(file: Path | None) -> dict[str, Any]:
    """Return what a file says of who we are, as the library takes it; raises `CannotOpenStore`."""
    if file is None:
        return {}
    try:
        text = file.read_bytes()
    except OSError as error:
        raise CannotOpenStore(f"Cannot read the credentials {file}: {error.strerror or error}.") from error
    if b"-----BEGIN NATS USER JWT-----" in text:
        return {"user_credentials": str(file)}
    with contextlib.suppress(nkeys.NkeysError, ValueError):
        nkeys.from_seed(bytearray(text.strip())).wipe()
        return {"nkeys_seed": str(file)}
    raise CannotOpenStore(f"{file} holds no credentials of NATS: neither a user's JWT and seed nor a seed alone.")


def _tls_context(urls: list[str], ca: Path | None) -> ssl.SSLContext | None:
    if ca is None and not urls[0].startswith("tls:"):
        return None
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # what OpenSSL finds wrong is one, too
        raise CannotOpenStore(f"Cannot read the certificates of {ca}: {error.strerror or error}.") from error
