import re
import struct
import zlib

import pytest
from msgspec import convert

from tests.peer import Peer, open_peer, play_out, two_playing
from tests.server.test_limits import serving
from tests.server.test_pages import BROWSER, LINE_FOR_X, get
from tictactoe_protocol.pushes import RoomState
from tictactoe_server.features.previews.pictures import BoardCard, Card, Seat, TableCard, draw, spell
from tictactoe_server.features.previews.service import Previews, card_of_room
from tictactoe_server.server import Server
from tictactoe_words.catalogue import speaking

pytestmark = pytest.mark.features

SIZE = 1200, 630


def pixels_of(png: bytes) -> list[bytes]:
    """Return the rows of a picture; raises if a chunk's checksum is wrong."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, list[tuple[bytes, bytes]]()
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data = png[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0]
        parts.append((kind, data))
        at += 12 + length
    assert struct.unpack(">II", parts[0][1][:8]) == SIZE
    raw = zlib.decompress(b"".join(data for kind, data in parts if kind == b"IDAT"))
    stride = 3 * SIZE[0] + 1
    return [raw[row * stride + 1 : (row + 1) * stride] for row in range(SIZE[1])]


def card_of(page: bytes) -> dict[str, str]:
    return dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[\w:]+)" content="([^"]*)">', page.decode()))


def previews_of(server: Server) -> Previews:
    return server.service(Previews)


async def test_a_link_to_a_public_room_has_a_picture_that_changes_with_its_board(server: Server) -> None:
    async with two_playing(server.url) as (ana, bo, room):
        seen = []
        for ply, cell in enumerate((0, 4)):
            await (ana, bo)[ply].ask("move", room=room, cell=cell, ply=ply)
            card = card_of((await get(server, f"/{room}", accept=BROWSER)).body)
            origin = f"http://127.0.0.1:{server.port}"
            assert card["og:url"] == f"{origin}/{room}"
            assert (card["og:title"], card["twitter:card"]) == ("ana v bo, 3x3", "summary_large_image")
            assert card["og:image"].startswith(f"{origin}/preview/{room}.png?")
            answer = await get(server, card["og:image"].removeprefix(origin), accept="image/*")
            assert (answer.status, answer.fields["content-type"]) == (200, "image/png")
            assert answer.fields["cache-control"] == "public, max-age=30"
            again = await get(server, f"/preview/{room}.png", f"If-None-Match: {answer.fields['etag']}")
            assert again.status == 304
            seen.append((card["og:image"], pixels_of(answer.body)))
        assert seen[0] != seen[1]
        assert seen[0][0] != seen[1][0]


@pytest.mark.parametrize("agent", ["Slackbot-LinkExpanding 1.0", "TelegramBot (like TwitterBot)", "WhatsApp/2.23"])
async def test_link_preview_crawlers_get_the_page(server: Server, agent: str) -> None:
    answer = await get(server, "/", f"User-Agent: {agent}")
    assert card_of(answer.body)["og:image"].endswith("/preview.png")
    assert (await get(server, "/preview.png")).status == 200


async def test_the_picture_of_the_first_page_has_the_title_of_the_server(server: Server) -> None:
    async with serving(title="Class 5b") as named:
        pictures = [(await get(one, "/preview.png")).body for one in (server, named)]
        assert pictures[0] != pictures[1]


async def test_a_name_that_cannot_be_drawn_is_its_mark_everywhere(server: Server) -> None:
    async with two_playing(server.url, "\u4e09\u76ee", "\u0634\u0645\u0633") as (ana, bo, room):
        state = await play_out({"X": ana, "O": bo}, room, LINE_FOR_X[:1])
        card = card_of_room(convert(state, RoomState, strict=False))
        assert ([seat.name for seat in card.seats], card.heading) == (["X", "O"], "It's O's move.")
        with speaking("de"):
            assert card_of_room(convert(state, RoomState, strict=False)).heading == "O ist am Zug."


async def test_a_free_seat_is_called_so_in_the_language_of_the_request(server: Server, ana: Peer) -> None:
    await ana.ask("create")
    state = convert(await ana.state(status="waiting"), RoomState, strict=False)
    for language, told in (("en", "free seat"), ("de", "freier Platz")):
        with speaking(language):
            assert card_of_room(state).seats[1] == Seat("O", told, is_free=True)


async def test_nothing_is_shown_of_a_private_room(server: Server) -> None:
    async with open_peer(server.url, "secretive") as peer:
        room = (await peer.ask("create", visibility="private"))["room"]
        page = await get(server, f"/{room}", accept=BROWSER)
        card = card_of(page.body)
        assert card["og:title"] == card["og:description"] == "a private game"
        assert "og:image" not in card
        assert b"secretive" not in page.body
        found = await get(server, f"/preview/{room}.png")
        none = await get(server, "/preview/K7M4PQ.png")
        assert found.status == none.status == 404


async def test_a_shared_game_has_its_last_board_and_one_that_is_not_shared_has_none(server: Server) -> None:
    async with two_playing(server.url) as (ana, bo, room):
        game = (await play_out({"X": ana, "O": bo}, room, LINE_FOR_X))["game_id"]
        id = (await ana.ask("share", game_id=game))["replay"]
        card = card_of((await get(server, f"/replay/{id}", accept=BROWSER)).body)
        assert card["og:image"].endswith(f"/preview/replay/{id}.png")
        for path in (room, f"replay/{id}"):
            english = pixels_of((await get(server, f"/preview/{path}.png")).body)
            assert pixels_of((await get(server, f"/preview/{path}.png", "Accept-Language: de")).body) != english
        await ana.ask("share", game_id=game, on=False)
        assert (await get(server, f"/preview/replay/{id}.png")).status == 404


@pytest.mark.parametrize(("entry", "status"), [("open", 200), ("code", 404)])
async def test_only_an_open_event_has_a_picture(server: Server, ana: Peer, entry: str, status: int) -> None:
    code = (await ana.ask("event_open", kind="swiss", title="Friday", clock={"move_ms": 10_000}, entry=entry))["event"]
    page = await get(server, f"/e/{code}", accept=BROWSER)
    assert ("og:image" in card_of(page.body)) == (status == 200)
    assert (await get(server, f"/preview/e/{code}.png")).status == status


async def test_without_the_drawing_library_links_have_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.previews.feature.find_spec", lambda name: None)
    async with serving() as plain:
        card = card_of((await get(plain, "/", accept=BROWSER)).body)
        assert card["twitter:card"] == "summary"
        assert "og:image" not in card
        assert (await get(plain, "/preview.png")).status == 404


def test_letters_that_the_font_has_not_are_replaced() -> None:
    assert spell("\U0001f600", "X") == "X"
    assert spell("Ана Łódź") == "Ана Łódź"


def test_a_card_of_every_kind_is_drawn() -> None:
    long, free = "W" * 40, Seat("O", "free seat", is_free=True)
    cards: list[Card] = [
        BoardCard((Seat("X", long, True), free), long, long, "XO" * 112 + "X", 15, "XO", "stones", 3),
        BoardCard((Seat("X", long),), long, long, "." * 35 + "XXXXOO#", 7, "XO", "discs", 38, (35, 36, 37, 38)),
        BoardCard(tuple(Seat(mark, long) for mark in "ABCDEF"), long, long, "ABCDEF..." * 100, 30, "ABCDEF"),
        TableCard(long, long, long, tuple((f"{place}.", long, "10.5") for place in range(7)), "and 4 more"),
    ]
    for card in cards:
        assert len(set(pixels_of(draw(card)))) > 50
