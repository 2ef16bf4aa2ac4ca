"""A stream that keeps documents: how it has to be, what is kept under a key or behind a sequence, what is written.

The keys are subjects under its prefix, and each message is sent on under its feed once it is kept; the sequence of a
key's newest message is its revision. Any node that has a copy answers for many messages at once, and may be behind; the
leader answers for one, and has the last word. A write is on the disks of most nodes when it is acknowledged; nothing is
sent a second time from here but a new value over a tombstone.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import structlog
from nats.js.api import ClusterInfo, StreamState

from tictactoe_server import clock
from tictactoe_server.agenda import wait_until
from tictactoe_server.cluster.jetstream.link import Headers, Link, Message
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
TIME: Final = "time"  # the key under which servers note how long they have run
API: Final = "$JS.API."
INFO, READ, READ_MANY, DELETE = "STREAM.INFO.", "STREAM.MSG.GET.", "DIRECT.GET.", "STREAM.MSG.DELETE."
RIGHTS: Final = {
    "publish": ["$KV.*.>", *(f"{API}{verb}*" for verb in (INFO, READ, READ_MANY, DELETE)), "cluster.>", "_INBOX.>"],
    "subscribe": ["ev.*.>", "cluster.>", "_INBOX.>"],
}
"""What the user that the servers are has to be allowed, of the account that is theirs."""

TOMBSTONE: Final = {"KV-Operation": "DEL", "Nats-TTL": "1s"}
"""The headers of a message that says that its key is gone; a second later it goes itself."""

MAX_WAITING: Final = 10_000  # how many writes may be under way at once
_GONE: Final = "KV-Operation"
ID: Final = "Game-Id"  # the header with the id of a game that came from another store
_find_id: Final = re.compile(rf"\b{ID}: (\d+)".encode()).search
_EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"  # the header of a compare-and-set
_AT_ONCE: Final = 250  # how many messages are read at once: who decodes them holds up all else for so long
_CLOSING_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.25
_NO_MESSAGE: Final = 10037
NO_STREAM: Final = 10059
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
    "max_msgs_per_subject": 1,
    "discard": "new",
    "max_age": 0,
    "allow_msg_ttl": True,
    "allow_atomic": True,
    "allow_direct": True,
}

Answer = TypeVar("Answer", bound="_Answer")

log: Final = structlog.get_logger(__name__)


class Entry(NamedTuple):
    """A message of the stream; with `is_gone` it is a tombstone. A game has its `id` from where it was first kept."""

    key: str
    sequence: int
    document: bytes
    is_gone: bool
    id: int | None = None


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
    """JetStream says what is wrong; the `code` is of its own list of errors."""

    def __init__(self, error: _Error) -> None:
        super().__init__(f"The store says: {error.description}.")
        self.code = error.err_code


class NoStream(CannotOpenStore):
    """There is no stream of that name."""


class Write(msgspec.Struct, eq=False):
    """A document to be kept in place of the one with the revision `expected`, of whichever for None.

    `before` is another key and its document, which are kept with this one, or neither is. It was asked for at `since`
    (s, as `clock.monotonic`).
    """

    key: str
    document: bytes
    expected: int | None
    waiter: Waiter
    headers: Headers = None
    before: tuple[str, bytes] | None = None
    since: float = msgspec.field(default_factory=clock.monotonic)


class Stream:
    """Reads and writes the stream of that name over `link`. What is awaited may raise `StoreUnavailable`.

    Keys stand behind its `prefix`; what is kept is sent on under its `feed`. Writes count among the `figures`.
    """

    def __init__(self, link: Link, name: str, figures: WriteFigures | None = None) -> None:
        self.link = link
        self.name = name
        self.prefix, self.feed = f"$KV.{name}.", f"ev.{name}."
        sources = {"src": f"{self.prefix}>", "dest": f"{self.feed}>"}
        self._needed: dict[str, object] = {"subjects": [f"{self.prefix}>"], **_NEEDED, "republish": sources}
        self._figures = figures or WriteFigures()
        self._waiting: dict[Write, None] = {}
        self._owed_since: float | None = None

    async def ask(self, verb: str, question: object, kind: type[Answer]) -> Answer:
        """Return what JetStream answers to a request; raises `StreamError` where it says what is wrong."""
        data = await self.link.request(f"{API}{verb}{self.name}", msgspec.json.encode(question))
        try:
            answer = msgspec.json.decode(data, type=kind)
        except msgspec.MsgspecError as error:
            raise _nonsense(error) from error
        if answer.error is not None:
            raise StreamError(answer.error)
        return answer

    async def info(self) -> StreamInfo:
        return await self.ask(INFO, {}, StreamInfo)

    async def last_sequence(self) -> int:
        """Return the sequence of the newest message, by the leader."""
        return (await self.info()).state.last_seq

    async def newest(self, key: str) -> Entry | None:
        """Return what is kept under a key, by the leader, or None."""
        found = await self._read({"last_by_subj": self.prefix + key})
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
            found = await self.read_many(after + 1, keys, _AT_ONCE)
            if not found:  # of all copies, or of one that is behind
                one = await self._read({"seq": after + 1, "next_by_subj": self.prefix + keys})
                if one is None:
                    return
                found = [one]
            yield [entry for entry in found if entry.sequence <= upto and not entry.is_gone]
            after = found[-1].sequence

    async def all_keys(self, keys: str) -> AsyncIterator[list[str]]:
        """Yield the keys such as ``room.>`` that there are now, tombstones too, by the leader, 100,000 at a time."""
        offset, total = 0, 1
        while offset < total:
            question = {"subjects_filter": self.prefix + keys, "offset": offset}
            info = await self.ask(INFO, question, StreamInfo)
            found = info.state.subjects or {}
            yield [subject.removeprefix(self.prefix) for subject in found]
            offset, total = offset + len(found), info.total if found else 0

    async def read_many(self, sequence: int, keys: str, most: int) -> list[Entry]:
        """Return what one of the nodes has under keys from a sequence on."""
        question = msgspec.json.encode({"seq": sequence, "next_by_subj": self.prefix + keys, "batch": most})
        found = await self.link.request_many(f"{API}{READ_MANY}{self.name}", question)
        return [self.entry_of(message) for message in found]

    def entry_of(self, message: Message) -> Entry:
        """Return the entry that was read, or sent on to the feed; raises `StoreUnavailable` for anything else."""
        headers = message.headers or {}
        subject, sequence = headers.get("Nats-Subject", ""), headers.get("Nats-Sequence", "")
        if not subject.startswith(self.prefix) or not sequence.isdecimal():
            raise _nonsense("a message without a sequence")
        given = headers.get(ID)
        id = None if given is None else int(given)
        return Entry(subject.removeprefix(self.prefix), int(sequence), message.data, _GONE in headers, id)

    def write(self, write: Write) -> None:
        """Keep a document, and tell who waits for that."""
        if len(self._waiting) >= MAX_WAITING:
            write.waiter.failed(StoreBusy("Too much waits for the store."))
            return
        self._waiting[write] = None
        self._send(write)

    def put(self, key: str, document: bytes, expected: int | None, headers: Headers = None) -> asyncio.Future[int]:
        """Keep a document and return its sequence; raises `Conflict` and `StoreUnavailable`."""
        pending = Pending()
        self.write(Write(key, document, expected, pending, headers))
        return pending.future

    async def delete(self, sequence: int, *, erase: bool = False) -> None:
        """Delete a message, if it is there; with `erase` it is written over where it stood."""
        question = msgspec.json.encode({"seq": sequence, "no_erase": not erase})
        await self.link.request(f"{API}{DELETE}{self.name}", question)

    def owed_since(self) -> float | None:
        """Return since when the store owes an answer or is away (s, as `clock.monotonic`), or None.

        It owes one to the oldest write, or to one that never got any.
        """
        oldest = [write.since for write in islice(self._waiting, 1)]
        return min((at for at in (*oldest, self._owed_since, self.link.away_since) if at is not None), default=None)

    async def close(self) -> None:
        """Wait for the writes under way, for no longer than an answer may take."""
        await wait_until(lambda: not self._waiting, _CLOSING_SECONDS)

    async def _read(self, question: dict[str, str | int]) -> Entry | None:
        try:
            found = (await self.ask(READ, question, _Answer)).message
        except StreamError as error:
            if error.code == _NO_MESSAGE:
                return None
            raise
        if found is None:
            raise _nonsense("nothing")
        given, is_gone = _find_id(found.hdrs), f"{_GONE}:".encode() in found.hdrs
        id = None if given is None else int(given[1])
        return Entry(found.subject.removeprefix(self.prefix), found.seq, found.data, is_gone, id)

    def _send(self, write: Write) -> None:
        headers = {} if write.expected is None else {_EXPECTED: str(write.expected)}
        headers |= write.headers or {}
        if write.before is not None:
            batch = {"Nats-Batch-Id": secrets.token_hex(8)}
            key, document = write.before
            self.link.publish(self.prefix + key, document, batch | {"Nats-Batch-Sequence": "1"})
            headers |= batch | {"Nats-Batch-Sequence": "2", "Nats-Batch-Commit": "1"}
        self.link.ask(self.prefix + write.key, write.document, headers or None, partial(self._settle, write))

    def _settle(self, write: Write, answer: Message | Exception) -> None:
        outcome = outcome_of(write.key, answer.data) if isinstance(answer, Message) else answer
        if isinstance(outcome, Conflict) and write.expected == MISSING:
            self.link.run(self._write_over_tombstone(write))
            return
        del self._waiting[write]
        if isinstance(outcome, int | Conflict):
            self._owed_since = None
        elif self._owed_since is None and not isinstance(outcome, Unsettled):
            self._owed_since = write.since
        if isinstance(outcome, int):
            self._figures.add(clock.monotonic() - write.since, 1)
            write.waiter.stored(outcome if write.document else MISSING)  # a tombstone's revision is nobody's
        else:
            write.waiter.failed(outcome)

    async def _write_over_tombstone(self, write: Write) -> None:
        """Write what is new once more, where it is a tombstone that is in its way."""
        try:
            found = await self._read({"last_by_subj": self.prefix + write.key})
        except StoreUnavailable as unavailable:
            self._settle(write, NotStored(str(unavailable)))  # it certainly was refused
            return
        write.expected = MISSING if found is None else found.sequence
        if found is None or found.is_gone:
            self._send(write)
        else:
            self._settle(write, Conflict(write.key))

    def config(self, replicas: int = REPLICAS) -> dict[str, Any]:
        """Return how the stream has to be, as JetStream's requests say it."""
        return {"name": self.name, "storage": "file", "num_replicas": replicas, **self._needed}

    def faults_of(self, info: StreamInfo) -> list[str]:
        """Return in sentences what makes the stream useless for the rooms, whatever the operator accepts."""
        return [
            f"{name} is {found!r} and has to be {needed!r}."
            for name, needed in self._needed.items()
            if (found := info.config.get(name, False if needed is True else None)) != needed
        ]


