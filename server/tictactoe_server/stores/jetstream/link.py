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
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Self, cast
from urllib.parse import urlsplit

import nkeys
import structlog
from nats import errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from tictactoe_server.stores.store import CannotOpenStore

PATIENCE_SECONDS: Final = 2.0
"""How long an answer may take."""

OPENING_SECONDS: Final = 10.0
DEFAULT_PORT: Final = 4222
_KEPT_REASONS: Final = 8

Answered = Callable[["bytes | LinkError"], None]
"""Who is told what was answered, on the event loop."""

log: Final = structlog.get_logger(__name__)


class Message:
    """What came on a subject; `lines` are its headers as they came, empty where it has none."""

    __slots__ = ("data", "lines", "reply", "subject")

    def __init__(self, subject: str, reply: str, data: bytes, lines: bytes) -> None:
        self.subject = subject
        self.reply = reply
        self.data = data
        self.lines = lines or b""

    @property
    def status(self) -> str:
        """What the server says in place of an answer, as in 503; empty for a message that somebody sent."""
        words = self.lines.partition(b"\r\n")[0].split(None, 2)
        return words[1].decode() if len(words) > 1 else ""

    @property
    def description(self) -> str:
        """The server's words for its status."""
        words = self.lines.partition(b"\r\n")[0].split(None, 2)
        return words[2].decode(errors="replace") if len(words) > 2 else ""


class LinkError(Exception):
    """There is no answer; the message says why."""


class NoResponders(LinkError):
    """Nobody listens to the subject: certainly nothing was done."""


class Disconnected(LinkError):
    """Nothing was sent: there is no connection, or it takes nothing of that size."""


class TimedOut(LinkError):
    """No answer came in time, or the connection was lost before it: what was asked may have been done, or will be."""


