import asyncio
import contextlib
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.peer import Peer, open_peer, play_out, two_playing, until
from tests.server.stored import bans_in
from tests.server.test_pages import get
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.features.tournaments.service import EndEvent, ListEvents
from tictactoe_server.operator.bans import Bans, parse_subject
from tictactoe_server.operator.order import Order, OrderRefused
from tictactoe_server.operator.people import Announce, BanOrder, Kick, ListBans, Unban
from tictactoe_server.operator.rooms import CloseRoom
from tictactoe_server.operator.status import DrainOrder, Status
from tictactoe_server.records.tables import BANS, KEPT
from tictactoe_server.scheduler import Tasks
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.storage.memory import MemoryStore

BANNED, KICKED, RESTART = 4500, 4501, 1012


async def end_of(peer: Peer) -> tuple[list[dict[str, Any]], int | None]:
    told = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            told.append(await peer.receive())
    return told, peer.socket.close_code


async def ask(server: Server, order: Order) -> Any:
    return await server.carry_out(order)


async def refusal(server: Server, order: Order) -> str:
    with pytest.raises(OrderRefused) as refused:
        await ask(server, order)
    return str(refused.value)


async def test_a_kicked_player_reads_the_reason_and_may_return(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room):
        assert (await ask(server, Kick("ana", "too loud.")))["connections"] == 1
        told, code = await end_of(ana)
        assert told[-1]["code"] == "kicked"
        assert told[-1]["message"] == "The operator of this server has ended your connection: too loud."
        assert code == KICKED
        await bo.until(lambda message: message["type"] == "room" and not message["seats"]["X"]["online"])
        async with open_peer(server.url, token=ana.welcome["token"]) as again:
            assert again.seats == {room: "X"}


async def test_refusals_and_reasons_are_in_the_language_of_hello(server: Server) -> None:
    async with two_playing(server) as (ana, _, room), open_peer(server.url, "hans", language="de-AT") as hans:
        await hans.ask("watch", room=room)
        for request, text in (("resign", "Du schaust "), ("mvoe", "Eine Nachricht vom Typ ")):
            assert (await hans.ask(request, room=room))["message"].startswith(text)
        await ask(server, CloseRoom(room))
        reasons = [(await peer.next_of("closed"))["reason"] for peer in (ana, hans)]
        assert reasons == ["The operator closed it.", "Der Betreiber hat ihn geschlossen."]
        await ask(server, BanOrder("127.0.0.1"))
        sentence = "Der Betreiber dieses Servers hat dich gesperrt."
        assert [error["message"] for error in (await end_of(hans))[0]] == [sentence]
        async with open_peer(server.url, language="de") as late:
            assert late.welcome["message"] == sentence


async def test_of_two_with_one_name_neither_is_kicked_by_it(server: Server) -> None:
    async with open_peer(server.url, "ana") as one, open_peer(server.url, "ana") as two:
        words = await refusal(server, Kick("ana"))
        assert one.welcome["player"] in words
        assert two.welcome["player"] in words
        await ask(server, Kick(two.welcome["player"]))
        assert (await end_of(two))[1] == KICKED
        assert (await one.ask("ping"))["type"] == "ok"
    assert "nobody" in await refusal(server, Kick("nobody"))


async def test_a_banned_player_is_sent_away_and_stays_out_until_that_is_over(server: Server) -> None:
    async with open_peer(server.url, "ana") as ana:
        ban = await ask(server, BanOrder("ana", 3600, "spam"))
        told, code = await end_of(ana)
        assert (told[-1]["code"], code) == ("banned", BANNED)
        assert "spam" in told[-1]["message"]
    async with open_peer(server.url, token=ana.welcome["token"]) as again:
        assert again.welcome["code"] == "banned"
        assert (await end_of(again))[1] == BANNED
    async with open_peer(server.url, "bo") as other:
        assert other.welcome["type"] == "welcome"
    assert [row["subject"] for row in await ask(server, ListBans())] == [ban["subject"]]
    await ask(server, Unban(ban["subject"]))
    async with open_peer(server.url, token=ana.welcome["token"]) as back:
        assert back.welcome["type"] == "welcome"
    assert "not banned" in await refusal(server, Unban(ban["subject"]))


@pytest.mark.parametrize("subject", ["127.0.0.1", "127.0.0.0/8", "::ffff:127.0.0.1"])
async def test_a_banned_address_gets_no_welcome(server: Server, subject: str) -> None:
    async with open_peer(server.url, "ana") as ana:
        await ask(server, BanOrder(subject))
        told, code = await end_of(ana)
        assert (told[-1]["code"], code) == ("banned", BANNED)
    async with open_peer(server.url, "bo") as late:
        assert late.welcome["code"] == "banned"
        assert (await end_of(late))[1] == BANNED
    async with open_peer(server.url, "cy", language="de") as german:
        assert german.welcome["message"] == "Der Betreiber dieses Servers hat dich gesperrt."
    await ask(server, Unban(subject))
    async with open_peer(server.url, "bo") as back:
        assert back.welcome["type"] == "welcome"


@pytest.mark.parametrize("subject", ["", "nonsense", "300.0.0.1", "10.0.0.0/40", "p", "::1/129"])
def test_an_invalid_subject_of_a_ban_is_refused(subject: str) -> None:
    assert parse_subject(subject) is None


