import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import pytest

from tests.fakes import FakeClock, TroubledStore, TroubledTable
from tests.limits import uncounted
from tests.peer import Listening, Message, Peer, open_peer, play_out
from tests.server.nats_node import Node
from tests.server.test_cluster import cluster_of
from tictactoe_protocol.challenges import CHALLENGE_MS, MAX_BLOCKS, MAX_CHALLENGES
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.features.challenges.blocks import BLOCKS, Blocks
from tictactoe_server.features.challenges.service import CHALLENGES, SAME_PLAYER, Challenges
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.store import MISSING, StoreUnavailable, save

pytestmark = pytest.mark.features

HERE = Settings(host="127.0.0.1", port=0)


def known(server: Listening, name: str | None = None, **fields: Any) -> AbstractAsyncContextManager[Peer]:
    return open_peer(server.url, name, **fields)


def id_of(peer: Peer) -> str:
    return str(peer.welcome["player"])


async def challenge(peer: Peer, other: Peer, **fields: Any) -> str:
    return str((await peer.ask("challenge", player=id_of(other), **fields))["challenge"])


async def over(peer: Peer, id: str) -> Message:
    """Return the message about the end of a challenge; it may arrive before the answer to the request that ended it."""

    def is_it(told: Message) -> bool:
        return bool(told["type"] == "challenge_over" and told["challenge"] == id)

    return next(filter(is_it, peer.seen), None) or await peer.until(is_it)


async def refusal(peer: Peer, type: str, **fields: Any) -> tuple[str, str]:
    answer = await peer.ask(type, **fields)
    assert answer["type"] == "error", answer
    return answer["code"], answer["data"].get("why", "")


async def hears_nothing(peer: Peer, *types: str) -> None:
    """Check that a peer receives no message of these types before the answer to its next request."""
    await peer.ask("ping")
    assert not [told for told in peer.seen if told["type"] in types]


def again(server: Listening, peer: Peer) -> AbstractAsyncContextManager[Peer]:
    return known(server, token=peer.welcome["token"])


def open_of(peer: Peer) -> list[str]:
    return [one["challenge"] for one in peer.welcome.get("challenges", ())]


async def test_an_accepted_challenge_gives_both_players_a_seat_that_they_join_themselves(server: Server) -> None:
    async with (
        known(server, "ana") as ana,
        known(server, "bo") as bo,
        known(server, token=bo.welcome["token"]) as second,
    ):
        clock = {"initial_ms": 60_000, "increment_ms": 0}
        id = await challenge(ana, bo, rules="four", clock=clock, side="O")
        for peer in (ana, bo, second):
            told = await peer.next_of("challenge")
            assert 0 < told.pop("expires_ms") <= CHALLENGE_MS
            assert told.pop("rules")["preset"] == "four"
            assert told == {
                "type": "challenge",
                "challenge": id,
                "player": id_of(ana),
                "name": "ana",
                "to": id_of(bo),
                "clock": clock,
                "side": "O",
            }
        room = (await second.ask("answer", challenge=id, accept=True))["room"]
        for peer in (ana, bo):
            await hears_nothing(peer, "room")
            told = {"type": "challenge_over", "challenge": id, "how": "accepted", "room": room}
            assert [one for one in peer.seen if one["type"] == "challenge_over"] == [told]
        assert (await ana.ask("join", room=room))["seat"] == "O"
        assert (await bo.ask("join", room=room))["seat"] == "X"
        state = await ana.state(status="playing")
        assert (state["visibility"], state["time_control"], state["rules"]["preset"]) == ("public", clock, "four")
        assert await refusal(bo, "answer", challenge=id, accept=True) == ("no_offer", "challenge")


