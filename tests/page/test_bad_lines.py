from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import expect

from tests.page.conftest import SERVER_GOES, Visit, Visitor
from tests.page.odd_server import CODE, Message, OddServer, error, state, welcome
from tests.peer import until

COUNTED = "opened = []; WebSocket = class extends WebSocket { constructor(...all) { opened.push(super(...all)); } }"
STALE = error("bad_token", "The server does not know this token.")


async def take_the_clock(visitor: Visitor) -> None:
    """Reload the page with a clock that the test can advance."""
    await visitor.page.clock.install()
    await visitor.page.reload()
    await expect(visitor.page.locator(".link")).to_have_text("connected")


async def come_back_unknown(server: OddServer, visitor: Visitor) -> None:
    """Reload the page after the server has forgotten its token, and count later requests."""
    server.answers = {"hello": [STALE]}
    server.asked.clear()
    await visitor.page.reload()
    await visitor.hears("does not know this token")
    await server.has_heard_all()


@asynccontextmanager
async def silent_server(visit: Visit) -> AsyncIterator[tuple[OddServer, Visitor]]:
    """Yield a server that has fallen silent, and its visitor, whose clock the test can advance."""
    async with OddServer() as server:
        visitor = await visit(server.origin, may_fail=SERVER_GOES)
        await take_the_clock(visitor)
        await server.has_heard_all()
        server.is_silent = True
        yield server, visitor


async def test_a_refused_token_is_kept_and_tried_again_for_a_week(visit: Visit) -> None:
    again = "kept for a week and tried again"
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await ana.connects()
        server.answers = {"hello": lambda hello: [STALE if hello.get("token") == "t" else welcome(token="new")]}
        await ana.page.reload()
        await ana.hears(again)
        server.asked.clear()
        await ana.page.reload()
        await ana.hears(again)
        assert [hello["token"] for hello in server.asked_for("hello")] == ["t", "new"]
        await ana.page.evaluate("tictactoe = JSON.parse(localStorage.tictactoe); tictactoe.aside[0].at -= 7 * 86400000")
        await ana.page.evaluate("localStorage.tictactoe = JSON.stringify(tictactoe)")
        server.asked.clear()
        await ana.page.reload()
        await ana.connects()
        assert [hello["token"] for hello in server.asked_for("hello")] == ["new"]


async def test_a_refused_name_is_followed_by_one_hello_without_it_and_no_more(visit: Visit) -> None:
    bad_name = error("bad_name", "That is no name.")
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await expect(ana.page.get_by_label("Playing as")).to_have_value("ana")
        server.answers = {"hello": [bad_name]}
        server.asked.clear()
        await ana.page.get_by_label("Playing as").fill("hard-bot")
        await ana.page.keyboard.press("Tab")
        await ana.hears("That is no name.")
        await until(lambda: len(server.asked_for("hello")) >= 3)
        await server.has_heard_all()
        assert [hello.get("name") for hello in server.asked_for("hello")] == ["hard-bot", None, None]


@pytest.mark.parametrize(
    ("farewell", "code", "why"),
    [
        (error("kicked", "The operator has sent you away."), 4501, "The operator has sent you away."),
        ({"type": "notice", "code": "stopping", "retry_ms": 0}, 1001, "The server has stopped."),
    ],
    ids=["expelled", "stopped"],
)
async def test_after_an_expulsion_or_a_stop_only_the_player_reconnects(
    visit: Visit, farewell: Message, code: int, why: str
) -> None:
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await ana.page.add_init_script(COUNTED)
        await take_the_clock(ana)
        await server.say(farewell)
        await server.close(code)
        await expect(ana.page.locator(".banner")).to_contain_text(why)
        await ana.page.wait_for_function("opened[0].readyState === WebSocket.CLOSED")
        await ana.page.clock.run_for(60_000)
        assert await ana.page.evaluate("opened.length") == 1
        await ana.button("Retry").click()
        await ana.connects()
        assert await ana.page.evaluate("opened.length") == 2
        await ana.page.close()


async def test_a_welcome_that_does_not_come_is_not_waited_for_for_ever(visit: Visit) -> None:
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await ana.page.clock.install()
        server.answers, known = {"hello": [{"type": "announcement", "text": "one moment", "at": 0}]}, server.answers
        await ana.page.reload()
        await ana.hears("one moment")
        server.answers = known
        await ana.page.clock.run_for(10_000)
        await ana.connects()


async def test_requests_on_a_closing_socket_cause_no_error(visit: Visit) -> None:
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await ana.page.add_init_script(COUNTED)
        await ana.page.reload()
        await ana.connects()
        await server.has_heard_all()
        async with server.closing(4501):
            await ana.page.wait_for_function("opened.at(-1).readyState === WebSocket.CLOSING")
            await ana.button("Find an opponent").click()
        await expect(ana.page.locator(".banner")).to_be_visible()
        assert not server.asked_for("match")
        await ana.page.close()