async def test_bans_are_kept_and_end_by_themselves() -> None:
    store, now = MemoryStore(KEPT), [1_000_000]
    tasks = Tasks()
    bans = Bans(store.table(BANS), RemoteServers(), tasks, lambda: now[0])
    await bans.add("192.0.2.0/24", "noise", 60)
    await bans.add("2001:db8::/64", "", None)
    await bans.add("p0123456789", "spam", 30)
    again = Bans(store.table(BANS), RemoteServers(), tasks, lambda: now[0])
    await again.load()
    assert [ban.subject for ban in again] == [ban.subject for ban in bans]
    assert again.refusal_of("192.0.2.99") is not None
    assert again.refusal_of("::ffff:192.0.2.99") is not None
    assert again.refusal_of("2001:db8::1:2:3:4") is not None
    assert again.refusal_of("2001:db8:0:1::1") is None
    assert again.refusal_of("192.0.3.1") is None
    assert again.refusal_of("") is None
    now[0] += 30_000
    assert again.of_subject("p0123456789") is None
    now[0] += 30_000
    assert again.refusal_of("192.0.2.99") is None
    await again.forget_past()
    assert [ban.subject for ban in await bans_in(store)] == ["2001:db8::/64"]
    await store.close()


@pytest.mark.features
async def test_unlisted_events_are_listed_for_the_operator_too(server: Server) -> None:
    assert ListEvents().describe(await ask(server, ListEvents())) == "No tournaments."
    async with open_peer(server.url, "ana") as ana:
        terms = {"kind": "swiss", "title": "Friday", "clock": {"move_ms": 60_000}, "entry": "code"}
        code = (await ana.ask("event_open", **terms, bots=["easy", "easy"]))["event"]
        (row,) = await ask(server, ListEvents())
        assert (row["event"], row["title"], row["status"], row["players"], row["here"]) == (
            code,
            "Friday",
            "open",
            2,
            2,
        )
        await ana.ask("event_watch", event=code, on=True)
        assert EndEvent("").describe(await ask(server, EndEvent(code.lower()))) == f"Ended tournament {code}, Friday."
        assert (await ana.until(lambda message: message.get("status") == "void"))["event"] == code
    assert await ask(server, ListEvents()) == []
    assert await refusal(server, EndEvent(code)) == "This event is over."
    assert "K7M4PQ" in await refusal(server, EndEvent("K7M4PQ"))


async def test_an_announcement_reaches_everybody_clean(server: Server, ana: Peer, bo: Peer) -> None:
    answer = await ask(server, Announce("Tea\u202e at\x1b[31m five"))
    assert answer["connections"] == 2
    for peer in (ana, bo):
        assert (await peer.next_of("announcement"))["text"] == answer["text"]
    assert "\x1b" not in answer["text"]
    assert "\u202e" not in answer["text"]


async def test_draining_refuses_new_games_and_lets_running_ones_finish(server: Server, ana: Peer, bo: Peer) -> None:
    over, on = [(await ana.ask("create"))["room"] for _ in range(2)]
    for room in (over, on):
        await bo.ask("join", room=room)
    waiting = (await ana.ask("create"))["room"]
    await play_out({"X": ana, "O": bo}, over, [0, 3, 1, 4, 2])
    answer = await ask(server, DrainOrder(600))
    assert (answer["games"], answer["seconds_left"], answer["for_good"]) == (1, 600, False)
    notice = await bo.next_of("notice")
    assert (notice["code"], notice["in_ms"]) == ("restarting", 600_000)
    for request, fields in (
        ("create", {}),
        ("match", {}),
        ("rematch", {"room": over}),
        ("join", {"room": waiting}),
    ):
        reply = await bo.ask(request, **fields)
        assert (reply["code"], reply["retry_ms"] > 0) == ("busy", True)
    assert (await ask(server, Status()))["unready"] == "draining"
    ending = asyncio.create_task(server.parts.drain.until_over())
    assert (await bo.ask("join", room=on))["seat"] == "O"
    await play_out({"X": ana, "O": bo}, on, [0, 3, 1, 4, 2])
    await ending


async def test_while_it_drains_a_rematch_that_has_begun_is_still_acknowledged(server: Server) -> None:
    async with two_playing(server) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
        for peer in (ana, bo):
            await peer.ask("rematch", room=room, game=1)
        await ask(server, DrainOrder(600))
        assert (await ana.ask("rematch", room=room, game=1))["type"] == "ok"
        assert await ana.refusal("rematch", room=room, game=2) == "busy"


async def test_a_final_drain_ends_at_its_deadline_and_says_so() -> None:
    server = await Server(Settings(host="127.0.0.1", port=0)).__aenter__()
    async with two_playing(server) as (ana, *_):
        await ask(server, DrainOrder(0.2, for_good=True))
        await server.parts.drain.until_over()
        assert (await ana.next_of("notice"))["code"] == "stopping"
        assert "retry_ms" not in await ana.ask("create")
        leaving = asyncio.create_task(server.__aexit__(None, None, None))
        last, code = await end_of(ana)
        assert last[-1] == {"type": "notice", "code": "stopping", "retry_ms": 1000}
        assert code == RESTART
        await leaving


async def test_an_abandoned_game_does_not_delay_draining(server: Server) -> None:
    async with two_playing(server):
        pass
    await until(lambda: not server.core.presence.ids)
    await ask(server, DrainOrder())
    await server.parts.drain.until_over()


async def test_a_banned_address_may_read_only_health_over_plain_http(server: Server, ana: Peer) -> None:
    room = (await ana.ask("create"))["room"]
    await ask(server, BanOrder("127.0.0.1", reason="Mind your words."))
    for path in ("/", "/wall", f"/{room}", "/replay/abcdefghijklmnop"):
        answer = await get(server, path)
        assert (answer.status, b"Mind your words." in answer.body) == (403, True)
    for path in ("/healthz", "/readyz"):
        assert (await get(server, path)).status == 200
    await ask(server, Unban("127.0.0.1"))
    assert (await get(server, f"/{room}")).status in (200, 404)
