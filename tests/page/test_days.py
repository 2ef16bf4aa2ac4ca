"""Games over days on the page: the clock, the games that await a move, leaving, plans, and notifications."""

import asyncio
import json
import re

from playwright.async_api import WebSocketRoute, expect

from tests.page.conftest import FindViolations, Visit, Visitor, find_in_both_schemes
from tests.page.test_play import address
from tests.peer import Peer, until
from tictactoe_server.server import Server


async def open_days_room(ana: Visitor, clock: str = "3d") -> str:
    """Wait for an opponent in a game over days, and return the room's code."""
    await ana.connects()
    await ana.page.locator("select:has([value='3d'])").select_option(clock)
    await ana.button("Find an opponent").click()
    await expect(ana.page.get_by_text("Waiting for someone")).to_be_visible()
    return ana.code


async def test_waiting_games_are_found_one_after_another(
    server: Server, visit: Visit, bo: Peer, find_violations: FindViolations
) -> None:
    ana = await visit(address(server))
    await ana.page.get_by_label("Playing as").fill("ana")
    rooms = []
    for clock in ("3d", "1d"):
        rooms.append(await open_days_room(ana, clock))
        await bo.ask("join", room=rooms[-1])
        await ana.hears("bo joins as ")
        await ana.page.get_by_role("link", name="tictactoe").click()
    await expect(ana.page.get_by_role("heading", name="2 games await you")).to_be_visible()
    rows = ana.page.locator(".turns li")
    await expect(rows).to_contain_text([rooms[0], rooms[1]])
    await expect(rows.first).to_contain_text("Tic\u2011tac\u2011toe")
    await expect(rows.first).to_contain_text("2 d 23 h left")
    await expect(ana.page.locator(".resume .ask")).to_have_count(0)
    assert (await ana.page.title()).startswith("(2) ")
    assert await find_in_both_schemes(find_violations, ana.page) == []
    await ana.page.locator("main h2").first.click()
    await ana.page.keyboard.press(".")
    await expect(ana.page).to_have_url(address(server, f"/{rooms[0]}"))
    await expect(ana.page.locator(".days .deeds button").first).to_be_hidden()
    await expect(ana.page.locator(".player .clock").first).to_have_text("2 d 23 h")
    await ana.play(4)
    await expect(ana.button("Next game (1)")).to_be_visible()
    assert (await ana.page.title()).startswith("(1) ")
    assert await find_in_both_schemes(find_violations, ana.page) == []
    await ana.page.keyboard.press(".")
    await expect(ana.page).to_have_url(address(server, f"/{rooms[1]}"))
    await expect(ana.page.locator(".player .clock").first).to_have_text(re.compile("^23 h [0-9]+ min$"))
    await ana.play(4)
    await expect(ana.page.locator(".days .deeds button").first).to_be_hidden()
    await expect(ana.page).to_have_title("It's bo's move. ana v bo")
    await bo.ask("move", room=rooms[0], cell=0, ply=1)
    await ana.button("Next game (1)").click()
    await expect(ana.page).to_have_url(address(server, f"/{rooms[0]}"))
    await ana.sees(A1="O", B2="X")


async def test_leaving_a_game_over_days_keeps_the_seat_unless_one_resigns(
    server: Server, visit: Visit, bo: Peer
) -> None:
    ana = await visit(address(server))
    room = await open_days_room(ana)
    await ana.page.keyboard.press("Escape")
    await expect(ana.button("Come back later")).to_be_focused()
    await ana.page.keyboard.press("Escape")
    await expect(ana.button("Come back later")).to_be_hidden()
    await bo.ask("join", room=room)
    await ana.play(4)
    await ana.button("leave").click()
    await expect(ana.button("Come back later")).to_be_focused()
    await ana.page.keyboard.press("Enter")
    await expect(ana.button("Find an opponent")).to_be_visible()
    assert (await bo.state())["status"] == "playing"
    await ana.page.go_back()
    await ana.button("leave").click()
    await ana.confirm(ana.page.locator(".days .ask").get_by_role("button", name="Resign"))
    assert (await bo.state(status="over"))["result"]["reason"] == "resigned"
    await ana.choose("leave")
    await expect(ana.button("Find an opponent")).to_be_visible()