async def test_a_silent_server_is_reported_within_five_seconds_and_reconnected(visit: Visit) -> None:
    async with silent_server(visit) as (server, ana):
        await ana.page.clock.run_for(5000)
        assert await ana.page.locator(".link").inner_text() == "offline"
        server.is_silent = False
        await server.say({"type": "announcement", "text": "hello", "at": 0})
        await expect(ana.page.locator(".link")).to_have_text("connected")
        server.is_silent, calls = True, server.calls
        await ana.page.clock.run_for(5000)
        await expect(ana.page.locator(".link")).to_have_text("offline")
        # Pings stay unanswered: an answer to one would keep the old connection.
        server.is_silent, server.answers = False, {**server.answers, "ping": []}
        for _ in range(30):
            if server.calls > calls:
                break
            await ana.page.clock.run_for(500)
        await expect(ana.page.locator(".link")).to_have_text("connected")
        assert server.calls == calls + 1


async def test_a_page_that_stood_still_does_not_take_its_server_for_silent(visit: Visit) -> None:
    async with silent_server(visit) as (server, ana):
        calls = server.calls
        await ana.page.clock.run_for(5000)
        await expect(ana.page.locator(".link")).to_have_text("offline")
        await ana.page.clock.fast_forward(20_000)
        await server.say({"type": "announcement", "text": "still here", "at": 0})
        await ana.hears("still here")
        assert server.calls == calls


async def test_the_page_goes_offline_and_online_with_the_machine(visit: Visit) -> None:
    async with silent_server(visit) as (server, ana):
        calls = server.calls
        await ana.page.evaluate("void dispatchEvent(new Event('offline'))")
        await ana.page.clock.run_for(3000)
        assert await ana.page.locator(".link").inner_text() == "offline"
        await ana.hears("The server does not answer.")
        server.is_silent = False
        async with ana.page.expect_websocket():
            await ana.page.evaluate("void dispatchEvent(new Event('online'))")
        await expect(ana.page.locator(".link")).to_have_text("connected")
        assert server.calls == calls + 1


async def test_a_hidden_page_retries_less_and_less_often_and_at_once_when_it_is_shown(visit: Visit) -> None:
    hide = "hide = value => { Object.defineProperty(document, 'hidden', { value, configurable: true }) }"
    async with OddServer() as server:
        ana = await visit(server.origin, may_fail=f"{SERVER_GOES}|INTERNET_DISCONNECTED")
        await ana.page.add_init_script(f"{COUNTED}; {hide}")
        await take_the_clock(ana)
        await ana.page.wait_for_load_state("networkidle")  # a module that fails to load makes the page reload later
        await ana.page.evaluate("hide(true)")
        await ana.page.context.set_offline(True)
        await server.close(1012)
        await ana.page.wait_for_function("opened[0].readyState === WebSocket.CLOSED")
        for _ in range(40):
            await ana.page.clock.run_for(5000)
        attempts = await ana.page.evaluate("opened.length")
        assert 5 < attempts < 20
        await ana.page.wait_for_function("opened.at(-1).readyState === WebSocket.CLOSED")
        await ana.page.evaluate("hide(false); document.dispatchEvent(new Event('visibilitychange'))")
        assert await ana.page.evaluate("opened.length") == attempts + 1
        await ana.page.context.set_offline(False)
        await ana.connects()


async def test_an_older_state_is_not_shown(visit: Visit) -> None:
    async with OddServer() as server:
        ana = await visit(f"{server.origin}/{CODE}", may_fail=SERVER_GOES)
        await ana.sees(A1="free")
        await server.say(state(2, 0), state(3, 0, 4), state(2, 0))
        await server.say({"type": "announcement", "text": "that was all", "at": 0})
        await ana.hears("that was all")
        await ana.sees(A1="X", B2="O")


async def test_a_past_game_is_stepped_through_once_it_is_loaded(visit: Visit) -> None:
    async with OddServer(record=[]) as server:
        ana = await visit(f"{server.origin}/#game/5", may_fail=SERVER_GOES)
        await ana.connects()
        for name in ("To the start", "To the end"):
            await expect(ana.button(name)).to_be_disabled()


async def test_a_room_lost_during_an_absence_is_reported_as_closed(visit: Visit) -> None:
    async with OddServer() as server:
        ana = await visit(f"{server.origin}/{CODE}", may_fail=SERVER_GOES)
        await ana.sees(A1="free")
        server.answers = {"hello": [welcome()], "join": [error("no_such_room", "There is no room K7M4PQ.")]}
        await server.close(1012)
        await expect(ana.page.locator(".banner")).to_have_text("Room K7M4PQ is closed: There is no room K7M4PQ.")
        await expect(ana.button("Home")).to_be_visible()
        await expect(ana.button("Resign")).to_have_count(0)


async def test_the_page_reports_a_server_without_websockets(visit: Visit) -> None:
    async with OddServer() as server:
        server.opens_sockets = False
        for path, place in (("/", ".banner"), ("/e/K7M4PQ", "#news")):
            ana = await visit(server.origin + path, may_fail="^WebSocket connection to")
            await expect(ana.page.locator(place)).to_contain_text("cannot open the WebSocket that games need")
