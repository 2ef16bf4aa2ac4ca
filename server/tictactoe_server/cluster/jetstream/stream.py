"""The stream that keeps everything: how it has to be, what is kept under a key or behind a sequence, what is written.

The keys are subjects under `PREFIX`, and each message is sent on under `FEED` once it is kept; the sequence of a key's
newest message is its revision. Any node that has a copy answers for many messages at once, and may be behind; the
leader answers for one, and has the last word. A write is on the disks of most nodes when it is acknowledged; nothing is
sent a second time from here but a new value over a tombstone.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import structlog
from nats.js.api import ClusterInfo, StreamState

from tictactoe_server.agenda import wait_until
from tictactoe_server.cluster import hidden
from tictactoe_server.cluster.jetstream.link import Link, Message
from tictactoe_server.storage.store import (
    MISSING,
    CannotOpenStore,
    Conflict,
    NotStored,
    Pending,
    StoreBusy,
    StoreUnavailable,
    Unsettled,
    Waiter,
    WriteFigures,
    read_time,
)

REPLICAS: Final = 3
STREAM: Final = "KV_rooms"
PREFIX: Final = "$KV.rooms."
FEED: Final = "ev.rooms."
TIME: Final = "time"  # the key under which servers note how long they have run
_CREATE_SUBJECT: Final = f"$JS.API.STREAM.CREATE.{STREAM}"
_INFO_SUBJECT: Final = f"$JS.API.STREAM.INFO.{STREAM}"
_READ_SUBJECT: Final = f"$JS.API.STREAM.MSG.GET.{STREAM}"
DELETE_SUBJECT: Final = f"$JS.API.STREAM.MSG.DELETE.{STREAM}"
READ_MANY_SUBJECT: Final = f"$JS.API.DIRECT.GET.{STREAM}"
RIGHTS: Final = {
    "publish": [f"{PREFIX}>", _INFO_SUBJECT, _READ_SUBJECT, READ_MANY_SUBJECT, DELETE_SUBJECT, "house.>", "_INBOX.>"],
    "subscribe": [f"{FEED}>", "house.>", "_INBOX.>"],
}
"""What the user that the servers are has to be allowed."""

TOMBSTONE: Final = {"KV-Operation": "DEL", "Nats-TTL": "1s"}
"""The headers of a message that says that its key is gone; a second later it goes itself."""

MAX_WAITING: Final = 10_000  # how many writes may be under way at once
_GONE: Final = "KV-Operation"
_EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"  # the header of a compare-and-set
_AT_ONCE: Final = 250  # how many messages are read at once: who decodes them holds up all else for so long
_CLOSING_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.25
_NO_MESSAGE: Final = 10037
_NO_STREAM: Final = 10059
_WRONG_SEQUENCE: Final = 10071
_WRITE_IN_PROCESS: Final = 10164
_REFUSALS: Final = {
    10002: "the account has no room left",
    10023: "a node has no room left",
    10047: "a node has no room left",
    10054: "the document is too large",
    10077: "the stream is full, or a disk is",
    10176: "the batch was given up",
}
"""After these nothing is written, and what was kept before is whole."""

_NEEDED: Final[dict[str, object]] = {
    "subjects": [f"{PREFIX}>"],
    "max_msgs_per_subject": 1,
    "discard": "new",
    "max_age": 0,
    "allow_msg_ttl": True,
    "allow_atomic": True,
    "allow_direct": True,
    "republish": {"src": f"{PREFIX}>", "dest": f"{FEED}>"},
}

Answer = TypeVar("Answer", bound="_Answer")

log: Final = structlog.get_logger(__name__)


class Entry(NamedTuple):
    """A message of the stream; with `is_gone` it is a tombstone."""

    key: str
    sequence: int
    document: bytes
    is_gone: bool


class _Error(msgspec.Struct, frozen=True):
    """What JetStream says is wrong; the numbers are those of its own list of errors."""

    err_code: int = 0
    description: str = ""


class _Message(msgspec.Struct, frozen=True):
    subject: str
    seq: int
    hdrs: bytes = b""
    data: bytes = b""


class _Answer(msgspec.Struct, frozen=True):
    """To any request: `seq` to a write, `message` to a question for one message."""

    error: _Error | None = None
    seq: int = 0
    message: _Message | None = None


class StreamInfo(_Answer, frozen=True):
    """What the leader says of the stream."""

    config: dict[str, Any] = {}
    state: StreamState = StreamState(0, 0, 0, 0, 0)
    cluster: ClusterInfo = ClusterInfo()
    created: str = ""
    total: int = 0


class StreamError(StoreUnavailable):
    """JetStream says what is wrong in a `description`; the `code` is of its own list of errors."""

    def __init__(self, error: _Error) -> None:
        super().__init__(f"The store says: {error.description}.")
        self.code = error.err_code
        self.description = error.description


class Write(msgspec.Struct, eq=False):
    """A document to be kept in place of the one with the revision `expected`, of whichever for None.

    `before` is another key and its document, which are kept with this one, or neither is. It was asked for at `since`
    (s, as `time.monotonic`).
    """

    key: str
    document: bytes
    expected: int | None
    waiter: Waiter
    headers: dict[str, str] = {}
    before: tuple[str, bytes] | None = None
    since: float = msgspec.field(default_factory=time.monotonic)


class Stream:
    """Reads and writes over `link`. What is awaited may raise `StoreUnavailable`."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.figures = WriteFigures()
        self._waiting: dict[Write, None] = {}
        self._owed_since: float | None = None

    async def ask(self, subject: str, question: object, kind: type[Answer]) -> Answer:
        """Return what JetStream answers to a request; raises `StreamError` where it says what is wrong."""
        data = await self.link.request(subject, msgspec.json.encode(question))
        try:
            answer = msgspec.json.decode(data, type=kind)
        except msgspec.MsgspecError as error:
            raise _nonsense(error) from error
        if answer.error is not None:
            raise StreamError(answer.error)
        return answer

    async def info(self) -> StreamInfo:
        return await self.ask(_INFO_SUBJECT, {}, StreamInfo)

    async def last_sequence(self) -> int:
        """Return the sequence of the newest message, by the leader."""
        return (await self.info()).state.last_seq

    async def newest(self, key: str) -> Entry | None:
        """Return what is kept under a key, by the leader, or None."""
        found = await self._read({"last_by_subj": PREFIX + key})
        return None if found is None or found.is_gone else found

    async def noted_time(self) -> int | None:
        """Return how long servers have run, as any of them noted it last, or None."""
        found = await self.newest(TIME)
        return read_time(found and found.document)

    async def walk(self, keys: str, after: int = 0, upto: int | None = None) -> AsyncIterator[list[Entry]]:
        """Yield what is kept under keys such as ``room.>`` behind one sequence and up to another, some at a time.

        Without `upto` it is all that is there now, by the leader, so that a node that is cut off from the others gives
        nothing. A key that is written meanwhile may be missing: its message is behind `upto` then.
        """
        if upto is None:
            upto = await self.last_sequence()
        while after < upto:
            question = msgspec.json.encode({"seq": after + 1, "next_by_subj": PREFIX + keys, "batch": _AT_ONCE})
            found = [entry_of(message) for message in await self.link.request_many(READ_MANY_SUBJECT, question)]
            if not found:  # of all copies, or of one that is behind
                one = await self._read({"seq": after + 1, "next_by_subj": PREFIX + keys})
                if one is None:
                    return
                found = [one]
            yield [entry for entry in found if entry.sequence <= upto and not entry.is_gone]
            after = found[-1].sequence

    async def all_keys(self, keys: str) -> AsyncIterator[list[str]]:
        """Yield the keys such as ``room.>`` that there are now, tombstones too, by the leader, 100,000 at a time."""
        offset, total = 0, 1
        while offset < total:
            question = {"subjects_filter": PREFIX + keys, "offset": offset}
            info = await self.ask(_INFO_SUBJECT, question, StreamInfo)
            found = info.state.subjects or {}
            yield [subject.removeprefix(PREFIX) for subject in found]
            offset, total = offset + len(found), info.total if found else 0

    def write(self, write: Write) -> None:
        """Keep a document, and tell who waits for that."""
        if len(self._waiting) >= MAX_WAITING:
            write.waiter.failed(StoreBusy("Too much waits for the store."))
            return
        self._waiting[write] = None
        self._send(write)

    def put(self, key: str, document: bytes, expected: int | None) -> asyncio.Future[int]:
        """Keep a document and return its sequence; raises `Conflict` and `StoreUnavailable`."""
        pending = Pending()
        self.write(Write(key, document, expected, pending))
        return pending.future

    async def delete(self, sequence: int) -> None:
        """Delete a message, if it is there."""
        await self.link.request(DELETE_SUBJECT, msgspec.json.encode({"seq": sequence, "no_erase": True}))

    async def erase(self, sequence: int) -> None:
        """Delete a message, if it is there, and write over it where it stood."""
        await self.link.request(DELETE_SUBJECT, msgspec.json.encode({"seq": sequence}))

    def owed_since(self) -> float | None:
        """Return since when the store owes an answer or is away (s, as `time.monotonic`), or None.

        It owes one to the oldest write, or to one that never got any.
        """
        oldest = next(iter(self._waiting)).since if self._waiting else None
        owed = [since for since in (oldest, self._owed_since, self.link.away_since) if since is not None]
        return min(owed, default=None)

    async def close(self) -> None:
        """Wait for the writes under way, for no longer than an answer may take."""
        await wait_until(lambda: not self._waiting, _CLOSING_SECONDS)

    async def _read(self, question: dict[str, str | int]) -> Entry | None:
        try:
            found = (await self.ask(_READ_SUBJECT, question, _Answer)).message
        except StreamError as error:
            if error.code == _NO_MESSAGE:
                return None
            raise
        if found is None:
            raise _nonsense("nothing")
        return Entry(found.subject.removeprefix(PREFIX), found.seq, found.data, f"{_GONE}:".encode() in found.hdrs)

    def _send(self, write: Write) -> None:
        headers = {} if write.expected is None else {_EXPECTED: str(write.expected)}
        headers.update(write.headers)
        if write.before is not None:
            batch = {"Nats-Batch-Id": secrets.token_hex(8)}
            key, document = write.before
            self.link.publish(PREFIX + key, document, batch | {"Nats-Batch-Sequence": "1"})
            headers |= batch | {"Nats-Batch-Sequence": "2", "Nats-Batch-Commit": "1"}
        self.link.ask(PREFIX + write.key, write.document, headers or None, partial(self._settle, write))

    def _settle(self, write: Write, answer: Message | Exception) -> None:
        """Tell who waits for a write what came of it."""
        outcome = outcome_of(write.key, answer.data) if isinstance(answer, Message) else answer
        if isinstance(outcome, int):  # nearly all
            del self._waiting[write]
            self._owed_since = None
            self.figures.add(time.monotonic() - write.since, 1)
            write.waiter.stored(outcome if write.document else MISSING)  # a tombstone's revision is nobody's
            return
        if isinstance(outcome, Conflict):
            self._owed_since = None
            if write.expected == MISSING:
                self.link.run(self._write_over_tombstone(write))
                return
        elif self._owed_since is None and not isinstance(outcome, Unsettled):
            self._owed_since = write.since
        del self._waiting[write]
        write.waiter.failed(outcome)

    async def _write_over_tombstone(self, write: Write) -> None:
        """Write what is new once more, where it is a tombstone that is in its way."""
        try:
            found = await self._read({"last_by_subj": PREFIX + write.key})
        except StoreUnavailable as unavailable:
            self._settle(write, NotStored(str(unavailable)))  # it certainly was refused
            return
        write.expected = MISSING if found is None else found.sequence
        if found is None or found.is_gone:
            self._send(write)
        else:
            self._settle(write, Conflict(write.key))


