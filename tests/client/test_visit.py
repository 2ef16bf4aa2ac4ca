"""The flows of a visit, with a face that answers from a list."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.client.tournaments import EVENT, event, with_card_in_use
from tests.faults.hostile_server import hostile_server
from tests.kept import session_of
from tests.peer import open_peer, two_playing
from tests.proxy import Proxy
from tests.server.ratings.served import CLOCK, RULES, rating
from tests.terminal import pipe
from tictactoe_client import Client, connect
from tictactoe_client.input.ways import Choice, EventWay
from tictactoe_client.online.errors import Refused
from tictactoe_client.online.messages import Changed
from tictactoe_client.online.room import Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_client.settings import Settings
from tictactoe_client.streams.keyboard import Keyboard
from tictactoe_client.visit.face import Prompt, choose_name
from tictactoe_client.visit.visit import Visit
from tictactoe_engine import PRESETS
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.server import Server

__all__ = ["rating"]

RATED = Choice("match", PRESETS[RULES], ClockFields(**CLOCK), rated=True)


class FakeFace:
    """Gives the listed answers, then None."""

    asks = True

    def __init__(self, *answers: str | None) -> None:
        self.answers = [*answers]
        self.asked: list[Prompt] = []
        self.shown: list[str] = []

    async def ask(self, prompt: Prompt) -> str | None:
        self.asked.append(prompt)
        return self.answers.pop(0) if self.answers else None

    def show(self, *lines: str) -> None:
        self.shown.extend(lines)


@asynccontextmanager
async def visiting(url: str, face: FakeFace, settings: Settings | None = None) -> AsyncIterator[tuple[Visit, Client]]:
    async with connect(url, name="cy") as client:
        yield Visit(face, session_of(client, settings)), client


async def test_a_full_room_is_watched_if_the_person_agrees(server: Server) -> None:
    face = FakeFace("")
    async with two_playing(server) as (_, _, code), visiting(server.url, face) as (visit, _):
        room = await visit.enter(Choice("join", code=code))
        assert isinstance(room, Room)
        assert room.is_watching
    assert [(prompt.text, prompt.yes, prompt.word) for prompt in face.asked] == [
        (f"Room {code} is full; you may watch it.", "key watch", "watch")
    ]


@pytest.mark.parametrize(
    ("way", "code"),
    [(lambda code: Choice("join", code=code), "room_full"), (lambda _: Choice("join", code="K7M4PQ"), "no_such_room")],
)
async def test_a_refusal_stands_if_the_person_wants_nothing_else(
    server: Server, way: Callable[[str], Choice], code: str
) -> None:
    async with two_playing(server) as (_, _, full), visiting(server.url, FakeFace()) as (visit, _):
        with pytest.raises(Refused) as refused:
            await visit.enter(way(full))
        assert refused.value.code == code
        assert not visit.waits_for


@pytest.mark.parametrize("answer", ["", None])
async def test_a_rated_game_begins_once_the_name_is_claimed(rating: Server, answer: str | None) -> None:
    face = FakeFace(answer)
    async with visiting(rating.url, face) as (visit, client):
        if answer is None:
            with pytest.raises(Refused, match="Rated games need a name of your own"):
                await visit.enter(RATED)
        else:
            room = await visit.enter(RATED)
            assert isinstance(room, Room)
            assert room.state.rated
            assert face.shown[0].startswith("cy is yours.")
        assert (client.welcome.claimed is True) == (answer is not None)
    assert [prompt.claims_name for prompt in face.asked] == [True]


async def test_a_card_in_use_on_another_device_is_taken_over_if_the_person_agrees() -> None:
    async with hostile_server() as hostile:
        url = with_card_in_use(hostile, event()).url
        for face in (FakeFace(None), FakeFace("")):
            async with visiting(url, face) as (visit, _):
                entering = visit.enter(EventWay(EVENT, "ana-1"))
                if face.answers[0] is None:
                    with pytest.raises(Refused, match="already here with this card"):
                        await entering
                else:
                    assert isinstance(await entering, Tournament)
            assert face.asked[0].text.endswith("Play here instead?")


async def test_a_room_that_comes_after_the_person_has_given_up_is_left_again(server: Server) -> None:
    async with Proxy(server.port) as proxy, visiting(proxy.url, FakeFace()) as (visit, client):
        proxy.down.hold_up()
        entering = asyncio.create_task(visit.enter(Choice("create")))
        await asyncio.sleep(0)
        assert visit.waits_for == "Opening the room"
        assert visit.give_up()
        assert not visit.give_up()
        proxy.down.go_on()
        assert await entering is None
        assert not await client.rooms.list()


async def test_a_name_is_asked_for_until_it_is_one() -> None:
    face = FakeFace("@", "Zoe")
    assert await choose_name(face, "Kind Otter") == "Zoe"
    assert [prompt.value for prompt in face.asked] == ["Kind Otter", "@"]
    assert face.asked[1].text.endswith("\nWhat's your name?")
    assert await choose_name(FakeFace(""), "Kind Otter") == "Kind Otter"
    assert await choose_name(FakeFace(), "Kind Otter") == "Kind Otter"


@pytest.mark.parametrize("is_joined", [True, False])
async def test_one_moves_on_to_another_room_unless_a_game_has_begun_meanwhile(server: Server, is_joined: bool) -> None:
    face = FakeFace()
    async with (
        Proxy(server.port) as proxy,
        visiting(proxy.url, face) as (visit, _),
        open_peer(server.url, "bo") as bo,
    ):
        room = await visit.enter(Choice("create"))
        assert isinstance(room, Room)
        proxy.down.hold_up()
        moving = asyncio.create_task(visit.move_on(room, Choice("create", private=True)))
        await asyncio.sleep(0)
        assert visit.waits_for
        if is_joined:
            await bo.ask("join", room=room.code)
        proxy.down.go_on()
        assert (await moving is None) == is_joined
    assert face.shown == ["Somebody came in the meantime: the game is on."] * is_joined


@pytest.mark.parametrize("stay", [True, False])
async def test_a_player_whose_input_has_ended_leaves_or_stays_until_the_end(server: Server, stay: bool) -> None:
    face, settings = FakeFace(), Settings(leaving_seconds=0.02, result_code=True, stay=stay)
    with pipe() as (reader, _):
        async with visiting(server.url, face, settings) as (visit, _client), open_peer(server.url, "bo") as bo:
            code, changed = (await bo.ask("create"))["room"], Changed()
            room = await visit.enter(Choice("join", code=code))
            assert isinstance(room, Room)
            room.subscribe(lambda _: changed.note())
            staying = asyncio.create_task(visit.stay_after_input(room, Keyboard(reader), changed, lambda: True))
            if stay:
                await bo.ask("resign", room=code)
                assert await staying == 12  # nobody has moved
                assert face.shown == ["The input has ended. Staying until the game ends."]
            else:
                assert await staying == 12
                assert (await bo.state(status="over"))["result"]["reason"] == "aborted"
                assert face.shown[-1] == f"You left room {code}. Goodbye."
