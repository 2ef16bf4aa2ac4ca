"""How many of our functions are called for what happens most: a state that comes, and a move that goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from msgspec.structs import replace

from tests.client.states import state
from tests.peer import open_peer
from tictactoe_client import Refused, connect
from tictactoe_client.online.events import RoomEvent, Updated
from tictactoe_protocol import encode
from tictactoe_server.server import Server

OURS = ("tictactoe_client", "tictactoe_protocol", "tictactoe_engine")


@contextmanager
def counting() -> Iterator[list[str]]:
    """Collect the names of our functions that are called."""
    called: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and any(name in frame.f_code.co_filename for name in OURS):
            called.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


async def test_a_state_is_told_within_forty_calls_and_a_move_is_sent_within_twenty(server: Server) -> None:
    heard: list[RoomEvent] = []
    async with connect(server.url, name="ana") as ana, open_peer(server.url, "bo") as bo:
        room = await ana.create("classic")
        await bo.ask("join", room=room.code)
        async for now in room:
            if now.status == "playing":
                break
        room.subscribe(heard.append)
        texts = [
            encode(replace(state(cells, seats=now.seats), room=room.code, seq=now.seq + len(cells))).decode()
            for cells in ((4,), (4, 0))
        ]
        ana._take(texts[0])
        with counting() as told:
            ana._take(texts[1])
        assert isinstance(heard[-1], Updated)
        assert heard[-1].moves == (4, 0)
        assert len(told) <= 40, told
        with counting() as sent, pytest.raises(Refused):
            await room.move(8)
        assert sent.index("Connection.say") <= 20, sent
