"""Messages of a server that sends more than is read: few are stored, and only the newest state."""

import asyncio
from typing import cast

from msgspec.structs import replace

from tests.faults.hostile_server import OTHER, ROOM, hostile_server, make_welcome, state
from tictactoe_client import connect
from tictactoe_client.online.messages import Message, Messages, Subscribers
from tictactoe_protocol.pushes import ChatLine, RoomState

OTHER_ROOM = "T2XW9C"
WELCOME = Message("", make_welcome())


def shown(seq: int, room: str = ROOM) -> Message:
    return Message("{}", replace(state(seq), room=room))


def said(number: int, length: int = 10) -> Message:
    line = ChatLine(room=ROOM, from_="bo", seat=None, text=f"{number}", at=0, player=OTHER)
    return Message("x" * length, line)


async def read(messages: Messages) -> list[Message]:
    """Return all messages that are available at once, without the welcome."""
    found = []
    while messages._items:
        found.append(await anext(messages))
    return found[1:]


async def test_a_fast_reader_gets_every_state() -> None:
    messages = Messages(WELCOME)
    for seq in range(50):
        messages.put(shown(seq))
    assert [cast(RoomState, message.push).seq for message in await read(messages)] == list(range(50))


async def test_a_lagging_reader_gets_the_newest_states_and_all_chat() -> None:
    messages = Messages(WELCOME)
    for number in range(1_000):
        messages.put(shown(number))
        messages.put(shown(number, OTHER_ROOM))
        if number % 10 == 0:
            messages.put(said(number))
    found = [message.push for message in await read(messages)]
    words = [push.text for push in found if isinstance(push, ChatLine)]
    assert words == [str(number) for number in range(0, 1_000, 10)]
    states = [push for push in found if isinstance(push, RoomState)]
    assert len(states) < 70
    assert [(push.room, push.seq) for push in states][-2:] == [(ROOM, 999), (OTHER_ROOM, 999)]
    assert [push.seq for push in states if push.room == ROOM] == sorted(
        push.seq for push in states if push.room == ROOM
    )


async def is_full(audience: Subscribers[Message]) -> bool:
    """Return whether the client reads nothing more from the server for now."""
    try:
        async with asyncio.timeout(0):
            await audience.until_read()
    except TimeoutError:
        return True
    return False


async def test_while_much_is_unread_nothing_more_is_read_from_the_server() -> None:
    audience, messages, count = Subscribers[Message](), Messages(WELCOME), 0
    audience.add(messages)
    while not await is_full(audience):
        messages.put(said(count, 10_000))
        count += 1
    assert 100 < count < 300
    await anext(messages)
    await anext(messages)
    assert not await is_full(audience)
    assert messages._items


async def test_an_abandoned_stream_causes_no_backpressure() -> None:
    audience, messages = Subscribers[Message](), Messages(WELCOME)
    audience.add(messages)
    while not await is_full(audience):
        messages.put(said(0, 100_000))
    waiting = asyncio.ensure_future(audience.until_read())
    await asyncio.sleep(0)
    assert not waiting.done()
    del messages
    await waiting


async def test_states_of_unrequested_rooms_are_dropped() -> None:
    codes = [f"K{number}".replace("0", "Z").replace("1", "Z") for number in range(23456, 23556)]
    async with hostile_server() as hostile, connect(hostile.url) as client:
        await client.rooms.join(ROOM)
        await hostile.push(*(replace(state(), room=code) for code in codes))
        await client.ping()
        assert client.rooms.get(ROOM).has_state
        assert not any(client.rooms.get(code).has_state for code in codes)
