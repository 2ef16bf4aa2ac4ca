"""Games over days in a cluster: whoever opens a game has it, and one server ends it when time is up."""

from tests.peer import open_peer, until
from tests.server.days.test_day_games import begin, play, turns
from tests.server.nats_node import Node
from tests.server.test_cluster import cluster_of
from tictactoe_protocol.terms import DAY_MS
from tictactoe_server.features.days.service import DayGames
from tictactoe_server.server import Server


def has(server: Server, room: str) -> bool:
    return room in server.core.rooms.by_code


async def test_a_game_is_opened_at_any_server_and_ended_once(node: Node) -> None:
    async with cluster_of(node, 2) as (one, two):
        room, x, o = await begin(one)
        await until(lambda: not has(one, room) and room in two.core.rooms.asleep)
        assert [turn["room"] for turn in await turns(two, x)] == [room]
        async with open_peer(one.url, token=o) as bo:
            assert (await play(two, x, room, (0, 0)))["status"] == "playing"
            assert [turn["room"] for turn in (await bo.next_of("turns"))["turns"]] == [room]
            if has(two, room):
                assert await bo.refusal("join", room=room) == "moved"
        await until(lambda: not has(one, room) and not has(two, room))
        assert (await play(one, o, room, (3, 1)))["moves"] == [0, 3]
        await until(lambda: not has(one, room) and not has(two, room))
        ended = list[str]()
        for server in (one, two):
            server.core.rooms.on_result.add(lambda game, id: ended.append(id))
            server.service(DayGames)._free_from = 0
            server.core.time.go_on_from(server.core.time() + 6 * DAY_MS)
        await until(lambda: ended)
        state = await play(two if has(two, room) else one, o, room)
        assert (state["result"]["winner"], state["result"]["reason"]) == ("O", "timeout")
        assert len(ended) == 1
