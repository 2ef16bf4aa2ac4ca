"""A JetStream stream as a store of documents.

Keys are subjects under the stream's prefix, and NATS republishes every stored message under the stream's feed. The
sequence of a key's newest message is the key's revision. Any node may answer a read of many messages, even a node that
is behind; the leader answers reads of single messages. An acknowledged write is on the disks of a majority of the
nodes. A refused write is repeated only over a tombstone, or if the stream has lost the expected message.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import structlog
from nats.js.api import ClusterInfo, StreamState

from tictactoe_server import clock
from tictactoe_server.features.jetstream.link import Headers, Link, Message
from tictactoe_server.scheduler import wait_until
from tictactoe_server.storage import store

REPLICAS: Final = 3
TIME: Final = "time"  # the key of the served time
API: Final = "$JS.API."
INFO, READ, READ_MANY, DELETE = "STREAM.INFO.", "STREAM.MSG.GET.", "DIRECT.GET.", "STREAM.MSG.DELETE."
COPIES: Final = "$SYS.REQ.SERVER.PING.JSZ"  # the subject of a request that every node answers
RIGHTS: Final = {
    "publish": [
        *("$KV.*.>", *(f"{API}{verb}*" for verb in (INFO, READ, READ_MANY, DELETE))),
        *(COPIES, "cluster.>", "_INBOX.>"),
    ],
    "subscribe": ["ev.*.>", "cluster.>", "_INBOX.>"],
}
"""The permissions that the servers' NATS user needs."""

TOMBSTONE: Final = {"KV-Operation": "DEL", "Nats-TTL": "1s"}  # headers that delete a key; the message itself expires
MAX_WAITING: Final = 10_000  # writes that wait for a reply at the same time
_GONE: Final = "KV-Operation"
_PROBE: Final = "probe"  # the key of a write whose acknowledgement shows whether writes are lost
ID: Final = "Game-Id"  # the header with the id of a game that came from another store
_find_id: Final = re.compile(rf"\b{ID}: (\d+)".encode()).search
_EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"  # the header of a compare-and-set
_AT_ONCE: Final = 250  # messages per read; decoding them blocks the event loop
_CLOSING_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.25
_NO_MESSAGE: Final = 10037
NO_STREAM: Final = 10059
_WRONG_SEQUENCE: Final = 10071
_WRITE_IN_PROCESS: Final = 10164
_REFUSALS: Final = {
    10002: "the account has no space left",
    10023: "a node has no space left",
    10047: "a node has no space left",
    10054: "the document is too large",
    10077: "the stream is full, or a disk is",
    10176: "the batch was abandoned",
}
"""The errors after which nothing has been written, by JetStream's code."""

Answer = TypeVar("Answer", bound="_Answer")

log: Final = structlog.get_logger(__name__)


class Entry(NamedTuple):
    """A message in the stream.

    Attributes:
        is_gone: Whether the message is a tombstone.
        id: The id of a game that was copied from another store, as in that store.
    """

    key: str
    sequence: int
    document: bytes
    is_gone: bool
    id: int | None = None


class _Error(msgspec.Struct, frozen=True):
    err_code: int = 0
    description: str = ""


class _Message(msgspec.Struct, frozen=True):
    subject: str
    seq: int
    hdrs: bytes = b""
    data: bytes = b""


class _Answer(msgspec.Struct, frozen=True):
    error: _Error | None = None
    seq: int = 0
    message: _Message | None = None


class StreamInfo(_Answer, frozen=True):
    """The leader's description of a stream."""

    config: dict[str, Any] = {}
    state: StreamState = StreamState(0, 0, 0, 0, 0)
    cluster: ClusterInfo = ClusterInfo()
    created: str = ""
    total: int = 0


class StreamError(store.StoreUnavailable):
    """An error that JetStream reports; `code` is its number in JetStream's list of errors."""

    def __init__(self, error: _Error) -> None:
        super().__init__(f"The store says: {error.description}.")
        self.code = error.err_code


class Write(msgspec.Struct, eq=False):
    """A compare-and-set of a document.

    Attributes:
        expected: The revision to replace, or None to replace any revision.
        before: The key and the document of another write, which is stored first in the same atomic batch.
        since: The time of the request (s, as `clock.monotonic`).
        floor: The highest sequence acknowledged before the request was sent.
        lost: The revision originally expected, if the stream has lost it and the write replaces an older revision.
    """

    key: str
    document: bytes
    expected: int | None
    waiter: store.Waiter
    headers: Headers = None
    before: tuple[str, bytes] | None = None
    since: float = msgspec.field(default_factory=clock.monotonic)
    floor: int = 0
    lost: int = store.MISSING


