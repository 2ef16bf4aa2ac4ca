import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from tests.fakes import FakeClock, Trouble, TroubledStore
from tests.limits import uncounted
from tests.peer import Message, Peer, open_peer, two_playing, until
from tictactoe_protocol.events import MAX_ROSTER_LENGTH
from tictactoe_server.core.live_room import closing_notice
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.features.tournaments import broadcasts, running, service
from tictactoe_server.play.names import Names
from tictactoe_server.records.tables import PLAYERS, ROOMS
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.storage.memory import MemoryStore

pytestmark = pytest.mark.features

HERE = Settings(host="127.0.0.1", port=0, features=(BotOptions(pause_seconds=0, workers=1),))
SLOW = {"kind": "round_robin", "title": "Friday", "clock": {"move_ms": 60_000}}


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(HERE, limits=uncounted()) as running:
        yield running


def events_of(server: Server) -> service.Tournaments:
    return server.service(service.Tournaments)


def known(server: Server, name: str | None = None, token: str | None = None, **fields: Any) -> Any:
    return open_peer(server.url, name, token, **fields)


async def opened(organiser: Peer, **terms: Any) -> str:
    """Open an event, a round robin by default, and return its code."""
    answer = await organiser.ask("event_open", **{**SLOW, "break_ms": 50, **terms})
    assert answer["type"] == "ok", answer
    return str(answer["event"])


async def watched(peer: Peer, event: str) -> Message:
    await peer.ask("event_watch", event=event, on=True)
    return await peer.next_of("event")


async def run(organiser: Peer, event: str, action: str, **fields: Any) -> Message:
    """Send an organiser's action with the current position; return the answer."""
    seq = (await watched(organiser, event))["seq"]
    return await organiser.ask("event_run", event=event, seq=seq, action=action, **fields)


async def begun(organiser: Peer, *players: Peer, **terms: Any) -> str:
    """Open and begin an event with these players; return its code."""
    event = await opened(organiser, **terms)
    for peer in players:
        assert (await peer.ask("event_join", event=event))["type"] == "ok"
    assert (await run(organiser, event, "begin"))["type"] == "ok"
    return event


async def test_a_plan_reads_a_pasted_table_and_opens_nothing(server: Server) -> None:
    async with known(server, language="de") as ana:
        terms = {**SLOW, "bots": ["easy"], "roster": "Name;Vorname\nKoch;Lena\nRot;Lena"}
        terms.pop("title")
        plan = (await ana.ask("event_plan", **terms))["event_plan"]
        assert (plan["names"], plan["kind"]) == (["Lena K.", "Lena R."], "round_robin")
        assert plan["text"].startswith("3 Spieler, 3 Runden, ")
        many = (await ana.ask("event_plan", **{**terms, "roster": "A\n" * 24}))["event_plan"]
        assert (len(many["names"]), many["kind"]) == (24, "swiss")
        assert await ana.refusal("event_plan", **{**terms, "roster": "A" * (MAX_ROSTER_LENGTH + 1)}) == "bad_message"
        assert (await ana.ask("events"))["events"] == []


@pytest.mark.parametrize("by", ["players", "organiser"])
@pytest.mark.parametrize("is_between", [False, True], ids=["in a round", "between rounds"])
async def test_a_deserted_event_waits(monkeypatch: pytest.MonkeyPatch, by: str, *, is_between: bool) -> None:
    monkeypatch.setattr(running, "DESERTED_SECONDS", 0)
    clock = FakeClock()
    async with Server(HERE, limits=uncounted(), monotonic_ns=clock) as server, known(server, "cy") as cy:
        async with known(server, "ana") as ana, known(server, "bo") as bo:
            tokens = [peer.welcome["token"] for peer in (ana, bo)]
            event = await begun(cy, ana, bo, double=True, break_ms=60_000)
            room = (await ana.next_of("call"))["room"]
            if is_between:
                await ana.ask("join", room=room)
                await ana.ask("resign", room=room)
                await cy.until(lambda told: told.get("due_ms"))
        clock.advance(is_between * 60_000)
        paused = await cy.until(lambda told: told.get("status") == "paused")
        assert (paused["round"], paused["needed"]) == (1, 2)
        rooms = server.core.rooms.by_code.values()
        await until(lambda: all(live.room.stands_still or live.room.result for live in rooms))
        if not is_between:
            await cy.ask("lobby", on=True, boards=3)
            assert (await cy.next_of("boards"))["boards"] == []
        clock.advance(3_600_000)
        async with known(server, token=tokens[0]) as ana, contextlib.AsyncExitStack() as stack:
            state = await watched(cy, event)
            assert (state["status"], state["needed"]) == ("paused", 2)
            if by == "organiser":
                assert (await run(cy, event, "resume"))["type"] == "ok"
            else:
                await stack.enter_async_context(known(server, token=tokens[1]))
            goes_on = await cy.until(lambda told: told.get("status") == "running")
            assert ("needed" in goes_on, (goes_on["due_ms"] or 0) > 50_000) == (False, is_between)
            if is_between:
                clock.advance(60_000)
                assert (await ana.next_of("call"))["pairing"] == "r2-1"
            elif by == "players":
                await until(lambda: not any(live.room.stands_still for live in rooms))
                async with known(server, token=tokens[0]) as again:
                    assert [call["due_ms"] for call in again.welcome["calls"]] == [60_000]


