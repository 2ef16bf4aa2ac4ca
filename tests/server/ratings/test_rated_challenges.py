import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.limits import uncounted
from tests.peer import Peer, open_peer, until
from tests.server.nats_node import Node
from tests.server.ratings.served import CLOCK, HERE, RATED, a_server, begin, people, play_rated
from tests.server.test_challenges import challenge, id_of, known, refusal
from tests.server.test_cluster import cluster_of
from tictactoe_server.features.ratings.service import MOST_OF_PAIR, Ladders
from tictactoe_server.server import Server

pytestmark = pytest.mark.features


async def accept(peer: Peer, id: str) -> str:
    answer = await peer.ask("answer", challenge=id, accept=True)
    assert answer["type"] == "ok", answer
    return str(answer["room"])


@asynccontextmanager
async def connections(server: Server, peer: Peer, count: int) -> AsyncIterator[list[Peer]]:
    async with AsyncExitStack() as leaving:
        yield [await leaving.enter_async_context(known(server, token=peer.welcome["token"])) for _ in range(count)]


async def refusal_of(peer: Peer, type: str, **fields: Any) -> dict[str, Any]:
    answer = await peer.ask(type, **fields)
    assert answer["type"] == "error", answer
    data: dict[str, Any] = answer["data"]
    return data


async def test_a_rated_challenge_opens_a_normal_rated_room() -> None:
    async with a_server() as server, people(server) as (ana, bo):
        made = (await ana.ask("create", **RATED))["room"]
        by_hand = server.core.rooms.by_code[made].room
        room = await accept(bo, await challenge(ana, bo, **RATED, side="X"))
        opened = server.core.rooms.by_code[room].room
        for name in ("purpose", "visibility", "analysis", "clock", "chat", "start_ms", "hold_ms"):
            assert getattr(opened, name) == getattr(by_hand, name), name
        for peer in (ana, bo):
            await peer.ask("join", room=room)
        await ana.ask("move", room=room, cell=35, ply=0)
        await bo.ask("move", room=room, cell=36, ply=1)
        await bo.ask("resign", room=room)
        assert (await ana.next_of("rated"))["room"] == room


async def test_a_challenged_player_can_claim_a_name_and_accept_then() -> None:
    async with a_server() as server, people(server, names=("ana",)) as (ana,), known(server, "bo") as bo:
        assert (await refusal_of(bo, "challenge", player=id_of(ana), **RATED))["why"] == "rated name"
        assert await refusal(ana, "challenge", player=id_of(bo), **RATED | {"clock": None}) == ("bad_clock", "rated")
        terms = RATED | {"rules": "classic"}
        assert await refusal(ana, "challenge", player=id_of(bo), **terms) == ("not_allowed", "ladder")
        id = await challenge(ana, bo, **RATED)
        assert await refusal(bo, "answer", challenge=id, accept=True) == ("not_allowed", "rated name")
        await bo.ask("claim_name", name="bo")
        assert await accept(bo, id)


async def test_of_twenty_simultaneous_joins_only_ten_lead_to_games() -> None:
    async with a_server() as server, people(server) as (ana, bo):
        rooms = [(await ana.ask("create", **RATED))["room"] for _ in range(20)]
        async with connections(server, bo, 20) as others:
            answers = await asyncio.gather(
                *(peer.ask("join", room=room) for peer, room in zip(others, rooms, strict=True))
            )
        refused = [(answer["code"], answer["data"]) for answer in answers if answer["type"] == "error"]
        assert len(answers) - len(refused) == MOST_OF_PAIR
        data = {"why": "rated pair", "games": MOST_OF_PAIR, "name": "ana"}
        assert all(refusal == ("not_allowed", data) for refusal in refused)


async def test_running_games_and_accepted_challenges_count_towards_the_limit_of_a_pair() -> None:
    async with a_server() as server, people(server) as (ana, bo):
        await play_rated(ana, bo)
        for _ in range(MOST_OF_PAIR - 2):
            await begin(ana, bo)
        by_ana, by_bo = await challenge(ana, bo, **RATED), await challenge(bo, ana, **RATED)
        answers = await asyncio.gather(
            *(peer.ask("answer", challenge=id, accept=True) for peer, id in ((bo, by_ana), (ana, by_bo)))
        )
        assert sum("room" in answer for answer in answers) == 1
        assert await refusal(bo, "challenge", player=id_of(ana), **RATED) == ("not_allowed", "rated pair")


async def test_a_match_skips_an_opponent_after_ten_games(node: Node) -> None:
    async with (
        cluster_of(node, 2) as servers,
        people(servers[0], names=("ana", "bo", "cy")) as (ana, bo, cy),
        open_peer(servers[-1].url, token=bo.welcome["token"]) as there,
    ):
        for _ in range(MOST_OF_PAIR - 1):
            await play_rated(ana, bo)
        seats = servers[-1].core.indexes.seats
        await until(lambda: len([one for one in seats.rooms_of(id_of(bo)) if one.room.result]) == MOST_OF_PAIR - 1)
        unrated = (await ana.ask("create", **RATED | {"rated": False}))["room"]
        first, second = [(await peer.ask("match", **RATED))["room"] for peer in (ana, bo)]
        assert first == second != unrated
        await until(lambda: first in [listed.room.code for listed in seats.rooms_of(id_of(bo))])
        waiting = (await ana.ask("create", **RATED))["room"]
        own = (await there.ask("match", **RATED))["room"]
        assert own != waiting, "there is no other room yet"
        assert await refusal(bo, "join", room=waiting) == ("not_allowed", "rated pair")
        await there.ask("leave", room=own)
        other = (await cy.ask("create", **RATED))["room"]
        assert (await bo.ask("match", **RATED))["room"] == other


async def test_the_hourly_limit_of_stored_games_refuses_new_rated_rooms_and_loses_no_game() -> None:
    limits = uncounted(kept_megabytes_per_hour_per_player=1)
    async with Server(HERE, limits=limits) as server, people(server) as (ana, bo):
        rooms = [await begin(ana, bo) for _ in range(3)]
        while server.core.allowances.count_game({id_of(ana): ""}, 42):
            pass
        for room in rooms:
            await ana.ask("move", room=room, cell=35, ply=0)
            await bo.ask("move", room=room, cell=36, ply=1)
            await bo.ask("resign", room=room)
        folding = server.service(Ladders).folding
        await until(lambda: folding.state.entries and folding.games == 3)
        assert {game["room"] for game in (await ana.ask("history"))["games"]} == set(rooms)
        assert await refusal(ana, "create", **RATED) == ("rate_limited", "kept")
        assert await refusal(ana, "match", **RATED) == ("rate_limited", "kept")
        id = await challenge(ana, bo, **RATED)
        answer = await refusal(bo, "answer", challenge=id, accept=True)
        assert answer == ("not_allowed", "challenge room"), "it would count for the challenger"
        assert (await ana.ask("create", rules="classic", clock=CLOCK))["room"]
        async with open_peer(server.url, "cy") as cy:
            await cy.ask("claim_name", name="cy")
            room = (await cy.ask("create", **RATED))["room"]
            assert (await ana.ask("match", **RATED))["room"] == room
