"""How a server handles single messages of other servers; whole clusters are in `test_cluster`."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from nats.aio.client import Client

from tests.limits import uncounted
from tests.peer import until
from tests.server.tables import ANA, CODE
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.terms import RulesFields
from tictactoe_server.core.core import Core
from tictactoe_server.core.live_room import closing_notice
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.features.cluster import cluster
from tictactoe_server.features.cluster.cluster import Matching
from tictactoe_server.features.cluster.members import Members
from tictactoe_server.features.cluster.messages import Found, Heartbeat, MatchRequest, News, Outline, Page, encode
from tictactoe_server.features.cluster.rooms import OtherRooms, OwnRooms
from tictactoe_server.features.jetstream.access import Access
from tictactoe_server.features.jetstream.link import Link, Message
from tictactoe_server.records.documents import RoomDocuments
from tictactoe_server.rooms.seating import open_room
from tictactoe_server.server import kept_by
from tictactoe_server.storage.memory import MemoryStore
from tictactoe_server.storage.store import StoreUnavailable

ONE, TWO = "one", "two"
OTHER_CODES = ["AAAA22", "BBBB33", "CCCC44"]


class Wire(Link):
    """A link without a node.

    Attributes:
        asked: The answers that are due; the test sets them.
        questions: The payloads of the requests.
        published: The payloads of the published messages.
    """

    def __init__(self) -> None:
        super().__init__(Access("nats://127.0.0.1:1", None, None), 1)
        self.asked: list[asyncio.Future[bytes]] = []
        self.questions: list[bytes] = []
        self.published: list[bytes] = []

    @property
    def is_connected(self) -> bool:
        return True

    def publish(self, subject: str, payload: bytes = b"", *rest: Any, **more: Any) -> bool:
        self.published.append(payload)
        return True

    async def request(self, subject: str, payload: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
        self.questions.append(payload)
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]

    async def answer(self, page: Page | Exception) -> None:
        await until(lambda: bool(self.asked))
        question = self.asked.pop(0)
        if isinstance(page, Page):
            question.set_result(encode(page))
        else:
            question.set_exception(page)


class OneServer:
    """The parts of a server that know the others; the test speaks for the other servers."""

    def __init__(self) -> None:
        store = MemoryStore(kept_by())
        self.wire = wire = Wire()
        self.core = core = Core(store, ServedTime(store, time.monotonic_ns), uncounted(), time.monotonic_ns)
        self.members = Members(wire, "here", "ws://here", core.time)
        self.own = OwnRooms(wire, self.members, core)
        self.others = OtherRooms(wire, self.members, self.own, core)
        self.matching = Matching(wire, self.members, self.others, core)

    @property
    def known(self) -> dict[str, str]:
        """The codes of other servers' rooms with their servers."""
        return {code: other.server for code, other in self.others.rooms.items()}

    def hear(self, sender: str, number: int, *, is_leaving: bool = False) -> None:
        """Receive a heartbeat of a server that has sent this many messages."""
        self.members.on_heartbeat(Heartbeat(sender, sender, f"ws://{sender}", 0, [], number, is_leaving))
        self.others.follow(sender, number)

    async def meet(self, sender: str, *codes: str) -> None:
        """Introduce a server that had these rooms at its first news."""
        self.hear(sender, 1)
        await self.wire.answer(Page(1, [outline(code) for code in codes]))
        await self.others.until_read()


def outline(code: str, since: int = 0) -> Outline:
    room = open_room(code, Rules(), ANA, 0)
    return Outline(code, since, RoomDocuments().encode(room, without_moves=True))


@pytest.fixture
async def here() -> AsyncIterator[OneServer]:
    server = OneServer()
    yield server
    server.core.scheduler.stop()
    await server.wire.close()