class Stream:
    """Reads and writes documents in a stream. Every coroutine may raise `StoreUnavailable`.

    If the nodes return to an earlier state, for instance because they were restored from a backup, the stream has lost
    acknowledged writes. The only proof is an acknowledgement whose sequence is not above all earlier sequences. A read
    proves nothing, because it may come from a leader that is out of date.

    Attributes:
        acknowledged: The highest acknowledged sequence.
        lost_writes: How many acknowledged writes the stream is known to have lost.
        on_set_back: Called with the stream when it proves to have lost writes.
    """

    def __init__(self, link: Link, name: str, figures: store.WriteFigures | None = None) -> None:
        self.link = link
        self.name = name
        self.prefix, self.feed = f"$KV.{name}.", f"ev.{name}."
        self._needed: dict[str, object] = {
            "subjects": [f"{self.prefix}>"],
            "max_msgs_per_subject": 1,
            "discard": "new",
            "max_age": 0,
            "allow_msg_ttl": True,
            "allow_atomic": True,
            "allow_direct": True,
            "republish": {"src": f"{self.prefix}>", "dest": f"{self.feed}>"},
        }
        self._figures = figures or store.WriteFigures()
        self.acknowledged = self.lost_writes = self._lost_upto = self._seen = 0
        self.on_set_back: list[Callable[[Stream], object]] = []
        self._waiting: dict[Write, None] = {}
        self._owed_since: float | None = None

    async def ask(self, verb: str, question: object, kind: type[Answer]) -> Answer:
        """Send a request to JetStream and return the reply, or raise `StreamError` if JetStream reports an error."""
        data = await self.link.request(f"{API}{verb}{self.name}", msgspec.json.encode(question))
        try:
            answer = msgspec.json.decode(data, type=kind)
        except ValueError as error:
            raise _invalid_answer(error) from error
        if answer.error is not None:
            raise StreamError(answer.error)
        return answer

    async def info(self) -> StreamInfo:
        return await self.ask(INFO, {}, StreamInfo)

    async def last_sequence(self) -> int:
        """Return the sequence of the newest message. If writes seem to be lost, also write a probe to find out."""
        before = self.acknowledged
        last = (await self.info()).state.last_seq
        if last < before:
            self.put(_PROBE, b"-", None).add_done_callback(asyncio.Future.exception)
        return last

    async def has_lost(self, revision: int) -> bool:
        """Return whether the stream has lost a revision that it once had."""
        is_known = revision <= self._seen
        return is_known and (revision <= self._lost_upto or await self.last_sequence() < revision)

    async def newest(self, key: str) -> Entry | None:
        """Return the newest message with this key from the leader, or None if there is none or the key is deleted."""
        found = await self._read({"last_by_subj": self.prefix + key})
        return None if found is None or found.is_gone else found

    async def noted_time(self) -> int | None:
        found = await self.newest(TIME)
        return store.read_time(found and found.document)

    async def walk(self, keys: str, after: int = 0, upto: int | None = None) -> AsyncIterator[list[Entry]]:
        """Yield the messages whose keys match a pattern such as ``room.>``, in batches.

        Only messages with a sequence above `after` and at most `upto` are read; by default, up to the leader's newest
        message. A key that is written meanwhile may be missing.
        """
        if upto is None:
            upto = await self.last_sequence()
        while after < upto:
            question = {"seq": after + 1, "next_by_subj": self.prefix + keys, "batch": _AT_ONCE}
            read = await self.link.request_many(f"{API}{READ_MANY}{self.name}", msgspec.json.encode(question))
            found = [self.entry_of(message) for message in read]
            if not found:  # the end, or a node that is behind
                one = await self._read({"seq": after + 1, "next_by_subj": self.prefix + keys})
                if one is None:
                    return
                found = [one]
            yield [entry for entry in found if entry.sequence <= upto and not entry.is_gone]
            after = found[-1].sequence

    async def all_keys(self, keys: str) -> AsyncIterator[list[str]]:
        """Yield the current keys that match a pattern such as ``room.>``, in batches of 100,000, from the leader.

        Keys that have just been deleted are included.
        """
        offset, total = 0, 1
        while offset < total:
            question = {"subjects_filter": self.prefix + keys, "offset": offset}
            info = await self.ask(INFO, question, StreamInfo)
            found = info.state.subjects or {}
            yield [subject.removeprefix(self.prefix) for subject in found]
            offset, total = offset + len(found), info.total if found else 0

    def entry_of(self, message: Message) -> Entry:
        """Decode a message from a read or from the feed, or raise `StoreUnavailable` if it is neither."""
        headers = message.headers or {}
        subject, sequence = headers.get("Nats-Subject", ""), headers.get("Nats-Sequence", "")
        if not subject.startswith(self.prefix) or not sequence.isdecimal():
            raise _invalid_answer("a message without a sequence")
        given = headers.get(ID)
        id = None if given is None else int(given)
        return Entry(subject.removeprefix(self.prefix), int(sequence), message.data, _GONE in headers, id)

    def write(self, write: Write) -> None:
        if len(self._waiting) >= MAX_WAITING:
            write.waiter.failed(store.StoreBusy("Too many writes are waiting for the store."))
            return
        self._waiting[write] = None
        self._send(write)

    def put(self, key: str, document: bytes, expected: int | None, headers: Headers = None) -> asyncio.Future[int]:
        """Store a document, and return a future with its sequence that may raise `Conflict` or `StoreUnavailable`."""
        pending = store.Pending()
        self.write(Write(key, document, expected, pending, headers))
        return pending.future

    async def delete(self, sequence: int, *, erase: bool = False) -> None:
        """Delete the message with this sequence, if it exists. With `erase`, overwrite its bytes."""
        question = msgspec.json.encode({"seq": sequence, "no_erase": not erase})
        await self.link.request(f"{API}{DELETE}{self.name}", question)

    def owed_since(self) -> float | None:
        """Return since when a write has waited for a reply or the connection has been lost, or None.

        The time is in s, as `clock.monotonic`.
        """
        oldest = [write.since for write in islice(self._waiting, 1)]
        return min((at for at in (*oldest, self._owed_since, self.link.away_since) if at is not None), default=None)

    async def close(self) -> None:
        """Wait up to two seconds for pending writes."""
        await wait_until(lambda: not self._waiting, _CLOSING_SECONDS)

    async def _read(self, question: dict[str, str | int]) -> Entry | None:
        try:
            found = (await self.ask(READ, question, _Answer)).message
        except StreamError as error:
            if error.code == _NO_MESSAGE:
                return None
            raise
        if found is None:
            raise _invalid_answer("nothing")
        self._seen = max(self._seen, found.seq)
        given, is_gone = _find_id(found.hdrs), f"{_GONE}:".encode() in found.hdrs
        id = None if given is None else int(given[1])
        return Entry(found.subject.removeprefix(self.prefix), found.seq, found.data, is_gone, id)

    def _send(self, write: Write) -> None:
        if any(is_held() for is_held in self.link.holds_writes):
            self._settle(write, store.NotStored("This server has not received the time of the other servers yet."))
            return
        write.floor = self.acknowledged
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
        if isinstance(outcome, store.Conflict) and isinstance(answer, Message):
            self.link.run(self._look_again(write))
            return
        del self._waiting[write]
        if isinstance(outcome, int | store.Conflict):
            self._owed_since = None
        elif self._owed_since is None and not isinstance(outcome, store.Unsettled):
            self._owed_since = write.since
        if isinstance(outcome, int):
            self._figures.add(clock.monotonic() - write.since, 1)
            if outcome <= write.floor or write.lost > self._lost_upto:
                self._note_loss(outcome, write)
            self.acknowledged = max(self.acknowledged, outcome)
            self._seen = max(self._seen, outcome)
            write.waiter.stored(outcome if write.document else store.MISSING)
        else:
            write.waiter.failed(outcome)

    def _note_loss(self, outcome: int, write: Write) -> None:
        lost = max(1, self.acknowledged - outcome + 1)
        self.lost_writes += lost
        self._lost_upto, self.acknowledged = max(self.acknowledged, write.lost), outcome
        for other in self._waiting:
            other.floor = 0
        log.error("store lost acknowledged writes", stream=self.name, writes=lost)
        for callback in self.on_set_back:
            callback(self)

    async def _look_again(self, write: Write) -> None:
        """Repeat a write that JetStream refused because the key's latest message is not the expected one.

        The write is repeated if the latest message is only a deletion marker, or if the stream has lost the expected
        message. Otherwise, it fails with `Conflict`.
        """
        expected = write.expected or store.MISSING
        try:
            found = await self._read({"last_by_subj": self.prefix + write.key})
            newest = store.MISSING if found is None else found.sequence
            is_lost = newest < expected <= self._seen and (found is not None or await self.has_lost(expected))
        except store.StoreUnavailable as unavailable:
            self._settle(write, store.NotStored(str(unavailable)))  # because the write was refused
            return
        if is_lost:
            write.lost = max(write.lost, expected)
        if is_lost or (expected == store.MISSING and (found is None or found.is_gone)):
            write.expected = newest
            self._send(write)
        else:
            self._settle(write, store.Conflict(write.key))

    def config(self, replicas: int = REPLICAS) -> dict[str, Any]:
        return {"name": self.name, "storage": "file", "num_replicas": replicas, **self._needed}

    def faults_of(self, info: StreamInfo) -> list[str]:
        return [
            f"{name} is {found!r} but must be {needed!r}."
            for name, needed in self._needed.items()
            if (found := info.config.get(name, False if needed is True else None)) != needed
        ]


