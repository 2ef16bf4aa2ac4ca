"""The stream that keeps everything, as it is read: one key's newest message, or all there are behind a sequence.

The keys are subjects under `PREFIX`, and each message is sent on under `FEED` once it is kept; the sequence of a key's
newest message is its revision. Any node that has a copy answers for many messages at once, and may be behind; the
leader answers for one, and has the last word.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import AsyncIterator, Mapping
from typing import Final, NamedTuple

import msgspec

from tictactoe_server.stores.jetstream.answers import NO_MESSAGE, StreamError, unknown_of
from tictactoe_server.stores.jetstream.link import Link, LinkError, Message
from tictactoe_server.stores.store import StoreUnavailable

STREAM: Final = "KV_rooms"
PREFIX: Final = "$KV.rooms."

_HEADERS: Final = re.compile(rb"\r\nNats-Subject: *\$KV\.rooms\.(\S+)\r\n(?:.*\r\n)*?Nats-Sequence: *(\d+)\r\n")
"""Of a message of the stream that is sent on or read: its key, and its sequence."""

FEED: Final = "ev.rooms."
INFO_SUBJECT: Final = f"$JS.API.STREAM.INFO.{STREAM}"
READ_SUBJECT: Final = f"$JS.API.STREAM.MSG.GET.{STREAM}"
DELETE_SUBJECT: Final = f"$JS.API.STREAM.MSG.DELETE.{STREAM}"
READ_MANY_SUBJECT: Final = f"$JS.API.DIRECT.GET.{STREAM}"
TOMBSTONE: Final[Mapping[str, str]] = {"KV-Operation": "DEL", "Nats-TTL": "1s"}
"""The headers of a message that says that its key is gone; a second later it goes itself."""

EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"
"""The header of a compare-and-set."""

_AT_ONCE: Final = 1_000


class Entry(NamedTuple):
    """A message of the stream: its key, sequence and document, None where the key is gone."""

    key: str
    sequence: int
    document: bytes | None


class StreamConfig(msgspec.Struct, frozen=True):
    """How a stream keeps its messages, as far as it matters here."""

    subjects: list[str] = []
    storage: str = ""
    num_replicas: int = 1
    max_msgs_per_subject: int = -1
    discard: str = "old"
    max_age: int = 0
    allow_direct: bool = False
    allow_msg_ttl: bool = False
    allow_atomic: bool = False
    persist_mode: str = ""
    republish: dict[str, str | bool] | None = None


class StreamState(msgspec.Struct, frozen=True):
    """What a stream holds."""

    messages: int = 0
    bytes: int = 0
    last_seq: int = 0


class Peer(msgspec.Struct, frozen=True):
    """A node that keeps a copy and is not the leader."""

    name: str
    current: bool = False
    offline: bool = False
    lag: int = 0


class Copies(msgspec.Struct, frozen=True):
    """Which nodes keep the stream; `leader` is empty while there is none."""

    leader: str = ""
    replicas: list[Peer] = []


class StreamInfo(msgspec.Struct, frozen=True):
    """What the leader says of the stream, or why it does not."""

    config: StreamConfig = StreamConfig()
    state: StreamState = StreamState()
    cluster: Copies = Copies()
    created: str = ""
    error: StreamError | None = None


class _Message(msgspec.Struct, frozen=True):
    subject: str
    seq: int
    hdrs: str = ""
    data: str = ""


class _Found(msgspec.Struct, frozen=True):
    message: _Message | None = None
    error: StreamError | None = None


_encode: Final = msgspec.json.Encoder().encode
_decode_info: Final = msgspec.json.Decoder(StreamInfo).decode
_decode_found: Final = msgspec.json.Decoder(_Found).decode


class Stream:
    """Reads the stream; every method may raise `StoreUnavailable`."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def info(self) -> StreamInfo:
        """Return what the leader says of the stream; `error` is not None where there is none."""
        try:
            return _decode_info(await self._link.request(INFO_SUBJECT))
        except LinkError as error:
            raise unknown_of(error) from error
        except msgspec.MsgspecError as error:
            raise StoreUnavailable(f"What the store says of its stream is not understood: {error}.") from error

    async def last_sequence(self) -> int:
        """Return the sequence of the newest message, by the leader."""
        info = await self.info()
        if info.error is not None:
            raise StoreUnavailable(f"The store says: {info.error.description}.")
        return info.state.last_seq

    async def newest(self, key: str) -> Entry | None:
        """Return the newest message of a key by the leader, also a tombstone, or None where there is none."""
        return await self._ask({"last_by_subj": PREFIX + key})

    async def next(self, keys: str, after: int) -> Entry | None:
        """Return the first message behind a sequence of keys such as ``room.>``, by the leader, or None."""
        return await self._ask({"seq": after + 1, "next_by_subj": PREFIX + keys})

    async def walk(self, keys: str, after: int, upto: int) -> AsyncIterator[list[Entry]]:
        """Yield all messages of keys such as ``room.>`` behind one sequence and up to another, some at a time.

        A key that is written meanwhile may be missing: its message is behind `upto` then.
        """
        while after < upto:
            question = _encode({"seq": after + 1, "next_by_subj": PREFIX + keys, "batch": _AT_ONCE})
            try:
                found = [_entry_of(message) for message in await self._link.request_many(READ_MANY_SUBJECT, question)]
            except LinkError as error:
                raise unknown_of(error) from error
            if not found:  # of all copies, or of one that is behind
                one = await self.next(keys, after)
                if one is None:
                    return
                found = [one]
            yield [entry for entry in found if entry.sequence <= upto]
            after = found[-1].sequence

    async def _ask(self, question: dict[str, str | int]) -> Entry | None:
        try:
            found = _decode_found(await self._link.request(READ_SUBJECT, _encode(question)))
            if found.message is not None:
                return _entry_of_answer(found.message)
        except LinkError as error:
            raise unknown_of(error) from error
        except (msgspec.MsgspecError, binascii.Error) as error:
            raise StoreUnavailable(f"The store's answer is none: {error}.") from error
        if found.error is not None and found.error.err_code == NO_MESSAGE:
            return None
        raise StoreUnavailable(f"The store says: {'nothing' if found.error is None else found.error.description}.")


def heard(message: Message) -> Entry | None:
    """Return the message of the stream that was sent on to the feed, or None where it is something else."""
    found = _HEADERS.search(message.lines)
    if found is None:
        return None
    document = None if b"KV-Operation:" in message.lines else message.data
    return Entry(found[1].decode(), int(found[2]), document)


def _entry_of(message: Message) -> Entry:
    """Return one of many messages that were read; raises `StoreUnavailable`."""
    entry = heard(message)
    if entry is None:
        raise StoreUnavailable("The store's answer is none: a message without a sequence.")
    return entry


def _entry_of_answer(message: _Message) -> Entry:
    is_gone = b"KV-Operation:" in base64.b64decode(message.hdrs)
    document = None if is_gone else base64.b64decode(message.data)
    return Entry(message.subject[len(PREFIX) :], message.seq, document)