def stream_config(replicas: int = REPLICAS) -> dict[str, Any]:
    """Return how the stream has to be, as JetStream's requests say it."""
    return {"name": STREAM, "storage": "file", "num_replicas": replicas, **_NEEDED}


async def make_stream(link: Link, replicas: int = REPLICAS) -> None:
    """Make the stream, on so many nodes; one that is like it already stays. Raises `CannotOpenStore`."""
    try:
        await Stream(link).ask(_CREATE_SUBJECT, stream_config(replicas), StreamInfo)
    except StoreUnavailable as error:
        reason = f"{error.description}." if isinstance(error, StreamError) else str(error)
        raise CannotOpenStore(f"The stream {STREAM} could not be made: {reason}") from error


async def find_stream(stream: Stream, urls: str, patience_seconds: float, *, unsafe: bool) -> StreamInfo:
    """Return what the stream's leader says, for whom it waits.

    Raises `CannotOpenStore` where the stream is not as the rooms need it, or is at risk and that is not accepted.
    """
    reason = "it does not answer"
    try:
        async with asyncio.timeout(patience_seconds):
            while True:
                try:
                    info = await stream.info()
                    await stream.newest(TIME)  # a stream may have its leader again before it can be read
                    break
                except StreamError as error:
                    if error.code == _NO_STREAM:
                        raise CannotOpenStore(
                            f"There is no stream {STREAM} in {hidden(urls)}. To make it: tictactoe-server cluster init."
                        ) from None
                    reason = error.description
                except StoreUnavailable as unavailable:
                    reason = str(unavailable).rstrip(".")
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        raise CannotOpenStore(f"Cannot use the stream {STREAM} in {hidden(urls)}: {reason}.") from None
    if faults := faults_of(info):
        raise CannotOpenStore(f"The stream {STREAM} cannot keep the rooms: {' '.join(faults)}")
    risks = risks_of(info)
    if risks and not unsafe:
        raise CannotOpenStore(
            f"The stream {STREAM} may lose what it has acknowledged. {' '.join(risks)} "
            "To use it all the same: --store-unsafe."
        )
    for risk in risks:
        log.warning("the store may lose what it has acknowledged", reason=risk)
    return info