async def find_stream(stream: Stream, patience_seconds: float, *, unsafe: bool) -> StreamInfo:
    """Wait for the leader of `stream`, and return the leader's description of the stream.

    Raise `CannotOpenStore` if the stream is missing or not usable. A stream that may lose acknowledged writes is
    usable only with `unsafe`.
    """
    which, deadline = f"stream {stream.name} in {stream.link.urls}", clock.monotonic() + patience_seconds
    while True:
        try:
            info = await stream.info()
            await stream.newest(TIME)  # a stream with a new leader may not be readable yet
            break
        except store.StoreUnavailable as unavailable:
            if isinstance(unavailable, StreamError) and unavailable.code == NO_STREAM:
                raise store.CannotOpenStore(
                    f"There is no {which}. To create it: tictactoe-server cluster init"
                ) from None
            if clock.monotonic() > deadline:
                raise store.CannotOpenStore(f"Cannot use the {which}: {unavailable}") from None
        await asyncio.sleep(_PAUSE_SECONDS)
    if faults := stream.faults_of(info):
        raise store.CannotOpenStore(f"Stream {stream.name} has unsuitable settings: {' '.join(faults)}")
    risks = risks_of(info)
    if risks and not unsafe:
        raise store.CannotOpenStore(
            f"Stream {stream.name} may lose acknowledged moves. {' '.join(risks)} "
            "To use it nevertheless: --store-unsafe."
        )
    for risk in risks:
        log.warning("store may lose acknowledged writes", stream=stream.name, reason=risk)
    return info