async def test_a_failed_reading_is_repeated_despite_newer_messages(here: OneServer) -> None:
    await here.meet(ONE)
    here.others.on_news(News(ONE, 3, []))
    await until(lambda: bool(here.wire.asked))
    here.others.on_news(News(ONE, 4, [outline(OTHER_CODES[1])]))
    await here.wire.answer(StoreUnavailable("not now"))
    await until(lambda: not here.others._reading)
    here.hear(ONE, 4)
    await here.wire.answer(Page(4, [outline(code) for code in OTHER_CODES[:2]]))
    await here.others.until_read()
    assert here.known == dict.fromkeys(OTHER_CODES[:2], ONE)
    here.hear(ONE, 4)
    assert not here.others._reading


async def test_missed_news_is_requested_by_room(here: OneServer) -> None:
    await here.meet(ONE, *OTHER_CODES[:2])
    here.others.on_news(News(ONE, 4, []))
    await here.wire.answer(Page(4, [outline(OTHER_CODES[2])], OTHER_CODES[2], []))
    await here.wire.answer(Page(4, [], "", [OTHER_CODES[1]]))
    await here.others.until_read()
    assert here.wire.questions[1:] == [b" 1", f"{OTHER_CODES[2]} 1".encode()]
    assert here.known == dict.fromkeys([OTHER_CODES[0], OTHER_CODES[2]], ONE)


async def test_a_page_has_only_the_rooms_that_changed_since_the_requested_news(here: OneServer) -> None:
    def page(question: bytes) -> tuple[list[str], list[str] | None]:
        here.own.answer_page(Message(Client(), "", "asker", question))
        page = msgspec.msgpack.decode(here.wire.published[-1], type=Page)
        return [outline.code for outline in page.outlines], page.ended

    async def announced(number: int) -> None:
        await until(lambda: here.members.number == number)

    for number, code in enumerate(OTHER_CODES, 1):
        assert here.core.rooms.adopt(open_room(code, Rules(), ANA, 0), 1)
        await announced(number)
    here.core.rooms.remove(here.core.rooms.by_code[OTHER_CODES[0]], closing_notice(OTHER_CODES[0], "idle"))
    await announced(4)
    assert page(b" 2") == ([OTHER_CODES[2]], [OTHER_CODES[0]])
    assert page(f"{OTHER_CODES[0]} 2".encode()) == ([OTHER_CODES[2]], [])
    assert page(b" 4") == ([], [])
    assert page(b"") == (OTHER_CODES[1:], None)


async def test_news_that_are_kept_no_longer_while_they_are_read_are_read_again(here: OneServer) -> None:
    await here.meet(ONE, OTHER_CODES[0])
    here.hear(ONE, 4)
    await here.wire.answer(Page(4, [outline(OTHER_CODES[1])], OTHER_CODES[1], []))
    await here.wire.answer(Page(5, [outline(OTHER_CODES[2])]))
    await until(lambda: not here.others._reading)
    here.hear(ONE, 5)
    await here.wire.answer(Page(5, [outline(code) for code in OTHER_CODES[1:]]))
    await here.others.until_read()
    assert here.known == dict.fromkeys(OTHER_CODES[1:], ONE)


async def test_news_during_a_read_overrides_the_result(here: OneServer) -> None:
    here.hear(ONE, 7)
    await until(lambda: bool(here.wire.asked))
    here.others.on_news(News(ONE, 8, [], [CODE]))
    await here.wire.answer(Page(7, [outline(CODE)]))
    await here.others.until_read()
    assert here.known == {}


async def test_all_rooms_are_read_of_a_server_that_was_gone_while_it_was_read(here: OneServer) -> None:
    await here.meet(ONE, *OTHER_CODES[:2])
    here.hear(ONE, 2)
    await until(lambda: bool(here.wire.asked))
    here.members.lose(ONE)
    here.hear(ONE, 2)
    await here.wire.answer(Page(2, [], "", []))
    await here.wire.answer(Page(2, [outline(OTHER_CODES[2])]))
    await here.others.until_read()
    assert here.wire.questions[1:] == [b" 1", b""]
    assert here.known == {OTHER_CODES[2]: ONE}