async def find_stream(stream: Stream, patience_seconds: float, *, unsafe: bool) -> StreamInfo:
    """Return what the stream's leader says, for whom it waits.

    Raises `CannotOpenStore` where the stream is not as the rooms need it, or is at risk and that is not accepted, and
    `NoStream` where there is none.
    """
    which, deadline = f"stream {stream.name} in {stream.link.urls}", clock.monotonic() + patience_seconds
    while True:
        try:
            info = await stream.info()
            await stream.newest(TIME)  # a stream may have its leader again before it can be read
            break
        except StoreUnavailable as unavailable:
            if isinstance(unavailable, StreamError) and unavailable.code == NO_STREAM:
                raise NoStream(f"There is no {which}. To make it: tictactoe-server cluster init.") from None
            if clock.monotonic() > deadline:
                raise CannotOpenStore(f"Cannot use the {which}: {unavailable}") from None
        await asyncio.sleep(_PAUSE_SECONDS)
    if faults := stream.faults_of(info):
        raise CannotOpenStore(f"The stream {stream.name} cannot keep the rooms: {' '.join(faults)}")
    risks = risks_of(info)
    if risks and not unsafe:
        raise CannotOpenStore(
            f"The stream {stream.name} may lose what it has acknowledged. {' '.join(risks)} "
            "To use it all the same: --store-unsafe."
        )
    for risk in risks:
        log.warning("the store may lose what it has acknowledged", stream=stream.name, reason=risk)
    return info


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
