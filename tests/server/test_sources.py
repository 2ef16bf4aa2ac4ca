from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import Counter
from functools import partial
from typing import Any

import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.peer import Peer, open_peer, play_out, until
from tests.raw import open_raw, ping, text
from tests.server.test_limits import LOOPBACK, serving, speaking_for
from tests.server.test_pages import LINE_FOR_X
from tictactoe_server.core import pressure
from tictactoe_server.core.pressure import IN_LINE, PLACES, PLACES_OF_ADDRESS, PLAYING_SECONDS, Place, Places, Pressure
from tictactoe_server.play.hello import HelloService
from tictactoe_server.server import Server
from tictactoe_server.settings import Limits
from tictactoe_server.transport.rate_limit import RateLimit

SECOND_NS = 1_000_000_000


class InLine:
    """A sender that always has more messages, and knows when they were taken."""

    def __init__(self, taken: list[InLine], sources: Pressure, messages: int, address: str = "192.0.2.1") -> None:
        self._taken = taken
        self._source = sources.of(address)
        self._messages = messages

    def take_turn(self) -> bool:
        if not self._messages:
            return False
        self._messages -= 1
        self._taken.append(self)
        if self._messages:
            self._source.line_up(self.take_turn)
        return True


def note_what_is_read(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    read, decode = list[bytes](), server._dispatcher._decode

    def note(message: bytes) -> Any:
        read.append(message)
        return decode(message)

    monkeypatch.setattr(server._dispatcher, "_decode", note)
    return read


def unlimited() -> RateLimit:
    """Return the limit of a session without a limit."""
    return RateLimit(0, 0, lambda: 0)


def some_sources(now_ns: list[int], at_once: int = 3, **more: int) -> Pressure:
    limits = uncounted(messages_per_second_per_address=1, messages_at_once_per_address=at_once, **more)
    return Pressure(limits, lambda: now_ns[0])


def test_every_address_has_its_own_rate_limit() -> None:
    now_ns = [SECOND_NS]
    sources = some_sources(now_ns)
    assert [bool(sources.of("192.0.2.1").consume(unlimited())) for _ in range(4)] == [False, False, False, True]
    assert sources.of("192.0.2.2").consume(unlimited()) == 0
    now_ns[0] += SECOND_NS
    assert [bool(sources.of("192.0.2.1").consume(unlimited())) for _ in range(2)] == [False, True]
    assert sources.rates.most_used == 3


async def test_idle_addresses_wait_longer_after_a_full_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.core.pressure.SHARE_SECONDS", -1)
    monkeypatch.setattr("tictactoe_server.core.pressure.PERIOD_SECONDS", 600)
    sources, taken = some_sources([SECOND_NS], at_once=100), list[InLine]()
    playing, idle = sources.of("192.0.2.1"), sources.of("192.0.2.2")
    playing.note_play()
    sources.measure_turn()
    await asyncio.sleep(0)
    assert (playing.consume(unlimited()), idle.consume(unlimited())) == (0, IN_LINE)
    sources.slow_lines._work_seconds = 60
    waiting = InLine(taken, sources, 1, "192.0.2.2")
    idle.line_up(waiting.take_turn)
    await asyncio.sleep(0)
    assert taken == [waiting], "a share of the time is theirs"
    del playing
    gc.collect()
    assert sources.of("192.0.2.1").consume(unlimited()) == 0, "it has lost its only connection, and comes back"
    for _ in range(PLAYING_SECONDS):
        sources.fade()
    assert sources.of("192.0.2.1").consume(unlimited()) == IN_LINE


async def test_later_steps_of_requests_count_for_the_time_of_addresses_without_players() -> None:
    sources = some_sources([SECOND_NS], at_once=100)
    playing, idle = sources.of("192.0.2.1"), sources.of("192.0.2.2")
    playing.note_play()
    playing.pressure.charge(playing, 0.01)
    assert idle.consume(unlimited()) == 0
    idle.pressure.charge(idle, 0.01)
    assert (idle.consume(unlimited()), playing.consume(unlimited())) == (IN_LINE, 0)
    assert [sources._rest() for _ in range(2)] == [0.02, pressure._LONG_REST_SECONDS]


async def test_players_need_not_wait_for_a_full_turn_unless_their_address_asks_for_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tictactoe_server.core.pressure.SHARE_SECONDS", -1)
    sources = some_sources([SECOND_NS], at_once=100)
    loud, quiet = sources.of("192.0.2.1"), sources.of("192.0.2.2")
    for source in (loud, quiet):
        source.note_play()
    loud.pressure.charge(loud, 0.04)
    sources.measure_turn()
    assert sources.is_full
    assert (quiet.consume(unlimited()), loud.consume(unlimited())) == (0, IN_LINE)
    quiet.pressure.charge(quiet, 0.03)
    sources.excess = 9.0
    assert (sources.is_heavy(quiet), sources.is_heavy(quiet, is_late=True, has_priority=True)) == (True, False)


async def test_unused_turns_are_returned_to_the_address() -> None:
    now_ns = [SECOND_NS]
    sources = some_sources(now_ns)
    source, taken = sources.of("192.0.2.1"), list[InLine]()
    for _ in range(3):
        source.consume(unlimited())
    for messages in (0, 1):
        source.line_up(InLine(taken, sources, messages).take_turn)
    now_ns[0] += SECOND_NS
    source._queue_up()
    await asyncio.sleep(0)
    assert len(taken) == 1


def test_an_address_is_heavy_by_the_time_it_took_and_a_light_one_only_under_far_too_much_load() -> None:
    sources = some_sources([SECOND_NS])
    heavy, light = sources.of("192.0.2.1"), sources.of("192.0.2.2")
    for source, count, seconds in ((heavy, 4, 1.6), (light, 40, 0.04)):
        source.asked = count
        source.pressure.charge(source, seconds)
    sources.fade()
    assert (heavy.seconds, light.seconds) == (0.8, 0.02)
    assert sources.is_heavy(heavy)
    assert not sources.is_heavy(light, is_late=True)
    for sources.excess in (1.01, 10):
        assert not sources.is_heavy(light)
    sources.excess = 100
    assert sources.is_heavy(light)
    sources.fade()
    assert sources.seconds == heavy.seconds + light.seconds


async def test_players_share_the_rate_limit_of_their_address(clock: FakeClock) -> None:
    limits = uncounted(messages_per_second_per_address=1, messages_at_once_per_address=6, flood_seconds=600)
    async with serving(limits, clock, trusted_proxies=LOOPBACK) as server, contextlib.AsyncExitStack() as stack:
        ana, bo = [await stack.enter_async_context(speaking_for(server, "192.0.2.1")) for _ in range(2)]
        for _ in range(4):
            assert (await ana.ask("ping"))["type"] == "ok"
        await bo.send("ping", id="late")
        notice = await bo.receive()
        assert (notice["code"], "id" in notice) == ("rate_limited", False)
        assert notice["message"].startswith("Your network is sending too much")
        cy = await stack.enter_async_context(speaking_for(server, "192.0.2.2"))
        assert (await cy.ask("ping"))["type"] == "ok"
        clock.advance(1_001)
        late = await bo.receive()
        assert (late["type"], late["id"]) == ("ok", "late")


async def test_a_quiet_client_is_not_closed_for_a_flood_from_its_address() -> None:
    limits = uncounted(messages_per_second_per_address=100, messages_at_once_per_address=10, flood_seconds=0.2)
    async with serving(limits) as server, contextlib.AsyncExitStack() as stack:
        modest = await stack.enter_async_context(open_peer(server.url))
        flooder = await stack.enter_async_context(open_raw(server.url))
        flooder.writer.write(b"".join(text(ping("flood")) for _ in range(5_000)))
        closing = asyncio.create_task(flooder.close_code())
        while not closing.done():
            assert (await modest.ask("ping"))["type"] == "ok"
        assert await closing == 1008
        assert (await modest.ask("ping"))["type"] == "ok"


async def test_addresses_take_turns_for_the_places_of_requests_that_wait_for_the_store() -> None:
    places, order, taken = Places(PLACES), list[str](), list[Place]()

    async def enter(address: str) -> None:
        taken.append(await places.enter(address))
        order.append(address)

    loud, quiet = ("192.0.2.1", "192.0.2.2", "192.0.2.3"), "192.0.2.4"
    waiting = [asyncio.create_task(enter(address)) for address in (*loud * (PLACES + 1), quiet)]
    await asyncio.sleep(0)
    assert len(order) == PLACES
    for number in range(len(loud) + 1):  # each address has its turn before any has a second one
        taken[number].leave()
        await until(partial(lambda served: len(order) > served, PLACES + number))
    assert Counter(order[PLACES:]) == Counter((*loud, quiet))
    for place in taken:  # until all had theirs
        place.leave()
        place.leave()
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)


