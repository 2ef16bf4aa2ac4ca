"""Messages between the servers of a cluster: small arrays in MessagePack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
import structlog
from msgspec import Struct

from tictactoe_engine import InvalidRules
from tictactoe_protocol.terms import ClockFields, RulesFields
from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.rooms.room import CASUAL, Purpose
from tictactoe_server.storage.store import StoreUnavailable

HEARTBEATS: Final = "cluster.alive"
NEWS: Final = "cluster.news"
CHANGED: Final = "cluster.changed"
HERE: Final = "cluster.here."  # NATS returns a message to a dead server as an error
NOT_THERE: Final = "cluster.not."
PAGES: Final = "cluster.page."
BOARDS: Final = "cluster.boards."
HANDED_OVER: Final = "cluster.gave."
MATCHES: Final = "cluster.match."
ORDERS: Final = "cluster.order."
REACHED: Final = "cluster.reached."
"""Subjects: the first three are broadcasts, the others end with the id of the receiving server."""

Said = TypeVar("Said")

log: Final = structlog.get_logger(__name__)


class Heartbeat(Struct, frozen=True, array_like=True):
    """Broadcast a few times a second.

    Attributes:
        time: The served time in ms.
        living: Ids of the running servers that the sender knows, including its own.
        number: The number of the last `News` that was sent.
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
    """A room as other servers know it; the `document` is without the moves.

    Attributes:
        since: When its server took the room (ms of served time); of two servers, the later one keeps it.
        source: The key under which limits count the address of the opener.
    """

    code: str
    since: int
    document: bytes
    ply: int = 0
    watchers: int = 0
    owner: str = ""
    source: str = ""


class News(Struct, frozen=True, array_like=True):
    """Broadcast of new, changed and ended rooms of the server `sender`, numbered from 1."""

    sender: str
    number: int
    outlines: list[Outline]
    ended: list[str] = []


class Page(Struct, frozen=True, array_like=True):
    """A page of a server's rooms by code, as of its `News` with that `number`.

    Attributes:
        after: The code after which the next page begins, "" on the last page.
        ended: Closed rooms if the page has only missed changes; None if it has all rooms.
    """

    number: int
    outlines: list[Outline]
    after: str = ""
    ended: list[str] | None = None


class MatchRequest(Struct, frozen=True, array_like=True):
    """A player at the server `sender` asks for a match of this kind.

    Attributes:
        code: Code for the room that the sender would open.
        but: Ids of players to exclude.
    """

    sender: str
    player: str
    name: str
    rules: RulesFields
    clock: ClockFields | None
    code: str
    purpose: Purpose = CASUAL
    but: tuple[str, ...] = ()


class Found(Struct, frozen=True, array_like=True):
    """The room of a match, and the id of its server; without a server, the sender opens the room."""

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
    except ValueError as error:
        raise StoreUnavailable(f"the answer cannot be read: {error}") from error


async def listen(link: Link, subject: str, kind: type[Said], take: Callable[[Said], object]) -> None:
    """Pass messages on a subject to `take`, and send back its result; unreadable messages are logged."""

    def on_message(message: Message) -> None:
        try:
            answer = take(msgspec.msgpack.decode(message.data, type=kind))
        except (msgspec.DecodeError, UnicodeError, InvalidRules) as error:
            log.error("what another server says cannot be read", subject=subject, reason=str(error))
            return
        if answer is not None:
            link.publish(message.reply, encode(answer))

    await link.subscribe(subject, on_message)