async def test_a_typed_clock_of_days_opens_a_room(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await visit(address(server), language="de", phone=True)
    await ana.connects()
    await ana.page.get_by_text("Mehr", exact=True).first.click()
    clock = ana.page.get_by_label("Andere Bedenkzeit")
    await clock.fill("3d+x")
    await ana.button("Freunde einladen").click()
    await expect(clock).to_be_focused()
    await expect(ana.page.locator("label:has([aria-invalid])").get_by_role("alert")).to_contain_text("3d+2d")
    await clock.fill("3d+2d")
    await ana.button("Freunde einladen").click()
    await expect(ana.page.locator(".invite")).to_be_visible()
    await bo.send("watch", room=ana.code)
    assert (await bo.state())["time_control"] == {"days": 3, "bank_days": 2}


async def test_replies_are_planned_on_the_board_and_only_their_author_sees_them(
    server: Server, visit: Visit, bo: Peer, find_violations: FindViolations
) -> None:
    ana = await visit(address(server))
    room = await open_days_room(ana)
    await bo.ask("join", room=room)
    await ana.play(4)
    await ana.button("Plan a reply").press("Enter")
    await ana.hears("Choose the other player's next move, then your reply.")
    for key in ("1", "1", "9"):
        await ana.page.keyboard.press(key)
    await ana.hears("O A1, X C3")
    await ana.sees(A1="O", C3="X")
    await ana.cell(1).click()
    assert await find_in_both_schemes(find_violations, ana.page) == []
    await ana.button("Add to the plan").click()
    await ana.sees(A1="free", C3="free")
    await ana.button("Plan a reply").click()
    await ana.cell(8).click()
    await ana.cell(0).click()
    await ana.button("Add to the plan").click()
    planned = ana.page.get_by_role("region", name="Your planned replies").locator("li")
    await expect(planned).to_contain_text(["O A1, X C3", "O C3, X A1"])
    await ana.button("Remove O C3, X A1 from the plan").click()
    await expect(planned).to_have_count(1)
    await ana.button("Plan a reply").click()
    await ana.cell(8).click()
    await ana.page.keyboard.press("Escape")
    await ana.sees(C3="free")
    await ana.page.reload()
    await expect(planned).to_have_count(1)
    other = await visit(address(server, f"/{room}#watch"))
    await expect(other.page.locator("p.turn")).to_have_text("It's bo's move.")
    await expect(other.page.get_by_text("O A1, X C3")).to_have_count(0)
    await bo.ask("move", room=room, cell=0, ply=1)
    assert (await bo.state(ply=3))["board"] == "O...X...X"
    await ana.sees(A1="O", C3="X")
    await expect(planned).to_have_count(0)


WITHOUT_PUSH_SERVICE = """() => {
    PushManager.prototype.subscribe = async () => ({ toJSON: () => ({
        endpoint: "https://fcm.googleapis.com/fcm/send/1", keys: { p256dh: "p", auth: "a" },
    }) })
}"""
"""Replaces the browser's push service, which is on the Internet."""
WITHOUT_NOTIFICATIONS = """() => {
    self.told = new Promise(resolve => {
        ServiceWorkerRegistration.prototype.showNotification = async (...shown) => resolve(shown)
    })
}"""
"""Keeps what the worker shows, because a browser without a window shows nothing."""


async def test_a_player_chooses_notifications_and_sees_why_one_is_refused(
    server: Server, visit: Visit, find_violations: FindViolations
) -> None:
    ana = await visit(address(server), language="de", phone=True)
    await ana.button("Benachrichtige mich…").click()
    dialog = ana.page.get_by_role("dialog", name="Benachrichtigungen")
    await dialog.get_by_role("checkbox", name="Feedreader").check()
    feed = dialog.get_by_role("textbox", name="Link")
    await expect(feed).to_have_value(re.compile("/feed/.*atom$"))
    await dialog.get_by_label("Ruhezeit").check()
    await expect(dialog.get_by_label("Von", exact=True)).to_have_value("22:00")
    await dialog.get_by_label("Bis", exact=True).fill("07:30")
    await dialog.get_by_label("Webhook").fill("https://example.com/hook")
    await dialog.get_by_role("button", name="Speichern").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("example.com")
    await expect(dialog.get_by_label("Webhook")).to_be_focused()
    assert await find_in_both_schemes(find_violations, ana.page) == []
    await ana.page.reload()
    await ana.button("Benachrichtige mich…").click()
    await expect(dialog.get_by_label("Bis", exact=True)).to_have_value("07:30")
    await expect(dialog.get_by_label("Von", exact=True)).to_have_value("22:00")
    await dialog.get_by_role("checkbox", name="Feedreader").uncheck()
    await expect(feed).to_have_count(0)
    await expect(dialog.get_by_label("In diesem Browser")).to_be_hidden()


async def test_push_messages_are_shown_by_a_worker(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    page, context = ana.page, ana.page.context

    def add_key(route: WebSocketRoute) -> None:
        """Pass on messages, and add a key to replies with settings, which pages without TLS are not sent."""
        backend = route.connect_to_server()
        backend.on_message(lambda text: route.send(str(text).replace('"webhook":', '"push_key":"key","webhook":')))

    await page.route_web_socket(re.compile("^ws"), add_key)
    await context.grant_permissions(["notifications"])
    await page.reload()
    await page.evaluate(WITHOUT_PUSH_SERVICE)
    await ana.button("Notify me…").click()
    dialog = page.get_by_role("dialog", name="Notifications")
    await dialog.get_by_label("In this browser").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("https")
    await expect(dialog.get_by_label("In this browser")).not_to_be_checked()
    await until(lambda: context.service_workers)
    (worker,) = context.service_workers
    await worker.evaluate(WITHOUT_NOTIFICATIONS)
    devtools = await context.new_cdp_session(page)
    registrations = asyncio.Queue[dict[str, str]]()

    def hear(found: dict[str, list[dict[str, str]]]) -> None:
        for one in found["registrations"]:
            registrations.put_nowait(one)

    devtools.on("ServiceWorker.workerRegistrationUpdated", hear)
    await devtools.send("ServiceWorker.enable")
    registration = await registrations.get()
    assert registration["scopeURL"] == address(server, "/assets/")
    message = {"count": 2, "games": [{"link": address(server, "/K7M4PQ"), "left_ms": 5}, {"link": "", "left_ms": 9}]}
    to = {"origin": address(server), "registrationId": registration["registrationId"], "data": json.dumps(message)}
    await devtools.send("ServiceWorker.deliverPushMessage", to)
    assert await worker.evaluate("self.told") == [
        "2 games await your move.",
        {"tag": "turns", "data": address(server, "/K7M4PQ")},
    ]
    await page.close()