async def test_a_call_reaches_every_connection_within_a_second(server: Server) -> None:
    async with two_playing(server) as (ana, _, room), known(server, "cy") as cy:
        token = ana.welcome["token"]
        async with known(server, token=token) as here, known(server, token=token) as there:
            await here.ask("join", room=room)
            event = await begun(cy, here, cy)
            calls = [await peer.next_of("call") for peer in (here, there, cy)]
            mine, same, other = calls
            await ana.next_of("call")
            assert {key: mine[key] for key in ("event", "pairing", "against")} == {
                "event": event,
                "pairing": "r1-1",
                "against": "cy",
            }
            assert (mine["room"], mine["mark"]) == (same["room"], same["mark"]) != (other["room"], other["mark"])
            assert 0 < mine["due_ms"] <= 60_000


async def test_too_many_bots_are_refused() -> None:
    async with Server(HERE, limits=Limits()) as server, known(server, "ana") as ana:
        refused = await ana.ask("event_open", **SLOW, bots=["easy"] * 21)
        assert (refused["code"], refused["path"], refused["data"]["most"]) == ("not_allowed", "bots", 20)
        await opened(ana, bots=["easy"] * 20)


async def test_people_of_an_event_are_remembered_before_they_have_a_seat(server: Server) -> None:
    async with known(server, "olga") as organiser, known(server, "ana") as ana:
        await ana.ask("event_join", event=await opened(organiser))
    await server.service(Names).close()
    rows = [stored.value async for some in server.core.store.table(PLAYERS).load_all() for stored in some]
    assert [getattr(row, "is_seated", None) for row in rows] == [True, True]


async def test_all_invalid_names_of_a_roster_are_reported_with_their_places(server: Server) -> None:
    async with open_peer(server.url) as ana:
        answer = await ana.ask("event_open", **SLOW, entry="roster", roster=["Tom & Jerry", "Lena\u00a0", "M😀"])
    assert (answer["path"], answer["data"]["names"]) == ("roster[0]", "1. Tom & Jerry; 3. M😀")


async def test_a_card_of_the_roster_decides_the_name_and_the_organiser_has_the_cards_again(server: Server) -> None:
    async with known(server, "teacher") as ana, known(server, "guest") as bo:
        answer = await ana.ask("event_open", **SLOW, entry="roster", roster=["Mia", "Tom"])
        event, cards = answer["event"], answer["cards"]
        assert [card["name"] for card in cards] == ["Mia", "Tom"]
        assert await bo.refusal("event_join", event=event) == "not_entered"
        assert (await bo.ask("event_join", event=event, ticket=cards[1]["ticket"], name="Mia"))["type"] == "ok"
        assert [row["name"] for row in (await watched(ana, event))["table"]] == ["Tom"]
        assert (await run(ana, event, "cards"))["cards"] == cards
        (card,) = (await run(ana, event, "add", name="Ida"))["cards"]
        assert card["name"] == "Ida"
        await ana.until(lambda told: told.get("expected") == ["Mia", "Ida"])
        assert (await run(ana, event, "cards"))["cards"] == [*cards, card]
        async with known(server, "eve") as eve:
            assert (await eve.ask("events"))["events"] == []
            assert await eve.refusal("event_run", event=event, seq=1, action="cards") == "not_organiser"
        assert [row["event"] for row in (await bo.ask("events"))["events"]] == [event]


