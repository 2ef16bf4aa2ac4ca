import json

from tests.peer import Peer, open_peer
from tictactoe_server.server import Server


async def test_an_answer_with_the_list_stays_under_256_kib(server: Server) -> None:
    blocked = list(range(1000, 1024)) + list(range(100, 1000))
    rules = {"rows": 32, "columns": 32, "line": 3, "blocked": blocked}
    async with open_peer(server.url) as ana:
        codes = [(await ana.ask("create", rules=rules))["room"] for _ in range(80)]
        answer = await ana.ask("rooms")
        assert len(json.dumps(answer, separators=(",", ":"))) < 256 * 1024
        listed = [row["room"] for row in answer["rooms"]]
        assert listed == codes[::-1][: len(listed)]
        assert len(listed) > 40


async def test_a_room_is_listed_while_one_of_its_players_is_present(server: Server, eve: Peer, bo: Peer) -> None:
    await eve.ask("lobby", on=True)
    async with open_peer(server.url) as ana:
        room = (await ana.ask("create"))["room"]
        await eve.until(lambda message: message["type"] == "lobby" and message["changed"])
    await eve.until(lambda message: message["type"] == "lobby" and message["closed"] == [room])
    assert (await bo.ask("rooms"))["rooms"] == []
    assert (await bo.ask("match"))["room"] != room
    async with open_peer(server.url, token=ana.welcome["token"]) as back:
        assert (await back.ask("join", room=room))["seat"] == "X"
        change = await eve.until(
            lambda message: message["type"] == "lobby" and room in [row["room"] for row in message["changed"]]
        )
        assert room not in change["closed"]
        rows = (await bo.ask("rooms"))["rooms"]
        assert [row["room"] for row in rows][-1] == room


async def test_a_match_leads_to_the_oldest_room_with_its_terms_and_without_the_player(ana: Peer, bo: Peer) -> None:
    gomoku, fast, oldest, _ = [
        (await ana.ask("create", **terms))["room"]
        for terms in ({"rules": "gomoku"}, {"clock": {"move_ms": 10_000}}, {}, {})
    ]
    assert (await ana.ask("match"))["room"] not in (gomoku, fast, oldest)
    assert (await bo.ask("match"))["room"] == oldest


async def test_a_seat_that_was_freed_is_matched_again(ana: Peer, bo: Peer, cy: Peer) -> None:
    rules = "three-players"
    room = (await ana.ask("match", rules=rules))["room"]
    assert (await bo.ask("match", rules=rules))["room"] == room
    await ana.ask("leave", room=room)
    matched = await cy.ask("match", rules=rules)
    assert (matched["room"], matched["seat"]) == (room, "X")


async def test_private_rooms_are_neither_listed_nor_announced(ana: Peer, bo: Peer, eve: Peer) -> None:
    await ana.ask("create", visibility="private")
    assert (await eve.ask("lobby", on=True))["rooms"] == []
    private = (await ana.ask("create", visibility="private"))["room"]
    await bo.ask("join", room=private)
    await ana.ask("resign", room=private)
    await ana.ask("leave", room=private)
    await bo.ask("leave", room=private)
    public = (await ana.ask("create"))["room"]
    change = await eve.next_of("lobby")
    assert [row["room"] for row in change["changed"]] == [public]
    assert change["closed"] == []


async def test_unsubscribing_affects_only_the_subscriber(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as eve, open_peer(server.url) as gone:
        await gone.ask("lobby", on=True)
        await eve.ask("lobby", on=True)
        answer = await gone.ask("lobby", on=False)
        assert ("rooms" in answer, answer["online"]) == (False, 3)
        assert (await gone.ask("lobby", on=False))["type"] == "ok"
        await ana.ask("create")
        await eve.next_of("lobby")
        await gone.ask("ping")
        assert "lobby" not in {message["type"] for message in gone.seen}
