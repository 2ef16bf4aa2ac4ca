import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from typing import Any, TypeVar

import pytest
from msgspec import UNSET

from tests.faults.hostile_server import (
    OTHER,
    ROOM,
    TOKEN,
    HostileServer,
    hostile_cluster,
    hostile_server,
    identity,
    lets_in,
    sends_to,
    state,
)
from tests.peer import until
from tests.proxy import Proxy
from tictactoe_client import Backoff, Client, Interrupted, Refused, Room, connect, parse_address
from tictactoe_client.online import connection
from tictactoe_client.online.address import find_server, parse_cluster, parse_servers
from tictactoe_client.online.events import Back, Gone, RoomEvent, RoomMoved, Said, Updated
from tictactoe_client.online.messages import Stream
from tictactoe_protocol.pushes import ChatLine, Closed, Error, LobbyChange, Moved, Ok, Welcome
from tictactoe_protocol.requests import Chat, Hello, Join, Leave, Lobby, Match, Move, Request, Watch

QUICK = Backoff((0.01,), longest=0.02, hold_seconds=20)
OTHER_ROOM = "K7M4P2"

Kind = TypeVar("Kind")


def heard(server: HostileServer, kind: type[Kind]) -> list[Kind]:
    return [request for request in server.heard if isinstance(request, kind)]


async def until_closed(server: HostileServer) -> None:
    """Wait until the client has closed the newest connection to a server."""
    await until(lambda: server.socket is not None and server.socket.close_code == 1000)


async def event_of(events: Stream[RoomEvent], kind: type[Kind]) -> Kind:
    async for event in events:
        if isinstance(event, kind):
            return event
    raise AssertionError(f"no {kind}")


@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        (Join, lambda client: client.rooms.join(ROOM)),
        (Watch, lambda client: client.rooms.watch(ROOM)),
        (Match, lambda client: client.rooms.match("classic")),
    ],
)
async def test_a_redirected_client_enters_the_room_on_the_other_server(kind: type[Request], ask: Any) -> None:
    async with hostile_cluster() as (one, two), connect(one.url, name="ana") as client:
        one.answers[kind] = sends_to(two.url)
        room = await ask(client)
        assert room.state.room == room.code == ROOM
        (hello,) = heard(two, Hello)
        assert hello.token == TOKEN
        assert len(heard(two, kind)) == 1
        assert client.address == parse_address(two.url)
        await until_closed(one)
        await room.sync()


async def test_the_caller_hears_nothing_of_the_way_but_messages_name_it_once() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        one.answers[Join] = sends_to(two.url)
        messages = client.messages()
        room = await client.rooms.join(ROOM)
        async with room.events() as happening:
            assert isinstance(await anext(happening), Updated)
        said = [await anext(messages) for _ in range(5)]
        assert [message.event or type(message.push) for message in said] == [
            Welcome,
            RoomMoved(ROOM, two.url),
            Welcome,
            Ok,
            type(room.state),
        ]


async def test_three_moves_in_a_row_are_followed_and_the_fourth_is_not() -> None:
    async with hostile_cluster(5) as servers, connect(servers[0].url, timeout_seconds=2) as client:
        for here, there in itertools.pairwise(servers):
            here.answers[Join] = sends_to(there.url)
        with pytest.raises(Refused, match="Room K7M4PQ is there now") as refused:
            await client.rooms.join(ROOM)
        assert refused.value.code == "moved"
        assert heard(servers[4], Join) == []
        assert len(heard(servers[0], Join)) == len(heard(servers[3], Join)) > 1, "asked again after a moment"
        del servers[3].answers[Join]
        assert (await client.rooms.join(ROOM)).code == ROOM


async def test_the_first_server_is_retried_if_a_redirect_fails() -> None:
    answers = [sends_to("ws://127.0.0.1:1"), sends_to("ws://127.0.0.1:1"), lets_in(ROOM)]
    async with hostile_server() as server:
        server.servers = (server.url, "ws://127.0.0.1:1")
        server.answers[Join] = lambda request: answers.pop(0)(request)
        async with connect(server.url) as client:
            assert (await client.rooms.join(ROOM)).code == ROOM
            assert (answers, client.address) == ([], parse_address(server.url))