@contextlib.asynccontextmanager
async def card_game(server: Server, **terms: Any) -> AsyncIterator[tuple[str, str, Peer, Peer, Message]]:
    """Yield the code of an event, a card, the peer playing by it, the opponent after the first move, and the call."""
    async with known(server, "teacher") as teacher, known(server, "one") as one, known(server, "two") as two:
        answer = await teacher.ask("event_open", **{**SLOW, **terms}, entry="roster", roster=["Mia", "Tom"])
        seats = {}
        for peer, card in zip((one, two), answer["cards"], strict=True):
            assert (await peer.ask("event_join", event=answer["event"], ticket=card["ticket"]))["type"] == "ok"
        await run(teacher, answer["event"], "begin")
        for peer, card in zip((one, two), answer["cards"], strict=True):
            call = await peer.next_of("call")
            assert (await peer.ask("join", room=call["room"]))["type"] == "ok"
            seats[call["mark"]] = peer, card["ticket"], call
        (other, _, _), (holder, ticket, call) = seats["X"], seats["O"]
        await other.ask("move", room=call["room"], cell=4, ply=0)
        yield answer["event"], ticket, holder, other, call


async def leave_device(server: Server, peer: Peer) -> None:
    """Close a device's connection and wait until the server has noticed."""
    await peer.socket.close()
    await until(lambda: not server.core.presence.of_player(peer.welcome["player"]))


async def play_on(event: str, heir: Peer, other: Peer, call: Message, take: dict[str, Any]) -> None:
    """Take the seat of a card and act there; then the opponent resigns, and the stored result names the heir."""
    room, player = call["room"], heir.welcome["player"]
    joined = await heir.ask("join", room=room)
    assert joined.get("seat") == "O", joined
    state = await heir.state(moves=[4])
    assert (state["seats"]["O"]["player"], state["seats"]["O"]["online"]) == (player, True)
    assert {seat["name"] for seat in state["seats"].values()} == {"Mia", "Tom"}
    assert (await heir.ask(**take, room=room, ply=1))["type"] == "ok"
    await other.ask("resign", room=room)
    await heir.ask("event_watch", event=event, on=True)
    await heir.until(lambda told: told["type"].startswith("event") and told["status"] == "over")
    over = await watched(heir, event)
    assert (over["table"][0]["player"], over["table"][0]["points"]) == (player, 1.0)
    (game,) = (await heir.ask("history"))["games"]
    assert (game["room"], game["players"]["O"]["player"], over["pairings"][0]["by"]) == (room, player, "game")
    (exported,) = (await heir.ask("export"))["export"]["games"]
    assert [(one["event"], one["pairing"]) for one in (game, exported)] == [(event, "r1-1")] * 2


@pytest.mark.parametrize(
    ("rules", "take"),
    [("classic", {"type": "move", "cell": 0}), ("four-pie", {"type": "choose", "take": "O"})],
    ids=["clock", "choice"],
)
async def test_a_card_continues_the_game_of_an_absent_player(
    server: Server, monkeypatch: pytest.MonkeyPatch, rules: str, take: dict[str, Any]
) -> None:
    async with card_game(server, rules=rules) as (event, ticket, holder, other, call), known(server, "new") as heir:
        await leave_device(server, holder)
        written = f"{ticket[:6]}-{ticket[6:]}".lower()
        with monkeypatch.context() as deaf:  # the room's server has not received the news yet
            deaf.setattr(running.Running, "wake", lambda self, code: None)
            await heir.send("event_join", event=event, ticket=written)
            assert (await heir.ask("join", room=call["room"]))["type"] == "ok"
        await play_on(event, heir, other, call, take)


async def test_a_card_is_taken_over_only_on_request(server: Server) -> None:
    async with card_game(server) as (event, ticket, holder, other, call), known(server, "new") as heir:
        refused = await heir.ask("event_join", event=event, ticket=ticket)
        assert (refused["code"], refused["data"]["why"]) == ("not_allowed", "event card")
        assert refused["data"]["name"] in ("Mia", "Tom")

        def lacks_holder(told: Message) -> bool:
            return told["type"] == "event" and holder.welcome["player"] not in [row["player"] for row in told["table"]]

        holder.seen.clear()
        assert (await heir.ask("event_join", event=event, ticket=ticket, here=True))["type"] == "ok"
        assert [told["room"] for told in heir.seen if told["type"] == "call"] == [call["room"]]
        # The two broadcasts may come in either order.
        assert (await holder.next_of("replaced"))["room"] == call["room"]
        if not any(map(lacks_holder, holder.seen)):
            await holder.until(lacks_holder)
        assert await holder.refusal("move", room=call["room"], cell=0, ply=1) == "not_in_room"
        await play_on(event, heir, other, call, {"type": "move", "cell": 0})


