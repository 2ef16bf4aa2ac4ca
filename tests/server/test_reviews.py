"""Analysis for watchers and for afterwards, over real sockets."""

from __future__ import annotations

from tests.peer import open_peer, play_out
from tictactoe_server.server import Server

WON_BY_X = [0, 3, 1, 4, 2]


async def test_a_watcher_learns_what_each_move_is_worth(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo, open_peer(server.url) as eve:
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await ana.state(status="playing")
        await play_out({"X": ana, "O": bo}, room, WON_BY_X[:4])
        await eve.ask("watch", room=room)
        analysis = (await eve.ask("analyse", room=room))["analysis"]
        assert (analysis["ply"], analysis["turn"], analysis["best"], analysis["solved"]) == (4, "X", [2], True)
        assert analysis["value"] == {"kind": "win", "plies": 1, "estimate": 1.0}
        assert sorted(map(int, analysis["cells"])) == [2, 5, 6, 7, 8]
        start = (await eve.ask("analyse", room=room, ply=0))["analysis"]
        assert (start["turn"], start["value"]["kind"], len(start["cells"])) == ("X", "draw", 9)


async def test_one_who_plays_is_refused_until_the_game_is_over(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as bo:
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        await ana.state(status="playing")
        assert await ana.refusal("analyse", room=room) == "not_allowed"
        async with open_peer(server.url, token=ana.welcome["token"]) as second_screen:
            await second_screen.ask("watch", room=room)
            assert await second_screen.refusal("analyse", room=room) == "not_allowed"
        await play_out({"X": ana, "O": bo}, room, WON_BY_X)
        over = (await ana.ask("analyse", room=room))["analysis"]
        assert (over["turn"], over["cells"], over["value"]["kind"]) == (None, {}, "loss")
        assert (await bo.ask("analyse", room=room, ply=2))["analysis"]["ply"] == 2


async def test_what_was_not_played_and_who_is_not_there_are_refused(server: Server) -> None:
    async with open_peer(server.url) as ana, open_peer(server.url) as eve:
        room = (await ana.ask("create"))["room"]
        assert await eve.refusal("analyse", room=room) == "not_in_room"
        assert await ana.refusal("analyse", room=room, ply=1) == "stale"


async def test_asking_without_end_is_held_to_a_rate(server: Server) -> None:
    async with open_peer(server.url) as ana:
        room = (await ana.ask("create"))["room"]
        codes = {(await ana.ask("analyse", room=room)).get("code") for _ in range(40)}
        assert codes == {None, "rate_limited"}
