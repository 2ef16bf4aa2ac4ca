"""Frames may arrive whole, joined, cut anywhere or in fragments: every message counts, in order."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from websockets.frames import Close, Frame, Opcode

from tests.raw import RawPeer, open_raw, ping, text
from tictactoe_server.server import Server


@pytest.fixture
async def raw(server: Server) -> AsyncIterator[RawPeer]:
    async with open_raw(server.url) as peer:
        yield peer


async def ids_answered(peer: RawPeer, count: int) -> list[str]:
    return [(await peer.message())["id"] for _ in range(count)]


async def test_a_frame_cut_at_any_byte_is_answered(raw: RawPeer) -> None:
    frame = text(ping("cut").ljust(130))
    for cut in range(1, len(frame)):
        await raw.write(frame[:cut])
        await asyncio.sleep(0)
        await raw.write(frame[cut:])
        assert await ids_answered(raw, 1) == ["cut"]


async def test_a_payload_that_comes_alone_and_looks_like_a_frame_is_the_payload(raw: RawPeer) -> None:
    for id in ("a", "b" * 40):
        content = ping(id).encode()
        mask = bytes((content[0] ^ 0x81, content[1] ^ (0x80 | len(content) - 6), 3, 4))
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(content))
        assert masked[0] == 0x81
        assert masked[1] == 0x80 | len(masked) - 6
        await raw.write(bytes((0x81, 0x80 | len(content))) + mask)
        await asyncio.sleep(0.05)
        await raw.write(masked)
        assert await ids_answered(raw, 1) == [id]


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


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (text("{", fin=False) + text(ping("intruder")), 1002),
        (text(ping("bare"), mask=False), 1002),
        (text("{", fin=False) + text("", fin=False, opcode=Opcode.CONT) * 100, 1009),
        (text(b'{"type":"\xff"}'), 1007),
        (text(ping("binary"), opcode=Opcode.BINARY), 1003),
    ],
    ids=["a message inside an unfinished one", "no mask", "too many fragments", "no UTF-8", "binary"],
)
async def test_a_protocol_error_closes_with_its_code_alone(raw: RawPeer, written: bytes, code: int) -> None:
    await raw.write(written)
    frame = await raw.frame()
    assert (frame.opcode, Close.parse(frame.data).code) == (Opcode.CLOSE, code)


async def test_characters_may_span_fragments_and_invalid_utf_8_closes_with_1007(raw: RawPeer) -> None:
    whole = ping("ü").replace("\\u00fc", "ü").encode()
    middle = whole.index(0xC3) + 1
    await raw.write(Frame(Opcode.TEXT, whole[:middle], fin=False).serialize(mask=True))
    await raw.write(Frame(Opcode.CONT, whole[middle:]).serialize(mask=True))
    assert await ids_answered(raw, 1) == ["ü"]
    await raw.write(Frame(Opcode.TEXT, whole[:middle], fin=False).serialize(mask=True))
    await raw.write(Frame(Opcode.CONT, b'"}').serialize(mask=True))
    assert Close.parse((await raw.frame()).data).code == 1007