async def test_a_takeover_interrupted_by_a_crash_is_completed(store: TroubledStore) -> None:
    async with Server(HERE, store, uncounted()) as server, card_game(server) as game, known(server, "new") as heir:
        event, ticket, holder, other, call = game
        store.rooms.trouble.hold()
        await heir.send("event_join", event=event, ticket=ticket, here=True)
        await store.rooms.trouble.until_held(1)
        store.events.trouble.hold()  # from now on nothing is stored
    store.rooms.trouble, store.events.trouble = Trouble(), Trouble()
    async with (
        Server(HERE, store, uncounted()) as server,
        known(server, token=heir.welcome["token"]) as heir,
        known(server, token=other.welcome["token"]) as other,
        known(server, token=holder.welcome["token"]) as holder,
    ):
        assert ("calls" in holder.welcome, [told["room"] for told in heir.welcome["calls"]]) == (False, [call["room"]])
        assert (await other.ask("join", room=call["room"]))["seat"] == "X"
        await other.until(
            lambda told: told["type"] == "room" and told["seats"]["O"]["player"] == heir.welcome["player"]
        )
        await play_on(event, heir, other, call, {"type": "move", "cell": 0})


async def test_leaving_a_running_event_forfeits_the_game_and_closes_its_room(ana: Peer, bo: Peer) -> None:
    event = await begun(ana, ana, bo)
    call = await bo.next_of("call")
    await bo.ask("join", room=call["room"])
    assert (await ana.ask("event_leave", event=event))["type"] == "ok"
    ended = await bo.next_of("closed")
    assert (ended["room"], ended["code"]) == (call["room"], "event won")
    assert ended["reason"] == "The event scores it as a win for bo."
    over = await watched(ana, event)
    assert (over["status"], over["pairings"][0]["result"]) == ("over", call["mark"])


async def test_entering_and_leaving_an_event_is_rate_limited() -> None:
    limits = uncounted(offers_per_ten_seconds_per_player=3)
    async with Server(HERE, limits=limits, monotonic_ns=FakeClock()) as server, known(server) as ana:
        event = await opened(ana)
        for asked, fields in (("event_ready", {"on": False}), ("event_ready", {"on": True}), ("event_leave", {})):
            await ana.ask("event_join", event=event)
            assert (await ana.ask(asked, event=event, **fields))["type"] == "ok"
        assert await ana.refusal("event_leave", event=event) == "rate_limited"
        assert await ana.refusal("event_ready", event=event, on=True) == "rate_limited"


async def test_a_code_that_no_event_has_is_refused(ana: Peer) -> None:
    for code in ("222222", "nonsense", "1"):
        refused = await ana.ask("event_join", event=code)
        assert (refused["code"], refused["path"]) == ("no_such_event", "event")


async def test_subscribers_get_changes_of_an_event_until_they_unsubscribe(ana: Peer, eve: Peer, bo: Peer) -> None:
    event = await opened(ana, bots=["easy"])
    state = await watched(eve, event)
    assert (state["head"]["players"], state["head"]["present"]) == (1, 1)
    await ana.ask("event_join", event=event)
    entered = await eve.next_of("event")
    assert (entered["head"]["players"], entered["head"]["present"]) == (2, 2)
    await ana.ask("event_ready", event=event, on=False)
    rows = await eve.next_of("event_rows")
    assert [(row["name"], row["status"]) for row in rows["rows"]] == [("ana", "away")]
    assert (rows["seq"], rows["pairings"]) == (entered["seq"] + 1, [])
    await eve.ask("event_watch", event=event, on=False)
    count = len(eve.seen)
    await bo.ask("event_join", event=event)
    await ana.until(lambda message: message["type"] == "event" and message["head"]["players"] == 3)
    await eve.ask("ping")
    assert [message["type"] for message in eve.seen[count:]] == ["ok"]