async def test_moves_need_no_place_and_requests_that_wait_for_the_store_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.core.pressure.PLACE_SECONDS", 600)
    async with (
        serving(uncounted()) as server,
        open_peer(server.url) as ana,
        open_peer(server.url) as bo,
        open_peer(server.url) as cy,
    ):
        room = (await ana.ask("create"))["room"]
        await bo.ask("join", room=room)
        enter, held = server._pressure.places.enter, list[Place]()
        for number in range(PLACES):
            held.append(await enter(f"192.0.2.{number}"))
        await cy.send("history", id="waits")
        await until(lambda: any(session.is_busy for session in server.core.presence))
        for ply, peer in enumerate((ana, bo, ana, bo)):
            assert (await peer.ask("move", room=room, cell=ply, ply=ply))["type"] == "ok"
        assert [session.place for session in server.core.presence if session.is_busy] == [None]
        held[0].leave()
        assert (await cy.receive())["id"] == "waits"


async def test_concurrent_requests_of_an_address_are_limited_and_all_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = most = 0
    all_are_here = asyncio.Event()
    register = HelloService._register
    monkeypatch.setattr("tictactoe_server.core.pressure.PLACE_SECONDS", 600)

    async def held_up(hello: HelloService, *asked: Any) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await all_are_here.wait()
        at_once -= 1
        return await register(hello, *asked)

    monkeypatch.setattr(HelloService, "_register", held_up)
    async with serving(uncounted()) as server, contextlib.AsyncExitStack() as stack:
        opening = asyncio.gather(*(stack.enter_async_context(open_peer(server.url)) for _ in range(12)))
        await until(lambda: sum(session.is_busy for session in server.core.presence) == 12)
        all_are_here.set()
        peers = await opening
        assert len({peer.welcome["player"] for peer in peers}) == 12
    assert most == PLACES_OF_ADDRESS