@pytest.mark.parametrize("url", ["ws://127.0.0.1:1", "http2://elsewhere", ""])
async def test_redirects_to_unnamed_addresses_are_not_followed(url: str) -> None:
    async with hostile_cluster() as (one, two), hostile_server() as stranger, connect(one.url) as client:
        for wrong in (url, stranger.url):
            one.answers[Join] = sends_to(wrong)
            messages = client.messages()
            with pytest.raises(Refused) as refused:
                await client.rooms.join(ROOM)
            assert refused.value.code == "moved"
            assert stranger.connections == two.connections == 0
            assert len([await anext(messages), await anext(messages)]) == 2, "the refusal is told as it came"


def test_cluster_addresses_are_normalised_and_never_downgraded_from_tls() -> None:
    named = (
        "wss://one.example/s1/",
        "https://two.example:443/server",
        "ws://three.example",
        "http2://x",
        "WSS://one.example/s1",
    )
    safe = parse_servers(named, parse_address("wss://one.example/s1"))
    assert [server.url for server in safe] == ["wss://one.example/s1", "wss://two.example:443/server"]
    assert find_server("wss://TWO.example/server", safe) == safe[1]
    assert find_server("ws://two.example:443/server", safe) is None
    assert len(parse_servers(named, parse_address("ws://one.example"))) == 3
    assert len(parse_servers((f"ws://host-{number}" for number in range(1000)), parse_address("ws://one"))) == 64


def test_links_use_given_addresses_not_announced_ones() -> None:
    given, members = parse_cluster("front,back"), [parse_address("one"), parse_address("two"), parse_address("back")]
    cluster = given.seen_from(parse_address("front"), members)
    assert [address.host for address in cluster.addresses] == ["front", "back", "one", "two"]
    there = cluster.seen_from(parse_address("two"), members)
    assert [address.host for address in there.addresses] == ["two", "one", "front", "back"]
    assert there.given == given
    assert there.seen_from(parse_address("back"), ()).urls == ("ws://back:8765", "ws://front:8765")


async def test_a_pending_move_follows_its_room_to_another_server() -> None:
    async with hostile_cluster() as (one, two), connect(one.url, reconnect=QUICK) as client:
        room = await client.rooms.join(ROOM)
        one.answers[Move] = lambda _: []
        two.answers[Join] = lets_in(ROOM)
        two.answers[Move] = lambda request: [Ok(id=identity(request)), state(2, (4,))]
        async with room.events() as happening:
            moving = asyncio.create_task(room.move(4))
            await until(lambda: heard(one, Move))
            await one.push(Moved(ROOM, two.url))
            await moving
            await until(lambda: room.moves == (4,))
            assert [type(request) for request in two.heard] == [Hello, Join, Move]
            assert heard(two, Join)[0].seq == 1
            assert heard(two, Move) == heard(one, Move)
            happened = [await anext(happening) for _ in range(5)]
        moves = [type(event).__name__ for event in happened]
        assert moves == ["Updated", "RoomMoved", "Updated", "Happening", "Updated"]
        assert happened[1] == RoomMoved(ROOM, two.url)
        assert client.address == parse_address(two.url)


async def test_a_moved_room_is_followed_without_reconnect_and_while_the_server_stops() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        room = await client.rooms.watch(ROOM)
        await one.push(Moved(ROOM, two.url))
        await one.close(1012, "restart")
        await until(lambda: client.address == parse_address(two.url))
        await room.sync()
        assert (room.is_watching, len(heard(two, Watch))) == (True, 1)
        assert not client.was_cut_off


async def test_a_redirected_request_enters_the_room_before_it_is_repeated() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        room = await client.rooms.join(ROOM)
        one.answers[Chat] = sends_to(two.url)
        two.answers[Chat] = lambda request: [Ok(id=identity(request))]
        await room.chat("hello")
        assert [type(request) for request in two.heard] == [Hello, Join, Chat]


async def test_an_unanswered_chat_is_interrupted_by_a_move_of_the_room() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        room = await client.rooms.join(ROOM)
        one.answers[Chat] = lambda _: []
        asking = asyncio.create_task(room.chat("hello"))
        await until(lambda: heard(one, Chat))
        await one.push(Moved(ROOM, two.url))
        with pytest.raises(Interrupted):
            await asking
        assert heard(two, Chat) == []