class Link:
    """A connection that comes back by itself, with its subscriptions. Belongs to one event loop.

    `on_connected` are called each time it is back. `away_since` is since when there is none (s, as `time.monotonic`).
    """

    def __init__(
        self, urls: str, credentials: Path | None = None, ca: Path | None = None, *, patience_seconds: float
    ) -> None:
        """Prepare a link; see `open`."""
        self.on_connected: list[Callable[[], None]] = []
        self.away_since: float | None = time.monotonic()
        self._urls = parse_urls(urls)
        self._credentials = _credentials_in(credentials)
        self._tls = _tls_context(self._urls, ca)
        self._patience_seconds = patience_seconds
        self._client = _Client()
        self._inbox = self._client.new_inbox() + "."
        self._subscriptions: list[tuple[str, Callable[[Message], None]]] = [(self._inbox + "*", self._hear)]
        self._numbers = itertools.count(1)
        self._asked: dict[str, tuple[float, Answered]] = {}
        self._series: dict[str, _Series] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._reasons: deque[tuple[float, bool, str]] = deque(maxlen=_KEPT_REASONS)
        self._server_name = ""
        self._is_closing = False
        self._reopening: asyncio.Task[None] | None = None
        self._testing: asyncio.Task[None] | None = None

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
        link = cls(urls, credentials, ca, patience_seconds=patience_seconds)
        try:
            async with asyncio.timeout(opening_seconds):
                await link._connect()
        except TimeoutError as error:
            await link.close()
            reason = link._reason_since(0) or "nobody answers"
            raise CannotOpenStore(f"Cannot reach the store {hidden(urls)}: {reason}.") from error
        except BaseException:
            await link.close()
            raise
        return link

    @property
    def is_connected(self) -> bool:
        """Whether what is asked now is sent."""
        return self._client.is_connected

    @property
    def server_name(self) -> str:
        """The host and port of the server that it is connected to, or was last."""
        url = self._client.connected_url
        if url is not None:
            self._server_name = f"{url.hostname}:{url.port}"
        return self._server_name

    def new_name(self) -> str:
        """Return a name that no other has."""
        return f"{self._inbox.rpartition('.')[0].rpartition('.')[2]}-{next(self._numbers)}"

    def ask(self, subject: str, payload: bytes, headers: Mapping[str, str] | None, answered: Answered) -> None:
        """Send a message, and tell `answered` the answer: within the call itself where nothing could be sent."""
        number = str(next(self._numbers))
        error = self._send(subject, payload, self._inbox + number, headers)
        if error is not None:
            answered(error)
            return
        self._asked[number] = (time.monotonic(), answered)
        if self._timer is None:
            self._wait(self._patience_seconds)

    async def request(self, subject: str, payload: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
        """Send a message and return the answer; raises `LinkError`."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def answered(answer: bytes | LinkError) -> None:
            if future.done():
                return
            if isinstance(answer, LinkError):
                future.set_exception(answer)
            else:
                future.set_result(answer)

        self.ask(subject, payload, headers, answered)
        return await future

    async def request_many(self, subject: str, payload: bytes) -> list[Message]:
        """Send a message and return all answers before the one with a status, in order; raises `LinkError`."""
        number = str(next(self._numbers))
        series = _Series()
        error = self._send(subject, payload, self._inbox + number, None)
        if error is not None:
            raise error
        self._series[number] = series
        since = time.monotonic()
        try:
            async with asyncio.timeout(self._patience_seconds):
                return await series.future
        except TimeoutError:
            raise self._silence(since) from None
        finally:
            del self._series[number]

    def publish(
        self, subject: str, payload: bytes = b"", headers: Mapping[str, str] | None = None, reply: str = ""
    ) -> LinkError | None:
        """Send a message that nobody answers here; return why it was not sent, or None."""
        return self._send(subject, payload, reply, headers)

    async def subscribe(self, subject: str, callback: Callable[[Message], None]) -> None:
        """Let each message to a subject come to `callback`, in order, until the link is closed."""
        self._subscriptions.append((subject, callback))
        await _subscribe(self._client, subject, callback)

    async def flush(self) -> None:
        """Return when the server has heard all that was sent; raises `LinkError`."""
        try:
            await self._client.flush(self._patience_seconds)
        except errors.Error as error:
            raise TimedOut(f"The server does not answer: {error}") from error

    async def close(self) -> None:
        """Send what waits, and end; whoever still waits for an answer is told that none came."""
        self._is_closing = True
        for task in (self._reopening, self._testing):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self._client.close()
        self._lose()
        if self._timer is not None:
            self._timer.cancel()

    # -- the connection -----------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        """Return when a new client is connected and has all subscriptions."""
        client = self._client
        try:
            await client.connect(
                [*self._urls],
                name="tictactoe-server",
                error_cb=self._note,
                disconnected_cb=self._disconnected,
                reconnected_cb=self._connected,
                closed_cb=self._closed,
                pending_size=0,
                ping_interval=5,
                max_outstanding_pings=2,
                max_reconnect_attempts=-1,
                connect_timeout=1,
                reconnect_time_wait=0.1,  # type: ignore[arg-type]  # any number of seconds will do
                user_credentials=self._credentials.get("user_credentials"),
                nkeys_seed=self._credentials.get("nkeys_seed"),
                tls=self._tls,
            )
            for subject, callback in self._subscriptions:
                await _subscribe(client, subject, callback)
            await client.flush(self._patience_seconds)
        except (errors.Error, nkeys.NkeysError, OSError, ValueError) as error:
            raise CannotOpenStore(f"Cannot use the store: {error}.") from error
        self.away_since = None
        log.debug("the store is connected", server=self.server_name)

    async def _connected(self) -> None:
        self.away_since = None
        log.info("the store is connected again", server=self.server_name)
        for callback in list(self.on_connected):
            callback()

    async def _disconnected(self) -> None:
        if self.away_since is None:
            self.away_since = time.monotonic()
            if not self._is_closing:
                log.warning("the connection to the store is lost", server=self.server_name)
        self._lose()

    async def _closed(self) -> None:
        """Begin anew where the server has thrown us out, after which the client would stay away for good."""
        if not self._is_closing and self._reopening is None:
            self._reopening = asyncio.create_task(self._reopen())

    async def _reopen(self) -> None:
        while True:
            self._client = _Client()
            try:
                await self._connect()
                break
            except CannotOpenStore as error:
                log.warning("the store cannot be reached", reason=str(error))
                await self._client.close()
                await asyncio.sleep(self._patience_seconds / 2)
        self._reopening = None
        await self._connected()

    async def _note(self, error: Exception) -> None:
        """Keep what the library says of an error, which for a refused permission is all that is to be had."""
        reason = str(error) or type(error).__name__
        if not isinstance(error, (errors.Error, OSError, TimeoutError)):
            log.error("what came from the store was not taken", exc_info=error)
        elif not self._reasons or self._reasons[-1][2] != reason:
            log.debug("the store says", reason=reason)
        self._reasons.append((time.monotonic(), isinstance(error, errors.Error), reason.rstrip(".")))
        task = asyncio.current_task()
        if (
            task is not None and task.cancelling()
        ):  # before Python 3.12 `wait_for` can lose that, and the library goes on
            raise asyncio.CancelledError

    # -- questions and answers ----------------------------------------------------------------------------------

    def _send(self, subject: str, payload: bytes, reply: str, headers: Mapping[str, str] | None) -> Disconnected | None:
        """Give a message to the client, whose `publish` never waits where it keeps nothing for later."""
        publishing = self._client.publish(subject, payload, reply, cast("dict[str, str] | None", headers))
        try:
            publishing.send(None)
        except StopIteration:
            return None
        except errors.OutboundBufferLimitError:
            return Disconnected("There is no connection to the store.")
        except errors.Error as error:
            return Disconnected(f"Nothing could be sent to the store: {error}.")
        publishing.close()  # it waits for the flush alone, which others have asked for
        return None

    def _hear(self, message: Message) -> None:
        """Hand on an answer."""
        number = message.subject[len(self._inbox) :]
        asked = self._asked.pop(number, None)
        if asked is None:
            if number in self._series:
                self._series[number].add(message)
            return
        if message.lines and not message.data and message.status == "503":
            _tell(asked[1], NoResponders("Nobody answers for the store: it has no leader, or is not there."))
        else:
            _tell(asked[1], message.data)

    def _lose(self) -> None:
        """Tell all who wait that the connection is gone."""
        error = TimedOut("The connection to the store was lost.")
        asked, self._asked = self._asked, {}
        for _, answered in asked.values():
            _tell(answered, error)
        for series in self._series.values():
            series.fail(error)

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """Tell those who have waited for too long; the oldest are asked first."""
        self._timer = None
        now = time.monotonic()
        while self._asked:
            number = next(iter(self._asked))
            since, answered = self._asked[number]
            if now - since < self._patience_seconds:
                self._wait(since + self._patience_seconds - now)
                return
            del self._asked[number]
            if self._testing is None:
                self._testing = asyncio.create_task(self._test())
            _tell(answered, self._silence(since))

    async def _test(self) -> None:
        """Leave a server that is silent itself, rather than the one it would ask: a frozen one, or a dead line."""
        client, heard = self._client, self._client.stats["in_msgs"]
        try:
            await client.flush(self._patience_seconds / 2)
        except errors.Error:
            if client.is_connected and client.stats["in_msgs"] == heard:
                log.warning("the server of the store is silent, another is tried", server=self.server_name)
                await client.force_reconnect()
        finally:
            self._testing = None

    def _silence(self, since: float) -> TimedOut:
        reason = self._reason_since(since)  # of a refused permission nothing else is heard
        return TimedOut("The store does not answer" + (f": {reason}." if reason else "."))

    def _reason_since(self, moment: float) -> str:
        """Return the last that was said of an error since a moment, by the store rather than the system, or ""."""
        reasons = [(is_said, since, reason) for since, is_said, reason in self._reasons if since >= moment]
        return max(reasons)[2] if reasons else ""


class _Client(Client):
    """The library's client, but where TLS is asked for it never says who we are without.

    It hands messages on within the turn in which they were read, by the numbers of their subscriptions, `callbacks`:
    each answer and each message of the feed costs a third of what it does by way of the library's queues and tasks.
    What answers a `flush` too late is let pass, where the library would take it for an error and leave the server.
    """

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: dict[int, Callable[[Message], None]] = {}

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        callback = self.callbacks.get(sid)
        if callback is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        try:
            callback(Message(subject.decode(), reply.decode(), data, headers))
        except Exception:
            log.exception("what came from the store was not taken")

    async def flush(self, timeout: float = PATIENCE_SECONDS) -> None:  # noqa: ASYNC109  # as the library has it
        if not self.is_connected:
            raise errors.ConnectionClosedError
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        await self._send_ping(answered)
        done, _ = await asyncio.wait([answered], timeout=timeout)  # which never cancels what it waits for
        if not done:
            raise errors.FlushTimeoutError

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


class _Series:
    """The answers to one message, until one has a status, which is the last."""

    def __init__(self) -> None:
        self.future: asyncio.Future[list[Message]] = asyncio.get_running_loop().create_future()
        self._messages: list[Message] = []

    def add(self, message: Message) -> None:
        status = "" if message.data else message.status
        if not status:
            self._messages.append(message)
        elif status == "503":
            self.fail(NoResponders("Nobody answers for the store: it has no leader, or is not there."))
        elif status not in ("204", "404"):
            self.fail(LinkError(f"The store refuses: {status} {message.description}."))
        elif not self.future.done():
            self.future.set_result(self._messages)

    def fail(self, error: LinkError) -> None:
        if not self.future.done():
            self.future.set_exception(error)


def parse_urls(urls: str) -> list[str]:
    """Return one URL for each host of a list behind one scheme; raises `CannotOpenStore`.

    >>> parse_urls("nats://ana:secret@a,b:4223")
    ['nats://ana:secret@a:4222', 'nats://ana:secret@b:4223']
    """
    scheme, separator, rest = urls.partition("://")
    user, at, hosts = rest.rpartition("@")
    found = [f"{scheme}://{user}{at}{host}" for host in hosts.rstrip("/").split(",")]
    try:
        parts = [urlsplit(url) for url in found]
        is_whole = (
            separator
            and scheme in ("nats", "tls")
            and all(part.hostname and not part.path and part.port != 0 for part in parts)
        )
    except ValueError:
        is_whole = False
    if not is_whole:
        raise CannotOpenStore(f"{hidden(urls)!r} names no store, as in nats://a.example,b.example,c.example:4222.")
    return [url if part.port else f"{url}:{DEFAULT_PORT}" for url, part in zip(found, parts, strict=True)]


def hidden(urls: str) -> str:
    """Return URLs without what tells who we are, for people to read.

    >>> hidden("nats://ana:secret@a,b")
    'nats://a,b'
    """
    scheme, separator, rest = urls.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


def _credentials_in(file: Path | None) -> dict[str, str]:
    """Return what a file says of who we are, as the library takes it; raises `CannotOpenStore`."""
    if file is None:
        return {}
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotOpenStore(f"Cannot read the credentials {file}: {getattr(error, 'strerror', error)}.") from error
    if "-----BEGIN NATS USER JWT-----" in text:
        return {"user_credentials": str(file)}
    with contextlib.suppress(nkeys.NkeysError, ValueError):
        nkeys.from_seed(bytearray(text.strip().encode())).wipe()
        return {"nkeys_seed": str(file)}
    raise CannotOpenStore(f"{file} holds no credentials of NATS: neither a user's JWT and seed nor a seed alone.")


def _tls_context(urls: list[str], ca: Path | None) -> ssl.SSLContext | None:
    if ca is None and not urls[0].startswith("tls:"):
        return None
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # what OpenSSL finds wrong is one, too
        raise CannotOpenStore(f"Cannot read the certificates of {ca}: {error.strerror or error}.") from error


async def _subscribe(client: _Client, subject: str, callback: Callable[[Message], None]) -> None:
    async def hear(message: Msg) -> None:
        headers = dict(message.headers or {})
        status, words = headers.pop("Status", ""), headers.pop("Description", "")
        lines = "\r\n".join(
            [f"NATS/1.0 {status} {words}", *(f"{name}: {value}" for name, value in headers.items()), ""]
        )
        callback(Message(message.subject, message.reply, message.data, lines.encode() if message.headers else b""))

    subscription = await client.subscribe(subject, cb=hear)
    client.callbacks[subscription._id] = callback


def _tell(answered: Answered, answer: bytes | LinkError) -> None:
    try:
        answered(answer)
    except Exception:
        log.exception("what waited for the store failed")