def faults_of(info: StreamInfo) -> list[str]:
    """Return in sentences what makes a stream useless for the rooms, whatever the operator accepts."""
    return [
        f"{name} is {found!r} and has to be {needed!r}."
        for name, needed in _NEEDED.items()
        if (found := info.config.get(name, False if needed is True else None)) != needed
    ]


def risks_of(info: StreamInfo) -> list[str]:
    """Return in sentences why a stream may lose what it has acknowledged."""
    risks, replicas = [], info.config.get("num_replicas", 1)
    if info.config.get("storage") != "file":
        risks.append("It is kept in memory: it is gone when the nodes are.")
    if replicas < REPLICAS:
        kept = "on one node" if replicas == 1 else f"on {replicas} nodes"
        risks.append(f"It is kept {kept} alone, and {REPLICAS} are needed to survive the loss of one.")
    if info.config.get("persist_mode") == "async":
        risks.append("persist_mode is async: it acknowledges before anything is on a disk.")
    return risks


def entry_of(message: Message) -> Entry:
    """Return the entry that was read or sent on to the feed; raises `StoreUnavailable` where it is something else."""
    headers = message.headers or {}
    subject, sequence = headers.get("Nats-Subject", ""), headers.get("Nats-Sequence", "")
    if not subject.startswith(PREFIX) or not sequence.isdecimal():
        raise _nonsense("a message without a sequence")
    return Entry(subject.removeprefix(PREFIX), int(sequence), message.data, _GONE in headers)


_decode: Final = msgspec.json.Decoder(_Answer).decode


def outcome_of(key: str, answer: bytes) -> int | Exception:
    """Return the revision of a write from its answer, or what came of it instead."""
    try:
        found = _decode(answer)
    except msgspec.MsgspecError as error:
        return _nonsense(error)
    if found.error is None:
        return found.seq if found.seq > 0 else _nonsense("nothing")
    code = found.error.err_code
    if code == _WRONG_SEQUENCE:
        return Conflict(key)
    if code == _WRITE_IN_PROCESS:
        return Unsettled("The store is still about an earlier write of the same.")
    if code in _REFUSALS:
        return NotStored(f"The store refuses: {_REFUSALS[code]}.")
    return StoreUnavailable(f"The store says: {found.error.description}.")


def _nonsense(what: object) -> StoreUnavailable:
    return StoreUnavailable(f"The store's answer is none: {what}.")
