import re
from pathlib import Path
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer
from tests.server.test_event_rooms import open_pairing, player_of
from tests.server.test_forgetting import traces, until_done
from tests.server.test_limits import serving
from tictactoe_server.features.bots.service import FEATURE as BOTS
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.rooms.room import Player
from tictactoe_server.server import Server

CLOCK = {"initial_ms": 60_000, "increment_ms": 0}
THREE = {"rows": 4, "columns": 4, "line": 4, "marks": "XOA"}


def guest_of(peer: Peer, number: int = 2) -> str:
    return f"{peer.welcome['player']}.{number}"


async def open_table(peer: Peer, *guests: str, **terms: Any) -> str:
    """Open a room for a player and guests, and return its code."""
    answer = await peer.ask("create", guests=guests, **terms)
    assert answer["type"] == "ok", answer
    return str(answer["room"])


async def play_seats(peer: Peer, room: str, cells: list[int]) -> None:
    """Play cells from the beginning of the game, each by the player on turn."""
    state = await peer.state(ply=0, status="playing")
    for ply, cell in enumerate(cells):
        await peer.send("move", room=room, cell=cell, ply=ply, player=state["seats"][state["turn"]]["player"])
        state = await peer.state(ply=ply + 1)


async def begin(ana: Peer, cy: Peer, room: str) -> None:
    """Play the first move of ana, ana's guest and cy."""
    await play_seats(ana, room, [0, 1])
    await cy.ask("move", room=room, cell=2, ply=2)


async def current(peer: Peer, room: str) -> Message:
    await peer.ask("sync", room=room)
    return await peer.state()


def names(state: Message) -> dict[str, str]:
    return {mark: seat["name"] for mark, seat in state["seats"].items() if seat is not None}


@pytest.mark.features(BOTS)
async def test_guests_take_the_first_free_marks_and_bots_the_next(ana: Peer) -> None:
    await open_table(ana, "Bo", rules=THREE, seat="O", bots=["easy"])
    assert names(await ana.state()) == {"X": "Bo", "O": "ana", "A": "easy-bot"}


async def test_guests_join_together_with_their_player_or_not_at_all(ana: Peer, bo: Peer) -> None:
    room = (await ana.ask("create", rules=THREE))["room"]
    assert await bo.refusal("join", room=room, guests=["Cy", "Di"]) == "room_full"
    answer = await bo.ask("join", room=room, guests=["Cy"])
    assert (answer["seat"], answer["seats"]) == ("O", ["O", "A"])
    assert names(await ana.state(status="playing")) == {"X": "ana", "O": "bo", "A": "Cy"}
    again = await bo.ask("join", room=room, guests=["Cy"])
    assert again["seats"] == ["O", "A"], "a join that is sent twice seats nobody twice"


async def test_only_the_connection_of_a_guest_acts_for_the_guest(ana: Peer, bo: Peer) -> None:
    room = await open_table(ana, "Cy")
    await bo.ask("watch", room=room)
    for peer, player in ((bo, guest_of(ana)), (bo, guest_of(bo)), (ana, guest_of(ana, 3)), (ana, guest_of(bo))):
        refused = await peer.ask("move", room=room, cell=0, ply=0, player=player)
        assert refused["code"] == "not_seated"
    refused = await ana.ask("move", room=room, cell=0, ply=0, player=guest_of(bo))
    assert (refused["path"], refused["data"]) == ("player", {"why": "guest", "player": guest_of(bo)})
    refused = await ana.ask("move", room=room, cell=0, ply=0, player=guest_of(ana))
    assert refused["code"] == "not_your_turn"


@pytest.mark.features
async def test_a_rated_room_and_one_of_a_tournament_take_no_guests(server: Server, ana: Peer, bo: Peer) -> None:
    await ana.ask("claim_name", name="ana")
    rated = (await ana.ask("create", rules="four", clock=CLOCK, rated=True))["room"]
    paired = (await open_pairing(server, player_of(ana, "ana"), Player("p1", "cy"))).room.code
    for room in (rated, paired):
        refused = await bo.ask("join", room=room, guests=["Cy"])
        assert (refused["code"], refused["data"], refused["path"]) == ("not_allowed", {"why": "guests"}, "guests")


@pytest.mark.features(BOTS)
@pytest.mark.parametrize(
    ("fields", "code", "path"),
    [
        ({"guests": ["Bo", "Cy"]}, "bad_message", "guests"),
        ({"guests": ["Bo"], "bots": ["easy"]}, "bad_message", "guests"),
        ({"guests": ["a"] * 6}, "bad_message", "guests"),
        ({"guests": ["Bo", "\u202e"], "rules": THREE}, "bad_name", "guests[1]"),
        ({"guests": ["easy-bot"]}, "bad_name", "guests[0]"),
    ],
)
async def test_guests_without_a_free_seat_are_refused(ana: Peer, fields: Message, code: str, path: str) -> None:
    refused = await ana.ask("create", **fields)
    assert (refused["code"], refused["path"]) == (code, path)
    assert not (await ana.ask("rooms"))["rooms"]
    assert await ana.refusal("match", guests=["Bo"]) == "bad_message"


async def test_a_guests_claimed_name_is_marked(server: Server) -> None:
    async with open_peer(server.url, "Magnus") as magnus, open_peer(server.url, "ana") as ana:
        await magnus.ask("claim_name", name="Magnus")
        await open_table(ana, "Magnus")
        assert names(await ana.state()) == {"X": "ana", "O": "Magnus?"}


async def test_servers_that_assign_names_name_guests_too() -> None:
    school = serving(for_="school", features=(BotOptions(demo=False),))
    async with school as server, open_peer(server.url, "ana") as ana:
        await open_table(ana, "Bo")
        shown = names(await ana.state())
        assert re.fullmatch("[A-Z][a-z]+ [A-Z][a-z]+ [0-9]{2}", shown["O"])
        assert shown["O"] != shown["X"]


async def test_guests_count_for_no_limit_of_seats_and_games_are_in_one_history() -> None:
    limits = uncounted(seats_per_player=1, seats_per_address=1)
    async with serving(limits) as server, open_peer(server.url, "ana") as ana:
        room = await open_table(ana, "Bo")
        await play_seats(ana, room, [0, 3, 1, 4, 2])
        (game,) = (await ana.ask("history"))["games"]
        assert game["players"]["O"] == {"player": guest_of(ana), "name": "Bo"}


@pytest.mark.features
@pytest.mark.parametrize("kind", ["resign", "leave"])
async def test_forgetting_a_player_forgets_the_names_of_guests(tmp_path: Path, kind: str) -> None:
    guest = "Quetzal"
    async with serving(data=tmp_path / "data") as server, open_peer(server.url, "cy") as cy:
        async with open_peer(server.url, "Xylophon") as ana:
            room = await open_table(ana, guest, rules=THREE)
            await cy.ask("join", room=room)
            await begin(ana, cy, room)
            await ana.ask(kind, room=room)
            await ana.ask(kind, room=room, player=guest_of(ana))
            await cy.state(status="over")
            shown = (await ana.ask("export"))["export"]
            assert guest in str(shown["games"])
            assert traces(tmp_path, guest), "what is looked for is there"
            await ana.ask("forget")
            await until_done(server, ana.welcome["player"])
        (game,) = (await cy.ask("history"))["games"]
        assert game["players"]["O"] == {"player": "player-1.2", "name": "player-1.2"}
        assert names(await current(cy, room)) == {"X": "player-1", "O": "player-1.2", "A": "cy"}
    assert traces(tmp_path, guest, ana.welcome["player"]) == []