async def test_requests_wait_for_a_moving_room_and_late_pushes_are_ignored() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        room = await client.rooms.join(ROOM)
        events = room.events()
        two.answers[Hello] = lambda _: []
        await one.push(Moved(ROOM, two.url))
        await until(lambda: two.heard)
        asking = asyncio.create_task(room.sync())
        line = ChatLine(room=ROOM, from_="bo", seat="O", text="late", at=0, player=OTHER)
        await one.push(state(9, (0, 1)), line, Closed(ROOM, "", "idle", {}))
        await client.ping()
        del two.answers[Hello]
        two.heard.clear()
        await two.push(*two._answer(Hello(id=UNSET)))
        assert await asking == ()
        await event_of(events, RoomMoved)
        assert room.ended is None
        assert room.state.seq == 1
        assert not any(isinstance(event, Said) for event in room._until_now())


async def test_an_older_state_after_a_move_is_not_shown() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        room = await client.rooms.join(ROOM)
        await one.push(state(5, (4, 0)))
        await until(lambda: room.state.seq == 5)
        two.answers[Join] = lets_in(ROOM, seq=3)
        await one.push(Moved(ROOM, two.url))
        await until(lambda: client.address == parse_address(two.url))
        await room.sync()
        assert (room.state.seq, room.state.ply, heard(two, Join)[0].seq) == (5, 2, 5)


async def test_a_room_moved_to_an_unknown_server_is_lost() -> None:
    async with hostile_cluster() as (one, _), connect(one.url) as client:
        room = await client.rooms.join(ROOM)
        async with room.events() as happening:
            await one.push(Moved(ROOM, "ws://127.0.0.1:1"))
            gone = await event_of(happening, Gone)
        assert gone.refused.code == "moved"
        assert gone.refused.message == "Room K7M4PQ is at ws://127.0.0.1:1 now."
        assert room.ended == "closed"


async def test_the_lobby_subscription_follows_to_the_new_server() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        messages = client.messages()
        await client.rooms.lobby(on=True)
        one.answers[Join] = sends_to(two.url)
        await client.rooms.join(ROOM)
        await until(lambda: heard(two, Lobby))
        await two.push(LobbyChange((), (ROOM,)))
        async for message in messages:
            if isinstance(message.push, LobbyChange):
                break


async def test_a_player_in_a_game_is_told_the_other_server_but_not_moved() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        here = await client.rooms.join(ROOM)
        one.answers[Join] = sends_to(two.url, OTHER_ROOM)
        with pytest.raises(Refused, match="is there now") as refused:
            await client.rooms.join(OTHER_ROOM)
        assert (refused.value.code, two.connections) == ("moved", 0)
        assert await here.sync() == ()


async def test_a_watcher_leaves_for_a_room_on_another_server() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        here = await client.rooms.watch(ROOM)
        one.answers[Join], two.answers[Join] = sends_to(two.url, OTHER_ROOM), lets_in(OTHER_ROOM)
        there = await client.rooms.join(OTHER_ROOM)
        await until_closed(one)
        assert (here.ended, [request.room for request in heard(one, Leave)]) == ("left", [ROOM])
        assert await there.sync() == ()
        assert (client.address, two.connections) == (parse_address(two.url), 1)


async def test_stepping_aside_keeps_the_seat_during_a_visit_elsewhere() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        here = await client.rooms.join(ROOM)
        client.rooms.step_aside()
        assert here.ended == "left"
        one.answers[Join] = sends_to(two.url, OTHER_ROOM)
        two.answers[Join] = lets_in(OTHER_ROOM)
        there = await client.rooms.join(OTHER_ROOM)
        await until_closed(one)
        assert heard(one, Leave) == []
        await there.leave()
        two.answers[Join], one.answers[Join] = sends_to(one.url), lets_in(ROOM)
        assert (await client.rooms.join(ROOM)).state.ply == 0
        assert client.address == parse_address(one.url)


async def test_a_refusal_by_the_other_server_changes_nothing() -> None:
    async with hostile_cluster() as (one, two), connect(one.url) as client:
        here = await client.rooms.watch(ROOM)
        one.answers[Join] = sends_to(two.url, OTHER_ROOM)
        two.answers[Join] = lambda request: [Error(id=identity(request), code="room_full", message="Full.")]
        with pytest.raises(Refused, match="Full"):
            await client.rooms.join(OTHER_ROOM)
        await until_closed(two)
        assert await here.sync() == ()
        assert (here.ended, client.address, one.connections) == (None, parse_address(one.url), 1)