async def test_missing_players_are_listed_with_times(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcasts, "LOOK_SECONDS", 0.05)
    async with known(server, "teacher") as teacher:
        answer = await teacher.ask("event_open", **SLOW, entry="roster", roster=["Mia", "Tom", "Cem"])
        event, tickets = answer["event"], [card["ticket"] for card in answer["cards"]]
        state = await watched(teacher, event)
        assert (state["expected"], state["head"]["expected"]) == (["Mia", "Tom", "Cem"], 3)
        async with known(server) as mia, known(server) as tom:
            for peer, ticket in ((mia, tickets[0]), (tom, tickets[1])):
                await peer.ask("event_join", event=event, ticket=ticket)
            state = await teacher.until(lambda told: told["type"] == "event" and told["head"]["players"] == 2)
            assert (state["expected"], state["head"]["present"]) == (["Cem"], 2)
            assert "away" not in state
            await leave_device(server, tom)
            gone = await teacher.until(lambda told: told["type"] == "event_rows" and told["present"] == 1)
            assert [*gone["away"]] == [tom.welcome["player"]]
            assert gone["away"][tom.welcome["player"]] < 60_000
            async with known(server, token=tom.welcome["token"]):
                back = await teacher.until(lambda told: told["type"] == "event_rows" and told["present"] == 2)
                assert "away" not in back
                await run(teacher, event, "begin")
                begun = await teacher.until(lambda told: told["type"] == "event" and told["round"] == 1)
                assert (begun["expected"], "expected" in begun["head"]) == (["Cem"], False), "who never came"


async def test_the_games_of_a_round_are_shown_live(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcasts, "LOOK_SECONDS", 0.05)
    async with known(server, "ana") as ana, known(server, "bo") as bo:
        event = await begun(ana, ana, bo)
        call = await ana.next_of("call")
        peers = {call["mark"]: ana, "XO".replace(call["mark"], ""): bo}
        for peer in peers.values():
            await peer.ask("join", room=call["room"])
        watcher = await watched(bo, event)
        assert watcher["games"] == {"r1-1": {"ply": 0, "turn": "X", "clock": watcher["games"]["r1-1"]["clock"]}}
        await peers["X"].ask("move", room=call["room"], ply=0, cell=4)
        await bo.until(lambda one: one.get("games", {}).get("r1-1", {}).get("ply") == 1)  # perhaps in a whole state
        await peers["O"].ask("move", room=call["room"], ply=1, cell=0)
        told = await bo.until(lambda one: one["type"] == "event_rows" and one["games"]["r1-1"]["ply"] > 1)
        assert (told["rows"], told["pairings"], told["games"]["r1-1"]["turn"]) == ([], [], "X")
        assert told["games"]["r1-1"]["clock"]["remaining_ms"].keys() == {"X", "O"}


async def test_a_large_event_is_shown_in_eight_kilobytes_with_the_own_row(server: Server) -> None:
    async with known(server, "zoe" * 6) as zoe:
        event = await opened(zoe, kind="swiss", bots=["easy"] * 159, clock={"move_ms": 60_000}, ready_ms=60_000)
        await zoe.ask("event_join", event=event)
        await run(zoe, event, "begin")
        text = ""
        while not ('"type":"event"' in text and '"round":1' in text and '"state":"open"' in text):
            text = str(await zoe.socket.recv())
        assert len(text.encode()) < 8_192
        state, own = json.loads(text), zoe.welcome["player"]
        assert own in [row["player"] for row in state["table"]]
        assert len(state["table"]) <= 21


async def test_running_events_are_listed_newest_first(ana: Peer, bo: Peer) -> None:
    first, second = await opened(ana, title="One"), await opened(ana, title="Two", bots=["easy"])
    rows = (await bo.ask("events"))["events"]
    assert [(row["event"], row["title"], row["players"]) for row in rows] == [(second, "Two", 1), (first, "One", 0)]
    await run(ana, second, "close")
    assert [row["event"] for row in (await bo.ask("events"))["events"]] == [first]


