"""The messages between the servers of a cluster: arrays in MessagePack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
import structlog
from msgspec import Struct, field

from tictactoe_engine import InvalidRules
from tictactoe_protocol.terms import ClockFields, RulesFields
from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.rooms.room import CASUAL, Purpose
from tictactoe_server.storage.store import StoreUnavailable

HEARTBEATS: Final = "cluster.alive"
NEWS: Final = "cluster.news"
CHANGED: Final = "cluster.changed"
HERE: Final = "cluster.here."  # NATS answers a message to a dead server with an error
NOT_THERE: Final = "cluster.not."
PAGES: Final = "cluster.page."
BOARDS: Final = "cluster.boards."
HANDED_OVER: Final = "cluster.gave."
MATCHES: Final = "cluster.match."
ORDERS: Final = "cluster.order."
REACHED: Final = "cluster.reached."
"""The subjects. The first three are for broadcasts; the id of the receiving server follows the others."""

Said = TypeVar("Said")

log: Final = structlog.get_logger(__name__)


class Heartbeat(Struct, frozen=True, array_like=True):
    """A sign of life, which every server broadcasts a few times a second.

    Attributes:
        name: The server's name for people.
        url: The server's address for players.
        time: The served time in ms.
        living: The ids of the live servers that the sender knows, including its own.
        number: The number of the last `News` from the sender.
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
    """What a server announces about one of its rooms.

    Attributes:
        since: When the server opened or took over the room (ms of served time). If two servers own a room, the one
            with the later time keeps it.
        document: The encoded room without its moves.
        source: The key under which rate limits count the address of the room's opener.
    """

    code: str
    since: int
    document: bytes
    ply: int = 0
    watchers: int = 0
    owner: str = ""
    source: str = ""


class News(Struct, frozen=True, array_like=True):
    """A broadcast of the rooms that are new, have changed or have ended on the server with the id `sender`.

    Attributes:
        number: The number of the broadcast among those from this server, from 1.
        ended: The codes of the rooms that have ended.
    """

    sender: str
    number: int
    outlines: list[Outline]
    ended: list[str] = []


class Page(Struct, frozen=True, array_like=True):
    """A page of a server's list of rooms, sorted by code.

    Attributes:
        number: The number of the last `News` that the list includes.
        after: The code after which the next page begins, or "" on the last page.
        ended: The codes of rooms that have ended, if the list consists of changes since an earlier `News`. None if it
            consists of all rooms.
    """

    number: int
    outlines: list[Outline]
    after: str = ""
    ended: list[str] | None = None


class MatchRequest(Struct, frozen=True, array_like=True):
    """A request to find an opponent.

    Attributes:
        sender: The id of the server that the player is connected to.
        code: The code of the room that the sender opens if no opponent is waiting.
        excluded: The ids of players who must not become the opponent.
    """

    sender: str
    player: str
    name: str
    rules: RulesFields
    clock: ClockFields | None
    code: str
    purpose: Purpose = CASUAL
    excluded: tuple[str, ...] = field(default=(), name="but")


class Found(Struct, frozen=True, array_like=True):
    """The reply to a `MatchRequest`.

    Attributes:
        code: The code of the room where the player meets the opponent.
        server: The id of the server that has the room, or "" if the sender of the request must open it.
    """

    code: str
    server: str = ""


encode: Final = msgspec.msgpack.Encoder().encode


async def ask(link: Link, subject: str, question: bytes, kind: type[Said], seconds: float | None = None) -> Said:
    """Send an encoded request and return the decoded reply; may raise `StoreUnavailable`."""
    try:
        async with asyncio.timeout(seconds):
            return msgspec.msgpack.decode(await link.request(subject, question), type=kind)
    except TimeoutError:
        raise StoreUnavailable(f"no answer within {seconds} s") from None
    except ValueError as error:
        raise StoreUnavailable(f"invalid answer: {error}") from error


async def listen(link: Link, subject: str, kind: type[Said], take: Callable[[Said], object]) -> None:
    """Call `take` with every decoded message on `subject`, and reply with its result unless that is None.

    Messages that cannot be decoded are logged.
    """

    def on_message(message: Message) -> None:
        try:
            answer = take(msgspec.msgpack.decode(message.data, type=kind))
        except (msgspec.DecodeError, UnicodeError, InvalidRules) as error:
            log.error("invalid message from another server", subject=subject, reason=str(error))
            return
        if answer is not None:
            link.publish(message.reply, encode(answer))

    await link.subscribe(subject, on_message)