def risks_of(info: StreamInfo) -> list[str]:
    """Return the reasons why a stream may lose acknowledged writes, as sentences."""
    risks, replicas = [], info.config.get("num_replicas", 1)
    if info.config.get("storage") != "file":
        risks.append("It is stored in memory and is lost when the nodes stop.")
    if replicas < REPLICAS:
        nodes = "one node" if replicas == 1 else f"{replicas} nodes"
        risks.append(f"It is stored on only {nodes}; surviving the loss of a node requires {REPLICAS}.")
    if info.config.get("persist_mode") == "async":
        risks.append("persist_mode is async: writes are acknowledged before they are on disk.")
    return risks


_decode: Final = msgspec.json.Decoder(_Answer).decode


def outcome_of(key: str, answer: bytes) -> int | Exception:
    """Return the new revision or the error that JetStream's reply to a write contains."""
    try:
        found = _decode(answer)
    except ValueError as error:
        return _invalid_answer(error)
    if found.error is None:
        return found.seq if found.seq > 0 else _invalid_answer("nothing")
    code = found.error.err_code
    if code == _WRONG_SEQUENCE:
        return store.Conflict(key)
    if code == _WRITE_IN_PROCESS:
        return store.Unsettled("The store is still processing an earlier write of this value.")
    if code in _REFUSALS:
        return store.NotStored(f"The store refused the write: {_REFUSALS[code]}.")
    return store.StoreUnavailable(f"The store reported an error: {found.error.description}.")


def _invalid_answer(what: object) -> store.StoreUnavailable:
    return store.StoreUnavailable(f"The store sent an invalid reply: {what}.")