async def test_under_pressure_the_busiest_address_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.core.pressure._LOOKED_AT_EVERY", 1)
    async with (
        serving(uncounted(turn_milliseconds=1_000), trusted_proxies=LOOPBACK) as server,
        speaking_for(server, "192.0.2.1") as greedy,
        speaking_for(server, "192.0.2.2") as modest,
    ):
        room = (await greedy.ask("create"))["room"]
        pressure = server._pressure
        pressure.charge(pressure.of("192.0.2.1"), 600)
        for peer, code in ((greedy, "busy"), (modest, None)):
            pressure.looked_at, pressure.excess = 100, 1.5  # as if the turn had begun long before
            assert (await peer.ask("rooms")).get("code") == code
        assert pressure.shed == 1
        await modest.ask("join", room=room)
        pressure.charge(pressure.of("192.0.2.2"), 290)
        for _ in range(2):  # below the average, a player is not refused, whatever others ask for
            pressure.looked_at, pressure.excess = 100, 90.0
            assert await modest.refusal("move", room=room, cell=0, ply=0) == "not_your_turn"
        for kind, code in (("ping", "busy"), ("hello", "busy"), ("join", None), ("leave", None)):
            pressure.looked_at, pressure.excess = 100, 3.0
            answer = await greedy.ask(kind, **({"room": room} if code is None else {}))
            assert (answer.get("code"), answer.get("retry_ms")) == (code, 500 if code else None)


async def test_a_class_behind_one_address_plays_and_chats_while_strangers_take_all_the_time() -> None:
    async with serving(Limits(), trusted_proxies=LOOPBACK) as server, contextlib.AsyncExitStack() as stack:
        strangers = [server._pressure.of(f"198.51.100.{number}") for number in range(1, 21)]
        for stranger in strangers:
            stranger.pressure.charge(stranger, 1e12)
        opening = (stack.enter_async_context(speaking_for(server, "192.0.2.1")) for _ in range(30))
        pupils = await asyncio.gather(*opening)

        async def play(ana: Peer, bo: Peer) -> None:
            room = (await ana.ask("create"))["room"]
            assert (await bo.ask("join", room=room))["type"] == "ok"
            for peer in (ana, bo):
                assert (await peer.ask("chat", room=room, text="Good luck!"))["type"] == "ok"
            await play_out({"X": ana, "O": bo}, room, LINE_FOR_X)
            for peer in (ana, bo):
                assert len((await peer.ask("history"))["games"]) == 1
                assert not [message for message in peer.seen if message["type"] == "error"]

        await asyncio.gather(*map(play, pupils[::2], pupils[1::2]))
        assert (server._pressure.shed, server.core.counters.limited.total()) == (0, 0)


