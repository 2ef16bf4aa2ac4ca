"""Frames as they may arrive: whole, glued together, cut anywhere, in fragments. Every message counts, in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.uri import parse_uri

from tests.peer import PATIENCE_SECONDS, Message
from tictactoe_server.server import Server


class RawPeer:
    """A WebSocket whose bytes the test puts on the wire itself; the library only reads the answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = protocol

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def frame(self) -> Frame:
        """Return the next data or close frame."""
        while True:
            for event in self._protocol.events_received():
                if isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.CLOSE):
                    return event
            async with asyncio.timeout(PATIENCE_SECONDS):
                data = await self._reader.read(1)
            assert data, "the server closed without a word"
            self._protocol.receive_data(data)

    async def message(self) -> Message:
        frame = await self.frame()
        assert frame.opcode is Opcode.TEXT, frame
        message: Message = json.loads(bytes(frame.data))
        return message


@pytest.fixture
async def raw(server: Server) -> AsyncIterator[RawPeer]:
    uri = parse_uri(server.url)
    protocol = ClientProtocol(uri)
    reader, writer = await asyncio.open_connection(uri.host, uri.port)
    protocol.send_request(protocol.connect())
    writer.write(b"".join(protocol.data_to_send()))
    while not protocol.events_received():
        protocol.receive_data(await reader.read(1))
    peer = RawPeer(reader, writer, protocol)
    await peer.write(text('{"type":"hello"}'))
    assert (await peer.message())["type"] == "welcome"
    yield peer
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def text(content: str, *, fin: bool = True, opcode: Opcode = Opcode.TEXT, mask: bool = True) -> bytes:
    return Frame(opcode, content.encode(), fin=fin).serialize(mask=mask)


def ping(id: str) -> str:
    return json.dumps({"type": "ping", "id": id})


async def ids_answered(peer: RawPeer, count: int) -> list[str]:
    return [(await peer.message())["id"] for _ in range(count)]


async def test_frames_glued_together_are_all_answered_in_order(raw: RawPeer) -> None:
    await raw.write(b"".join(text(ping(f"p{number}")) for number in range(30)))
    assert await ids_answered(raw, 30) == [f"p{number}" for number in range(30)]


async def test_a_frame_cut_at_any_byte_is_answered(raw: RawPeer) -> None:
    frame = text(ping("cut"))
    for cut in range(1, len(frame)):
        await raw.write(frame[:cut])
        await asyncio.sleep(0)
        await raw.write(frame[cut:])
        assert await ids_answered(raw, 1) == ["cut"]


async def test_a_small_frame_after_half_of_another_waits_for_its_turn(raw: RawPeer) -> None:
    long = text(json.dumps({"type": "ping", "id": "a" * 60, "nonsense": "b" * 200}))
    await raw.write(long[:50])
    await raw.write(long[50:] + text(ping("after")))
    assert (await raw.message())["code"] == "bad_message"
    assert await ids_answered(raw, 1) == ["after"]


async def test_fragments_make_one_message_also_with_a_ping_between_them(raw: RawPeer) -> None:
    content = ping("whole")
    await raw.write(text(content[:5], fin=False))
    await raw.write(Frame(Opcode.PING, b"are you there").serialize(mask=True))
    await raw.write(text(content[5:9], fin=False, opcode=Opcode.CONT) + text(content[9:], opcode=Opcode.CONT))
    assert await ids_answered(raw, 1) == ["whole"]


async def test_a_new_message_inside_an_unfinished_one_is_a_protocol_error(raw: RawPeer) -> None:
    await raw.write(text("{", fin=False))
    await raw.write(text(ping("intruder")))
    frame = await raw.frame()
    assert frame.opcode is Opcode.CLOSE
    assert int.from_bytes(bytes(frame.data[:2])) == 1002


async def test_a_frame_without_a_mask_is_a_protocol_error(raw: RawPeer) -> None:
    await raw.write(text(ping("bare"), mask=False))
    frame = await raw.frame()
    assert frame.opcode is Opcode.CLOSE
    assert int.from_bytes(bytes(frame.data[:2])) == 1002


async def test_a_message_in_too_many_fragments_is_refused(raw: RawPeer) -> None:
    await raw.write(text("{", fin=False) + text("", fin=False, opcode=Opcode.CONT) * 100)
    frame = await raw.frame()
    assert frame.opcode is Opcode.CLOSE
    assert int.from_bytes(bytes(frame.data[:2])) == 1009


async def test_text_that_is_not_utf8_closes_with_1007_whole_and_in_fragments(raw: RawPeer) -> None:
    await raw.write(Frame(Opcode.TEXT, b'{"type":"\xff"}').serialize(mask=True))
    closed = await raw.frame()
    assert (closed.opcode, Close.parse(closed.data).code) == (Opcode.CLOSE, 1007)


async def test_a_character_may_be_split_between_fragments_and_half_of_one_closes_with_1007(raw: RawPeer) -> None:
    whole = ping("ü").replace("\\u00fc", "ü").encode()
    middle = whole.index(0xC3) + 1
    await raw.write(Frame(Opcode.TEXT, whole[:middle], fin=False).serialize(mask=True))
    await raw.write(Frame(Opcode.CONT, whole[middle:]).serialize(mask=True))
    assert await ids_answered(raw, 1) == ["ü"]
    await raw.write(Frame(Opcode.TEXT, whole[:middle], fin=False).serialize(mask=True))
    await raw.write(Frame(Opcode.CONT, b'"}').serialize(mask=True))
    assert Close.parse((await raw.frame()).data).code == 1007