@pytest.mark.parametrize(("who", "how"), [("bo", "declined"), ("ana", "withdrawn")])
async def test_both_players_hear_that_a_challenge_is_declined_or_withdrawn(
    ana: Peer, bo: Peer, eve: Peer, who: str, how: str
) -> None:
    id = await challenge(ana, bo)
    assert await refusal(ana, "answer", challenge=id, accept=True) == ("no_offer", "challenge")
    assert await refusal(eve, "answer", challenge=id, accept=True) == ("no_offer", "challenge")
    assert "room" not in await (ana if who == "ana" else bo).ask("answer", challenge=id, accept=False)
    assert (await over(ana, id), await over(bo, id)) == ({"type": "challenge_over", "challenge": id, "how": how},) * 2
    await hears_nothing(eve, "challenge", "challenge_over")


async def test_welcome_lists_open_challenges_until_they_expire(
    server: Server, ana: Peer, bo: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_of(bo) == []
    id = await challenge(ana, bo)
    for peer in (ana, bo):
        async with again(server, peer) as other:
            assert open_of(other) == [id]
    monkeypatch.setattr("tictactoe_server.features.challenges.service.CHALLENGE_MS", 50)
    id = await challenge(bo, ana)
    assert (await over(ana, id))["how"] == (await over(bo, id))["how"] == "expired"
    async with again(server, bo) as other:
        assert id not in open_of(other)


async def test_of_several_accepting_connections_one_gets_the_room(server: Server, ana: Peer, bo: Peer) -> None:
    id = await challenge(ana, bo)
    async with again(server, bo) as second, again(server, bo) as third:
        answers = await asyncio.gather(*(peer.ask("answer", challenge=id, accept=True) for peer in (bo, second, third)))
    (room,) = (answer["room"] for answer in answers if answer["type"] == "ok")
    assert [answer["code"] for answer in answers if answer["type"] == "error"] == ["no_offer", "no_offer"]
    end = {"type": "challenge_over", "challenge": id, "how": "accepted", "room": room}
    assert await over(ana, id) == await over(bo, id) == end
    assert [*server.core.rooms.by_code] == [room]


async def test_the_room_of_an_acceptance_that_came_too_late_is_closed(
    server: Server, ana: Peer, bo: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, original = await challenge(ana, bo), Challenges._open_room

    async def open_late(challenges: Challenges, *args: Any) -> LiveRoom:
        live = await original(challenges, *args)
        await challenges._end(args[0], "withdrawn")  # as by another server
        return live

    monkeypatch.setattr(Challenges, "_open_room", open_late)
    assert await refusal(bo, "answer", challenge=id, accept=True) == ("no_offer", "challenge")
    assert (await over(ana, id))["how"] == (await over(bo, id))["how"] == "withdrawn"
    assert not server.core.rooms.by_code


async def test_an_acceptance_that_could_not_be_stored_can_be_repeated(store: TroubledStore) -> None:
    store.tables[CHALLENGES.name] = table = TroubledTable(CHALLENGES, store.games)
    async with Server(HERE, store, uncounted()) as server, known(server, "ana") as ana, known(server, "bo") as bo:
        id = await challenge(ana, bo)
        await bo.next_of("challenge")
        table.trouble.fail("save", StoreUnavailable("down"), key=id)
        assert (await refusal(bo, "answer", challenge=id, accept=True))[0] == "unavailable"
        room = (await bo.ask("answer", challenge=id, accept=True))["room"]
        assert (await over(ana, id))["room"] == (await over(bo, id))["room"] == room
        assert [*server.core.rooms.by_code] == [room]


async def test_an_impossible_challenge_is_refused_with_its_reason(server: Server) -> None:
    async with known(server, "ana") as ana, known(server, "cy", bot=True) as bot:
        assert await refusal(ana, "challenge", player=id_of(ana)) == ("not_allowed", "self")
        assert await refusal(ana, "challenge", player=id_of(bot)) == ("not_allowed", "challenge bot")
        assert await refusal(bot, "challenge", player=id_of(ana)) == ("not_allowed", "challenge bot")
        assert await refusal(ana, "challenge", player="nobody") == ("not_allowed", "challenge absent")
        assert await refusal(ana, "challenge", player="nobody", rated=True) == ("not_allowed", "ladder")
        assert await refusal(ana, "challenge", player="nobody", side="A") == ("bad_message", "seat")
        await hears_nothing(ana, "challenge", "challenge_over")


async def test_a_player_has_only_a_few_open_challenges(server: Server) -> None:
    async with AsyncExitStack() as leaving:
        ana, bo, *others = [
            await leaving.enter_async_context(known(server, f"p{number}")) for number in range(MAX_CHALLENGES + 2)
        ]
        id = await challenge(ana, bo)
        assert await refusal(ana, "challenge", player=id_of(bo)) == ("rate_limited", "challenges"), "one to a player"
        for other in others[:-1]:
            await challenge(ana, other)
        assert await refusal(ana, "challenge", player=id_of(others[-1])) == ("rate_limited", "challenges")
        await ana.ask("answer", challenge=id, accept=False)
        assert await challenge(ana, bo)


async def test_an_addresss_challenges_are_limited_by_player_and_by_opponents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.challenges.service.DIFFERENT_PLAYERS", 2)
    async with Server(HERE, limits=uncounted()) as server, AsyncExitStack() as leaving:
        many = [await leaving.enter_async_context(known(server, f"p{number}")) for number in range(SAME_PLAYER + 4)]
        bo, cy, dan, *spammers = many
        for spammer in spammers[:-1]:
            await challenge(spammer, bo)
        limit = ("rate_limited", "challenges of address")
        assert await refusal(spammers[-1], "challenge", player=id_of(bo)) == limit
        await challenge(spammers[0], cy)
        assert await refusal(spammers[0], "challenge", player=id_of(dan)) == limit


async def test_too_many_challenges_expire_a_strangers_oldest(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.features.challenges.service.MAX_RECEIVED", 2)
    async with known(server, "bo") as bo, known(server, "ana") as ana:
        room = (await bo.ask("create"))["room"]
        await ana.ask("join", room=room)
        await play_out({"X": bo, "O": ana}, room, [0, 3, 1, 4, 2])
        async with known(server, "eve") as eve, known(server, "mal") as mal:
            by_ana, by_eve, by_mal = [await challenge(one, bo) for one in (ana, eve, mal)]
            assert (await over(bo, by_eve))["how"] == "expired"
            async with again(server, bo) as other:
                assert open_of(other) == [by_ana, by_mal]


async def test_a_challenge_counts_as_an_opened_room() -> None:
    server = Server(HERE, limits=uncounted(creates_per_minute_per_player=2), monotonic_ns=FakeClock())
    async with server, known(server, "ana") as ana, known(server, "bo") as bo:
        await challenge(ana, bo)
        await ana.ask("create")
        assert await refusal(ana, "challenge", player=id_of(bo)) == ("rate_limited", "creates")


async def test_a_challenge_stays_open_if_no_room_can_be_opened() -> None:
    async with (
        Server(HERE, limits=uncounted(rooms=1)) as server,
        known(server, "ana") as ana,
        known(server, "bo") as bo,
    ):
        id = await challenge(ana, bo)
        room = (await bo.ask("create"))["room"]
        assert await refusal(bo, "answer", challenge=id, accept=True) == ("not_allowed", "challenge room")
        await bo.ask("leave", room=room)
        assert (await bo.ask("answer", challenge=id, accept=True))["room"]
        assert (await over(ana, id))["how"] == (await over(bo, id))["how"] == "accepted"


async def test_a_claimed_name_identifies_its_player_and_reveals_no_more_than_an_id(server: Server) -> None:
    async with known(server, "ana") as ana, known(server, "bo") as bo, known(server, "eve") as eve:
        await bo.ask("claim_name", name="Bo B")
        id = (await ana.ask("challenge", player="BO b"))["challenge"]
        assert (await bo.next_of("challenge"))["challenge"] == id
        assert await refusal(bo, "challenge", player="Bo B") == ("not_allowed", "self")
        assert await refusal(ana, "challenge", player="eve") == ("not_allowed", "challenge absent"), "it is not claimed"
        assert (await bo.ask("block", player=id_of(eve)))["blocks"] == [id_of(eve)]
        assert await refusal(eve, "challenge", player="Bo B") == ("not_allowed", "challenge absent")
        await hears_nothing(bo, "challenge of eve")
        assert len([told for told in bo.seen if told["type"] == "challenge"]) == 1
        assert (await eve.ask("block", player="bo-b"))["blocks"] == [id_of(bo)]
        assert (await eve.ask("block", player="Bo B", on=False))["blocks"] == []
    async with known(server, "ana") as ana:
        assert await refusal(ana, "challenge", player="Bo B") == ("not_allowed", "challenge absent")


async def test_an_id_takes_precedence_over_a_name_with_the_same_spelling(ana: Peer, bo: Peer, eve: Peer) -> None:
    await eve.ask("claim_name", name=id_of(bo))
    assert await challenge(ana, bo)
    await bo.next_of("challenge")
    await hears_nothing(eve, "challenge")


async def test_a_blocked_player_is_not_heard_and_learns_no_more_than_of_an_absent_one(
    ana: Peer, bo: Peer, eve: Peer
) -> None:
    assert await ana.ask("block", player=id_of(bo)) == {"type": "ok", "id": "r1", "blocks": [id_of(bo)]}
    assert await refusal(ana, "challenge", player=id_of(bo)) == ("not_allowed", "challenge blocked")
    room = (await ana.ask("create"))["room"]
    await bo.ask("join", room=room)
    await eve.ask("watch", room=room)
    for peer in (bo, eve):
        assert (await peer.ask("chat", room=room, text="Hello!"))["type"] == "ok"
    for peer, heard in ((ana, ["eve"]), (bo, ["bo", "eve"]), (eve, ["bo", "eve"])):
        await peer.ask("ping")
        assert [told["from"] for told in peer.seen if told["type"] == "chat"] == heard
    assert await refusal(bo, "challenge", player=id_of(ana)) == ("not_allowed", "challenge absent")
    await hears_nothing(ana, "challenge", "challenge_over")
    assert (await ana.ask("block", player=id_of(bo), on=False))["blocks"] == []
    assert await challenge(bo, ana)
    await ana.next_of("challenge")


async def test_a_player_who_is_blocked_after_the_challenge_cannot_accept_it(
    server: Server, ana: Peer, bo: Peer
) -> None:
    id = await challenge(ana, bo)
    await bo.next_of("challenge")
    await ana.ask("block", player=id_of(bo))
    assert await refusal(bo, "answer", challenge=id, accept=True) == ("no_offer", "challenge")
    assert not server.core.indexes.seats.rooms_of(id_of(bo))


@pytest.mark.parametrize("blocks", [(0, 1), (1, 0)])
async def test_a_match_joins_no_two_players_of_whom_one_blocks_the_other(
    ana: Peer, bo: Peer, eve: Peer, blocks: tuple[int, int]
) -> None:
    blocking, blocked = ((ana, bo)[index] for index in blocks)
    await blocking.ask("block", player=id_of(blocked))
    of_ana, of_bo, of_eve = [(await peer.ask("match"))["room"] for peer in (ana, bo, eve)]
    assert of_ana != of_bo
    assert of_eve == of_ana


async def test_a_match_skips_a_room_that_a_blocked_player_is_entering(
    server: Server, ana: Peer, bo: Peer, eve: Peer
) -> None:
    await ana.ask("block", player=id_of(bo))
    of_eve = (await eve.ask("create", rules="three-players"))["room"]
    server.core.rooms.by_code[of_eve].entering = {id_of(bo)}
    assert (await ana.ask("match", rules="three-players"))["room"] != of_eve


async def test_a_match_checks_the_room_that_it_joins(server: Server, ana: Peer, bo: Peer, eve: Peer) -> None:
    await ana.ask("block", player=id_of(bo))
    of_eve = (await eve.ask("create"))["room"]
    checked, goes_on = asyncio.Event(), asyncio.Event()

    async def wait(player: str, other: str) -> bool:
        checked.set()
        await goes_on.wait()
        return False

    server.core.hooks.match_checks.append(wait)
    matching = asyncio.create_task(ana.ask("match"))
    await checked.wait()
    of_bo = (await bo.ask("create"))["room"]
    async with open_peer(server.url, "dee") as dee:
        await dee.ask("join", room=of_eve)  # the seat that was free when the room was found
        goes_on.set()
        assert (await matching)["room"] not in (of_eve, of_bo)


async def test_blocks_are_limited_and_exclude_oneself(server: Server, ana: Peer) -> None:
    assert await refusal(ana, "block", player=id_of(ana)) == ("not_allowed", "self")
    many = tuple(f"p{number}" for number in range(MAX_BLOCKS))
    await save(server.core.store.table(BLOCKS), id_of(ana), Blocks(id_of(ana), many), MISSING)
    assert await refusal(ana, "block", player="one more") == ("not_allowed", "blocks")
    assert (await ana.ask("block", player=many[0]))["blocks"] == [*many[1:], many[0]]
    assert (await ana.ask("block"))["blocks"] == [*many[1:], many[0]]


async def test_a_bothered_player_blocks_as_many_at_once_as_there_are() -> None:
    async with Server(HERE) as server, known(server, "ana") as ana:
        for number in range(30):
            assert (await ana.ask("block", player=f"p{number}"))["type"] == "ok"


async def test_challenges_from_strangers_can_be_blocked(server: Server, ana: Peer, bo: Peer, eve: Peer) -> None:
    room = (await ana.ask("create"))["room"]
    await bo.ask("join", room=room)
    await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
    asked = {peer: await challenge(peer, ana) for peer in (bo, eve)}
    answer = await ana.ask("block", strangers=True)
    assert (answer["blocks"], answer["strangers"]) == ([], True)
    assert (await over(eve, asked[eve]))["how"] == "declined"
    assert await refusal(eve, "challenge", player=id_of(ana)) == ("not_allowed", "challenge strangers")
    assert (await ana.ask("block"))["strangers"] is True
    async with again(server, ana) as later:
        assert open_of(later) == [asked[bo]]
    assert "strangers" not in await ana.ask("block", strangers=False)
    await challenge(eve, ana)


async def test_a_challenge_finds_a_player_at_another_server_and_both_find_its_room(node: Node) -> None:
    async with cluster_of(node, 2) as (one, two), known(one, "ana") as ana, known(two, "bo") as bo:
        assert await refusal(ana, "challenge", player="nobody") == ("not_allowed", "challenge absent")
        id = await challenge(ana, bo, side="X")
        assert (await bo.next_of("challenge"))["name"] == "ana"
        async with again(two, ana) as other:
            assert open_of(other) == [id]
        room = (await bo.ask("answer", challenge=id, accept=True))["room"]
        assert (await over(ana, id))["room"] == (await over(bo, id))["room"] == room
        assert (await bo.ask("join", room=room))["seat"] == "O"
        answer = await ana.ask("join", room=room)
        assert (answer["code"], answer["url"]) == ("moved", two.url)
        async with again(two, ana) as there:
            assert (await there.ask("join", room=room))["seat"] == "X"
        id = await challenge(ana, bo)
        assert (await bo.ask("answer", challenge=id, accept=False))["type"] == "ok"
        assert (await over(ana, id))["how"] == "declined"