async def test_under_pressure_an_address_that_sends_nonsense_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = uncounted(turn_milliseconds=1_000, messages_for_a_bad_one=10)
    async with (
        serving(limits, trusted_proxies=LOOPBACK) as server,
        speaking_for(server, "192.0.2.1") as noisy,
        speaking_for(server, "192.0.2.2") as modest,
    ):
        read = note_what_is_read(server, monkeypatch)
        for _ in range(20):
            assert await noisy.refusal("nonsense") == "unknown_type"
        for peer, sent, id in ((modest, "nonsense", "a"), (noisy, "ping", None), (noisy, "nonsense", None)):
            server._pressure.looked_at, server._pressure.excess = 100, 30.0
            await peer.send(sent, id="a")
            answer = await peer.receive()
            assert (answer["code"], answer.get("id")) == ("unknown_type" if id else "busy", id)
        assert len(read) == 21, "each was read once, and these not at all"


async def test_a_request_that_waited_too_long_is_refused_under_full_load(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(uncounted(turn_milliseconds=1_000)) as server, open_peer(server.url) as ana:
        monkeypatch.setattr("tictactoe_server.core.session.LATE_MS", -1)
        monkeypatch.setattr("tictactoe_server.core.pressure._WINDOW_SECONDS", -1.0)
        for little_rest, code in ((-1e9, None), (1e9, "busy")):
            monkeypatch.setattr("tictactoe_server.core.pressure._LITTLE_REST", little_rest)
            await ana.send("history", id="slow")
            await ana.send("rooms", id="behind")
            answers = [await ana.receive() for _ in range(2)]
            assert [(answer["id"], answer.get("code")) for answer in answers] == [("slow", None), ("behind", code)]


async def test_under_full_load_a_connection_has_one_waiting_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.core.session.LATE_MS", 60_000)
    monkeypatch.setattr("tictactoe_server.core.pressure._WINDOW_SECONDS", -1.0)
    monkeypatch.setattr("tictactoe_server.core.pressure._LITTLE_REST", 1e9)
    async with serving(uncounted(turn_milliseconds=1_000)) as server, open_raw(server.url) as ana:
        asked = ('{"type":"history","id":"slow"}', *(f'{{"type":"rooms","id":"{number}"}}' for number in range(3)))
        read = note_what_is_read(server, monkeypatch)
        await ana.write(b"".join(map(text, (*asked, '{"type":"leave","room":"K7M4PQ"}'))))
        answers = [await ana.message() for _ in range(4)]
        assert {answer["id"]: answer.get("code") for answer in answers} == {
            "slow": None,
            "0": None,
            "1": "busy",
            "2": "busy",
        }
        assert [answer["id"] for answer in answers] == ["1", "2", "slow", "0"]
        assert (await ana.message())["code"] == "no_such_room", "to leave is never refused so"
        assert len(read) == 5


def test_invalid_messages_count_several_times_even_past_the_limit() -> None:
    source = some_sources([SECOND_NS], at_once=30, messages_for_a_bad_one=10).of("192.0.2.1")
    assert source.consume(unlimited()) == 0
    for _ in range(3):
        source.count_bad()
    assert (source.limit.used, source.consume(unlimited())) == (28, 0)
    source.count_bad()
    assert (source.limit.used, source.consume(unlimited())) == (38, IN_LINE)


async def test_an_address_of_mostly_invalid_messages_is_read_only_in_rooms() -> None:
    async with serving(uncounted()) as server, open_peer(server.url) as noisy, open_peer(server.url) as ana:
        await ana.ask("create")
        source = server._pressure.of("127.0.0.1")
        source.bad = source.asked = 10_000
        await noisy.send("ping")
        assert (await noisy.next_of("error"))["code"] == "busy"
        assert (await ana.ask("ping"))["type"] == "ok"
