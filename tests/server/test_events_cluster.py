import asyncio
import contextlib

import pytest

from tests.peer import Message, Peer, open_peer, until
from tests.server.nats_node import Node
from tests.server.test_api import read, streaming
from tests.server.test_cluster import cluster_of, quick
from tests.server.test_events_service import card_game, follow, known, leave_device, opened, play_on, run, watched
from tictactoe_server.admin.orders.rooms import EndEvent

__all__ = ["quick"]


async def resign_where_called(peer: Peer, call: Message) -> None:
    answer = await peer.ask("join", room=call["room"])
    if answer["type"] == "ok":
        assert (await peer.ask("resign", room=call["room"]))["type"] == "ok"
        return
    assert answer["code"] == "moved"
    async with open_peer(answer["url"], token=peer.welcome["token"]) as there:
        assert [other["room"] for other in there.welcome["calls"]] == [call["room"]]
        assert (await there.ask("join", room=call["room"]))["type"] == "ok"
        assert (await there.ask("resign", room=call["room"]))["type"] == "ok"


async def test_an_event_is_entered_watched_and_called_for_at_every_server(node: Node) -> None:
    async with (
        cluster_of(node, 2) as (one, two),
        known(one, "ana") as ana,
        known(two, "bo") as bo,
        known(two, "eve") as eve,
    ):
        event = await opened(ana)
        assert [row["event"] for row in (await eve.ask("events"))["events"]] in ([], [event])
        await watched(eve, event)
        await ana.ask("event_join", event=event)
        assert (await bo.ask("event_join", event=event))["type"] == "ok"
        await eve.until(lambda message: message["type"] == "event" and message["head"]["players"] == 2)
        assert await eve.refusal("event_join", event=event, name="ana") == "bad_name"
        assert (await run(ana, event, "begin"))["type"] == "ok"
        calls = [await peer.next_of("call") for peer in (ana, bo)]
        assert {call["room"] for call in calls} == {calls[0]["room"]}
        await resign_where_called(ana, calls[0])
        over = await eve.until(lambda message: message.get("status") == "over")
        (pairing,) = over["pairings"]
        assert (pairing["result"], pairing["reason"]) == (calls[1]["mark"], "resigned")
        event = await opened(ana)
        await watched(ana, event)
        assert (await two.carry_out(EndEvent(event)))["status"] == "void"
        await ana.until(lambda message: message.get("status") == "void")


@pytest.mark.parametrize("goes", ["leaves", "drains"])
async def test_a_server_that_goes_drives_no_event(node: Node, goes: str) -> None:
    async with cluster_of(node, 2) as (one, two), known(one, "ana") as ana:
        event = await opened(ana)
        driver, other = (one, two) if one.core.registry.elsewhere.is_chosen(event) else (two, one)
        if goes == "leaves":
            driver.cluster.members.leave()
        else:
            driver.parts.drain.start(None, is_final=False)
        await until(lambda: other.core.registry.elsewhere.is_chosen(event))
        assert not driver.core.registry.elsewhere.is_chosen(event)


async def test_an_event_is_read_and_streamed_to_its_end_at_every_server(node: Node) -> None:
    async with cluster_of(node, 2) as (one, two), known(one, "ana") as ana:
        event = await opened(ana, bots=["easy", "easy", "medium"])
        async with streaming(two, f"/api/events/{event}/stream") as stream:
            assert (await stream.next())["status"] == "open"
            assert (await run(ana, event, "begin"))["type"] == "ok"
            async with asyncio.timeout(20):
                over = await stream.until(status="over")
                async with streaming(one, f"/api/events/{event}/stream") as other:
                    assert await other.until(status="over") == over
        assert await read(two, f"/e/{event}.json") == over == await read(one, f"/api/events/{event}")
        for pairing in over["pairings"]:
            if pairing["by"] == "game":
                assert (await read(two, f"/api/games/{pairing['game_id']}"))["pairing"] == pairing["id"]


async def test_a_card_goes_on_for_a_device_of_another_server_that_is_away(node: Node) -> None:
    async with cluster_of(node, 2) as (one, two), card_game(one) as game:
        event, ticket, holder, other, call = game
        place, far = (one, two) if call["room"] in one.core.registry.by_code else (two, one)
        seats, player = far.core.lists.seats, holder.welcome["player"]
        async with known(far, "new") as heir, contextlib.AsyncExitStack() as stack:
            await until(lambda: any(room.room.has_somebody for room in seats.rooms_of(player)))
            assert (await heir.ask("event_join", event=event, ticket=ticket))["data"]["why"] == "event card"
            await leave_device(place, holder)
            await until(lambda: far.core.lists.holds_left(player, far.core.time()))
            assert (await heir.ask("event_join", event=event, ticket=ticket))["type"] == "ok"
            await play_on(event, await follow(stack, heir, call["room"]), other, call, {"type": "move", "cell": 0})
