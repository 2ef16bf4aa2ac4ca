import contextlib

import pytest

from tests.peer import Message, Peer, open_peer, until
from tests.server.nats_node import Node
from tests.server.test_cluster import cluster_of
from tests.server.test_events_service import events_of, known, opened, run, watched
from tictactoe_server.features.cluster.cluster import Cluster
from tictactoe_server.features.tournaments import running
from tictactoe_server.features.tournaments.service import EndEvent

pytestmark = pytest.mark.features


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
        await eve.until(lambda message: message.get("status") == "over")
        (pairing,) = (await watched(eve, event))["pairings"]
        assert (pairing["result"], pairing["reason"]) == (calls[1]["mark"], "resigned")
        event = await opened(ana)
        await watched(ana, event)
        assert (await two.carry_out(EndEvent(event)))["status"] == "void"
        await ana.until(lambda message: message.get("status") == "void")


async def test_an_event_pauses_when_its_players_are_at_no_server(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK_SECONDS", 0.1)
    async with cluster_of(node, 2) as servers, known(servers[0], "cy") as cy:
        event = await opened(cy, ready_ms=60_000)
        driver, other = sorted(servers, key=lambda one: not one.core.rooms.elsewhere.is_chosen(event))
        drive, events, here = events_of(driver).running, events_of(driver).events, events_of(driver).attendances
        async with known(other, "ana") as ana, known(other, "bo") as bo:
            for peer in (ana, bo):
                await peer.ask("event_join", event=event)
            await run(cy, event, "begin")
            players = {peer.welcome["player"]: peer.welcome["token"] for peer in (ana, bo)}
            await until(lambda: players.keys() <= here.here)
            monkeypatch.setattr(running, "DESERTED_SECONDS", 0)
            assert not drive._is_deserted(await events.find(event))
        await until(lambda: (known := events.known(event)) is not None and known.needed == 2)
        rooms = [server.core.rooms.by_code for server in servers]
        await until(lambda: [live.room.stands_still for some in rooms for live in some.values()] == [True])
        async with contextlib.AsyncExitStack() as stack:
            for token in players.values():
                await stack.enter_async_context(known(other, token=token))
            await until(lambda: (known := events.known(event)) is not None and known.status == "running")


@pytest.mark.parametrize("goes", ["leaves", "drains"])
async def test_a_leaving_server_hands_over_its_events(node: Node, goes: str) -> None:
    async with cluster_of(node, 2) as (one, two), known(one, "ana") as ana:
        event = await opened(ana)
        driver, other = (one, two) if one.core.rooms.elsewhere.is_chosen(event) else (two, one)
        if goes == "leaves":
            driver.service(Cluster).members.leave()
        else:
            driver.parts.drain.start(None, is_final=False)
        await until(lambda: other.core.rooms.elsewhere.is_chosen(event))
        assert not driver.core.rooms.elsewhere.is_chosen(event)