@contextlib.asynccontextmanager
async def two_rooms(**options: Any) -> AsyncIterator[tuple[HostileServer, HostileServer, Client, Room, Room]]:
    """Enter two rooms of the first of two servers."""
    async with hostile_cluster() as (one, two), connect(one.url, **options) as client:
        one.answers[Join] = lambda request: lets_in(getattr(request, "room", ""))(request)
        yield one, two, client, await client.rooms.join(ROOM), await client.rooms.join(OTHER_ROOM)


async def test_a_room_that_moves_later_is_requested_until_it_arrives() -> None:
    async with two_rooms() as (one, two, client, first, second):
        answers = [sends_to(one.url, OTHER_ROOM), sends_to(one.url, OTHER_ROOM), lets_in(OTHER_ROOM, seq=2)]
        two.answers[Join] = lambda request: (
            lets_in(ROOM)(request) if getattr(request, "room", "") == ROOM else answers.pop(0)(request)
        )
        async with second.events() as happening:
            await one.push(Moved(ROOM, two.url))
            assert await event_of(happening, RoomMoved) == RoomMoved(OTHER_ROOM, two.url)
        for room in (first, second):
            await room.sync()
        assert (client.address, two.connections, answers) == (parse_address(two.url), 1, [])


async def test_if_two_rooms_move_to_different_servers_only_the_first_is_kept() -> None:
    async with two_rooms(reconnect=Backoff(hold_seconds=0.5)) as (one, two, client, first, second):
        two.answers[Join] = lambda request: (
            lets_in(ROOM)(request) if getattr(request, "room", "") == ROOM else sends_to(one.url, OTHER_ROOM)(request)
        )
        async with second.events() as happening:
            await one.push(Moved(ROOM, two.url))
            gone = await event_of(happening, Gone)
        assert (gone.refused.code, second.ended) == ("moved", "closed")
        assert await first.sync() == ()
        assert client.address == parse_address(two.url)


async def test_when_a_server_is_lost_the_others_that_it_named_are_tried() -> None:
    async with hostile_cluster() as (one, two), Proxy(int(one.url.rpartition(":")[2])) as front:
        never = Backoff((3600,), hold_seconds=3600, steady_seconds=0)
        async with connect(front.url, reconnect=never) as client:
            room = await client.rooms.join(ROOM)
            assert client.cluster.urls == (front.url, one.url, two.url)
            one.servers = (one.url, "ws://127.0.0.1:1")
            front.lose()
            await room.sync()
            assert client.address == parse_address(one.url)
            assert heard(one, Hello)[-1].token == TOKEN
            assert list(client.cluster.urls) == [one.url, "ws://127.0.0.1:1", two.url, front.url]
            assert client.cluster.given.first == parse_address(front.url)


async def test_a_room_that_is_elsewhere_when_one_comes_back_is_followed_there() -> None:
    async with hostile_cluster(3) as (one, two, three), connect(one.url, reconnect=QUICK) as client:
        room = await client.rooms.join(ROOM)
        two.answers[Join], one.answers[Join] = sends_to(three.url), sends_to(three.url)
        async with room.events() as happening:
            assert one.socket is not None
            one.socket.transport.abort()
            await event_of(happening, Back)
            assert await event_of(happening, RoomMoved) == RoomMoved(ROOM, three.url)
        await room.sync()
        assert client.address == parse_address(three.url)


async def test_a_lost_connection_during_a_silent_redirect_is_recovered() -> None:
    async with hostile_cluster() as (one, two), connect(one.url, reconnect=QUICK, timeout_seconds=2) as client:
        room = await client.rooms.join(ROOM)
        two.answers[Hello] = lambda _: []
        await one.push(Moved(ROOM, two.url))
        await until(lambda: two.heard)
        assert one.socket is not None
        async with room.events() as happening:
            one.socket.transport.abort()
            await event_of(happening, Back)
        await room.sync()
        assert client.address == parse_address(one.url)


async def test_a_silent_server_is_left_within_five_seconds_if_there_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("CLUSTER_PING_INTERVAL_SECONDS", "CLUSTER_PING_TIMEOUT_SECONDS", "CLOSE_TIMEOUT_SECONDS")
    assert sum(getattr(connection, name) for name in names) <= 5
    for name in names:
        monkeypatch.setattr(connection, name, getattr(connection, name) / 40)
    async with (
        hostile_cluster() as (one, _),
        Proxy(int(one.url.rpartition(":")[2])) as front,
        connect(front.url, reconnect=Backoff(steady_seconds=0)) as client,
    ):
        front.down.is_swallowing = True
        await until(lambda: client.address != parse_address(front.url))