@pytest.mark.parametrize("bot", [False, True], ids=["a person", "a program"])
async def test_after_a_restart_events_wait_for_their_players(bot: bool) -> None:
    store, clock = MemoryStore(kept_by()), FakeClock()
    start = partial(Server, HERE, store, uncounted(), monotonic_ns=clock)
    async with start() as server, known(server, "ana") as ana, known(server, "bo", bot=bot) as bo:
        tokens = [peer.welcome["token"] for peer in (ana, bo)]
        event = await begun(ana, ana, bo, double=True, ready_ms=1_000)
        rooms = [(await peer.next_of("call"))["room"] for peer in (ana, bo)]
    for is_last in (False, True):
        async with start() as server, known(server, token=tokens[0]) as ana:
            clock.advance(3_600_000)
            stored = await store.table(ROOMS).load(rooms[0])
            assert stored is not None
            assert stored[0].stands_still
            await ana.ask("join", room=rooms[0])
            await ana.state(status="playing")
            if is_last:
                async with known(server, None, tokens[1], bot=bot) as bo:
                    await bo.ask("join", room=rooms[1])
                    await watched(ana, event)
                    await bo.ask("resign", room=rooms[1])
                    await ana.until(lambda message: message["type"] == "event_rows" and message["due_ms"] is not None)
    async with start() as server, known(server, token=tokens[0]) as ana:
        clock.advance(3_600_000)
        drive = events_of(server).running
        await until(lambda: not drive._woken)
        drive.wake(event)
        await until(lambda: not drive._woken)
        assert (await watched(ana, event))["round"] == 1
        async with known(server, None, tokens[1], bot=bot) as bo:
            assert {(await peer.next_of("call"))["pairing"] for peer in (ana, bo)} == {"r2-1"}


async def test_nothing_new_begins_while_the_server_drains(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK_SECONDS", 0.02)
    async with known(server, "ana") as ana, known(server, "bo") as bo:
        event = await begun(ana, ana, bo, bots=["easy", "medium"])
        calls = [await peer.next_of("call") for peer in (ana, bo)]
        server.parts.drain.start(None, is_final=False)
        assert await bo.refusal("event_open", **SLOW) == "busy"
        for peer, call in zip((ana, bo), calls, strict=True):
            await peer.ask("join", room=call["room"])
            await peer.ask("resign", room=call["room"])
        await ana.until(lambda message: message.get("due_ms") is not None)
        await asyncio.sleep(0.3)
        state = await watched(ana, event)
        assert (state["status"], state["round"], state["due_ms"]) == ("running", 1, 0)
        server.parts.drain.is_on = False
        assert (await ana.next_of("call"))["pairing"].startswith("r2-")


async def test_a_lost_room_is_replaced_under_another_code(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK_SECONDS", 0.02)
    async with known(server, "ana") as ana, known(server, "bo") as bo:
        await begun(ana, ana, bo)
        first = await ana.next_of("call")
        live = server.core.rooms.by_code[first["room"]]
        await server.core.timers.end(live, closing_notice(first["room"], "operator"))
        second = await ana.next_of("call")
        assert second["pairing"] == first["pairing"]
        assert second["room"] != first["room"]


async def test_a_player_opens_two_events_and_an_address_a_few(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "EVENTS_OF_ADDRESS", 3)
    async with known(server, "ana") as ana, known(server, "bo") as bo:
        first = await opened(ana)
        await opened(ana)
        refused = await ana.ask("event_open", **SLOW)
        assert (refused["code"], refused["data"]["why"]) == ("rate_limited", "events-per-player")
        await opened(bo)
        refused = await bo.ask("event_open", **SLOW)
        assert (refused["code"], refused["data"]["why"]) == ("rate_limited", "events-per-address")
        assert (await run(ana, first, "close"))["type"] == "ok"
        await opened(bo)


async def test_guessing_tickets_and_codes_is_rate_limited() -> None:
    server = Server(HERE, limits=Limits(), monotonic_ns=FakeClock())
    async with server, known(server, "ana") as ana, known(server, "eve") as eve:
        event = (await ana.ask("event_open", **SLOW, entry="code"))["event"]
        codes = [await eve.refusal("event_join", event=event, ticket=f"T{number}") for number in range(6)]
        codes += [await eve.refusal("event_watch", event="222222", on=True) for _ in range(5)]
        assert codes == ["not_entered"] * 6 + ["no_such_event"] * 4 + ["rate_limited"]
        assert await eve.refusal("event_watch", event=event, on=True) == "rate_limited"
        own = await opened(eve)
        assert (await eve.ask("event_watch", event=own, on=True))["type"] == "ok"