async def test_no_room_is_taken_before_all_rooms_are_read(here: OneServer, monkeypatch: pytest.MonkeyPatch) -> None:
    here.hear(ONE, 1)
    reading = asyncio.ensure_future(here.others.until_read())
    await here.wire.answer(StoreUnavailable("not now"))
    await asyncio.wait({reading}, timeout=0.2)
    assert not reading.done()
    here.hear(ONE, 1)
    await here.wire.answer(Page(1, [outline(CODE)]))
    await reading
    assert here.known == {CODE: ONE}
    monkeypatch.setattr("tictactoe_server.features.cluster.rooms.READING_SECONDS", 0.05)
    here.hear(TWO, 1)
    with pytest.raises(StoreUnavailable):
        await here.others.until_read()


async def test_news_of_a_moved_rooms_end_at_its_old_server_is_ignored(here: OneServer) -> None:
    await here.meet(ONE, CODE)
    await here.meet(TWO)
    here.others.on_news(News(TWO, 2, [outline(CODE, since=1)]))
    here.others.on_news(News(ONE, 2, [], [CODE]))
    assert here.known == {CODE: TWO}
    here.others.on_news(News(TWO, 3, [], [CODE]))
    assert here.known == {}


@pytest.mark.parametrize("words", [[(ONE, 5), (TWO, 9)], [(TWO, 9), (ONE, 5)]])
async def test_the_newer_of_two_claims_to_a_room_wins(here: OneServer, words: list[tuple[str, int]]) -> None:
    await here.meet(ONE)
    await here.meet(TWO)
    for server, since in words:
        here.others.on_news(News(server, 2, [outline(CODE, since)]))
    assert here.known == {CODE: TWO}


async def test_rooms_of_a_lost_server_are_delisted(here: OneServer) -> None:
    await here.meet(ONE, CODE)
    await here.meet(TWO, OTHER_CODES[0])
    assert {one.room.code for one in here.core.lobby.newest()} == {CODE, OTHER_CODES[0]}
    here.members.lose(ONE)
    here.others.drop_unclaimed()
    assert here.known == {OTHER_CODES[0]: TWO}
    assert {one.room.code for one in here.core.lobby.newest()} == {OTHER_CODES[0]}


async def test_a_reserved_room_that_never_opens_is_dropped(here: OneServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "RESERVED_SECONDS", 0.05)
    await here.meet(ONE)

    def find(player: str, code: str) -> str:
        rules = RulesFields.of(PRESETS["classic"])
        return here.matching.find(MatchRequest(ONE, player, player, rules, None, code)).code

    assert [find("1", CODE), find("2", OTHER_CODES[0])] == [CODE, CODE]
    await until(lambda: here.known == {})
    assert find("3", OTHER_CODES[1]) == OTHER_CODES[1]


async def test_of_servers_that_all_leave_none_waits_for_another(here: OneServer) -> None:
    await here.meet(ONE)
    here.members.leave()
    assert here.members.chosen_for(CODE) == ONE
    here.hear(ONE, 1, is_leaving=True)
    assert here.members.chosen_for(CODE) == here.members.id
    assert here.members.urls == ("ws://here",)


async def test_a_match_in_a_just_closed_room_is_repeated(here: OneServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code must not be reused for a new room, whose `seq` would be lower than the players have seen."""
    await here.meet(ONE)
    monkeypatch.setattr(here.members, "chosen_for", lambda key: ONE)
    finding = asyncio.create_task(here.matching.find_match((Rules(), None, ""), ANA))
    for found in (Found(CODE, here.members.id), Found(OTHER_CODES[0])):
        await until(lambda: bool(here.wire.asked))
        here.wire.asked.pop(0).set_result(encode(found))
    assert await finding == (OTHER_CODES[0], None)
