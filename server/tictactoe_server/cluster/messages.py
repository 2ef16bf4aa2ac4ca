"""What the servers of a cluster say to each other: small arrays in MessagePack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
import structlog
from msgspec import Struct

from tictactoe_engine import InvalidRules
from tictactoe_protocol.terms import ClockFields, RulesFields
from tictactoe_server.cluster.jetstream.link import Link, Message
from tictactoe_server.storage.store import StoreUnavailable

HEARTBEATS: Final = "cluster.alive"
NEWS: Final = "cluster.news"
CHANGED: Final = "cluster.changed"
HERE: Final = "cluster.here."  # NATS returns what is sent there where the server is gone
NOT_THERE: Final = "cluster.not."
PAGES: Final = "cluster.page."
BOARDS: Final = "cluster.boards."
HANDED_OVER: Final = "cluster.gave."
MATCHES: Final = "cluster.match."
ORDERS: Final = "cluster.order."
REACHED: Final = "cluster.reached."
"""The subjects: the first three are for all, behind the others stands the id of the server for which they are."""

Said = TypeVar("Said")

log: Final = structlog.get_logger(__name__)


class Heartbeat(Struct, frozen=True, array_like=True):
    """That a server lives, to all: its `name` for people, the `url` at which it is reached, its served time in ms, the
    ids of the living servers it knows of, itself included, and the number of the last `News` that it has sent.

    One that `is_leaving` gives all its rooms away; one that `is_draining` lets no new games begin.
    """

    sender: str
    name: str
    url: str
    time: int
    living: list[str]
    number: int
    is_leaving: bool = False
    is_draining: bool = False


class Outline(Struct, frozen=True, array_like=True, gc=False):
    """What others need to know of a room: its `document` without the moves, and how many there are.

    It has been served there `since` that moment (ms of served time): of two servers that say so of one room the one
    that took it later keeps it. `source` is what limits know the address by from which it was opened.
    """

    code: str
    since: int
    document: bytes
    ply: int = 0
    watchers: int = 0
    owner: str = ""
    source: str = ""


class News(Struct, frozen=True, array_like=True):
    """Rooms of the server `sender` that are new, have changed or have ended, to all: its `number`th news, from 1."""

    sender: str
    number: int
    outlines: list[Outline]
    ended: list[str] = []


class Page(Struct, frozen=True, array_like=True):
    """Some of a server's rooms in the order of their codes, as of its `News` of that number; more come `after` one.

    With `ended` it is what was missed: those that the last news named, and which of these it has no more.
    """

    number: int
    outlines: list[Outline]
    after: str = ""
    ended: list[str] | None = None


class MatchRequest(Struct, frozen=True, array_like=True):
    """A player at the server `sender` asks for a match of this kind.

    Attributes:
        code: Code for the room that the sender would open.
        but: Ids of players with whom the player must not be matched.
    """

    sender: str
    player: str
    name: str
    rules: RulesFields
    clock: ClockFields | None
    code: str
    rated: bool = False
    but: tuple[str, ...] = ()


class Found(Struct, frozen=True, array_like=True):
    """The room for one who asked for a match, and the server that has it; empty where that is to be opened there."""

    code: str
    server: str = ""


encode: Final = msgspec.msgpack.Encoder().encode


async def ask(link: Link, subject: str, question: bytes, kind: type[Said], seconds: float | None = None) -> Said:
    """Send a question and return the decoded answer; raises `StoreUnavailable`."""
    try:
        async with asyncio.timeout(seconds):
            return msgspec.msgpack.decode(await link.request(subject, question), type=kind)
    except TimeoutError:
        raise StoreUnavailable(f"no answer within {seconds} s") from None
    except msgspec.DecodeError as error:
        raise StoreUnavailable(f"the answer cannot be read: {error}") from error


async def listen(link: Link, subject: str, kind: type[Said], take: Callable[[Said], object]) -> None:
    """Pass messages on a subject to `take`, and send back its result; unreadable messages are logged."""

    def hear(message: Message) -> None:
        try:
            answer = take(msgspec.msgpack.decode(message.data, type=kind))
        except (msgspec.DecodeError, InvalidRules) as error:
            log.error("what another server says cannot be read", subject=subject, reason=str(error))
            return
        if answer is not None:
            link.publish(message.reply, encode(answer))

    await link.subscribe(subject, hear)
