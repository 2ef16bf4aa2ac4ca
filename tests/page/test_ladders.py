import json
import re
from typing import Any

from playwright.async_api import expect

from tests.page.conftest import SERVER_GOES, FindViolations, Visit, Visitor, take_turns
from tests.page.odd_server import Message, OddServer, state, welcome
from tests.page.test_play import address, two_at_the_board
from tests.peer import Peer, open_peer, until
from tests.server.ratings.served import play_rated
from tictactoe_server.server import Server
from tictactoe_words.catalogue import say

MINUTES = {"initial_ms": 180_000, "increment_ms": 2_000}
OPEN = {
    "type": "challenge",
    "challenge": "c1",
    "player": "p2",
    "name": "bo",
    "to": "p1",
    "expires_ms": 60_000,
    "rules": state(1)["rules"],
    "clock": None,
}


def row(place: int, rating: float) -> Message:
    name = f"player {place}"
    return {
        "place": place,
        "player": f"p{place}",
        "name": name,
        "rating": rating,
        "deviation": 60,
        "games": 40,
        "trend": 3,
    }


def ladder(*rows: Message, **more: Any) -> Message:
    fields = {"rules": "connect-four", "rows": rows, "games": 812, "advantage": 71.3, "decided": 0.1}
    return {"type": "ok", "ladder": {**fields, **more}}


async def claim(visitor: Visitor, name: str) -> None:
    await visitor.page.get_by_label("Playing as").fill(name)
    await visitor.button("Keep this name…").click()
    await visitor.button("Keep it").click()
    await visitor.button("I have written them down").click()
    await visitor.button("Close").click()


async def test_a_ladder_shows_the_neighbours_first_and_why_it_is_closed(
    find_violations: FindViolations, visit: Visit
) -> None:
    closed = {"reason": "undecided", "figure": 20, "of": 200}
    text = (say("ladder games", n=812), say("ladder closed undecided", n=20, of=200))
    rows = ladder(*(row(place, 1600 - place) for place in range(7, 12)), closed=closed, text=text)
    hello = welcome(ladders=["connect-four"], challenges=[], player="p9")
    profile = {"type": "ok", "profile": {"player": "p7", "name": "player 7", "ladders": [], "games": []}}
    async with OddServer(
        hello=[hello], ratings=[rows], profile=[profile], block=[{"type": "ok", "blocks": []}]
    ) as server:
        ana = await visit(f"{server.origin}/ladder/connect-four", phone=True)
        await expect(ana.page.get_by_role("heading")).to_have_text(["Ladder: Connect four", "Around you", "The best"])
        for sentence in text:
            await expect(ana.page.get_by_text(sentence)).to_be_visible()
        await expect(ana.page.locator(".own").first).to_contain_text("player 91591 ±12040+3")
        assert {request.get("around") for request in server.asked_for("ratings")} == {"p9", None}
        assert await find_violations(ana.page) == []
        assert await ana.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await ana.page.locator("tr", has_text="player 7").first.click(position={"x": 5, "y": 5})
        await expect(ana.page.get_by_role("heading", name="player 7")).to_be_visible()
        server.answers = {**server.answers, "block": [{"type": "ok", "blocks": ["p7"]}]}
        await ana.button("Block").click()
        await ana.hears(say("blocked now", name="player 7"))
        await expect(ana.button("Unblock")).to_be_visible()
        await ana.page.goto(f"{server.origin}/player/player-7")
        await expect(ana.button("Unblock")).to_be_visible()  # also on the pages that lead to a claimed name


async def test_a_player_has_ladders_and_games_that_lead_to_their_replay(
    server: Server, find_violations: FindViolations, visit: Visit
) -> None:
    async with open_peer(server.url, "Änne B") as anne, open_peer(server.url, "bo") as bo:
        for peer in (anne, bo):
            await peer.ask("claim_name", name=peer.welcome["name"])
        await play_rated(anne, bo)
        cy = await visit(address(server, "/player/%C3%84nne%20B"))
        await expect(cy.page.get_by_role("heading", name="Änne B", exact=True)).to_be_visible()
        assert await find_violations(cy.page) == []
        await expect(cy.page.locator(".rooms").first).to_contain_text("Connect four")
        await cy.page.get_by_role("link", name="Replay: Änne B v bo").click()
        await expect(cy.page.get_by_role("heading", name="Änne B v bo")).to_be_visible()


async def test_a_rated_game_shows_the_changes_and_leads_to_a_new_challenge(server: Server, visit: Visit) -> None:
    ana, bo = await visit(address(server, "/")), await visit(address(server), phone=True)
    for visitor, name in ((ana, "ana"), (bo, "bo")):
        await claim(visitor, name)
    rated = ana.page.get_by_role("switch", name="rated")
    await expect(ana.page.locator(".play")).to_contain_text("Not rated. Rated games here: ")
    await expect(rated).to_be_hidden()
    await ana.tile("connect-four").check()
    await rated.check()
    await expect(ana.page.get_by_role("combobox", name="Clock")).to_have_value("3+2")
    sent: list[Message] = []
    await ana.button("Find an opponent").click()
    await expect(ana.page.locator(".invite")).to_contain_text("rated")
    await expect(bo.page.locator(".rooms .note", has_text="rated")).to_be_visible()
    await bo.page.get_by_role("link", name="Join: ana").click()
    await expect(bo.page.locator(".door")).to_contain_text("3+2, rated")
    await bo.button("Play as O").click()
    await expect(ana.page.locator(".player").first).to_contain_text("first move due in 0:")
    await take_turns((35, 36, 28, 29, 21, 22, 14), ana, bo)
    await ana.hears("Your rating: 1662? (+162).")
    await expect(ana.page.locator(".talk .lines")).to_contain_text("bo: 1338? (-162)")
    ana.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(json.loads(frame))))
    await ana.page.reload()
    await expect(ana.button("Play again")).to_have_count(0)
    await ana.button("Challenge again").click()
    await until(lambda: any(one["type"] == "challenge" for one in sent))
    asked = next(one for one in sent if one["type"] == "challenge")
    assert (asked["side"], asked["rules"], asked["rated"], asked["clock"]) == ("O", "connect-four", True, MINUTES)
    await ana.choose("New opponent")
    await until(lambda: any(one["type"] == "match" and one["rated"] for one in sent))
    await bo.page.goto(address(server, "/ladder/connect-four"))
    await expect(bo.page.locator("tbody tr")).to_have_text([re.compile("^ana1662?"), re.compile("^bo1338?")])
    await bo.button("Play a rated game").click()
    await expect(bo.page.locator(".player")).to_have_count(2)


async def test_a_rated_game_asks_for_a_claimed_name_first(server: Server, visit: Visit) -> None:
    ana = await visit(address(server), phone=True)
    await expect(ana.page.locator(".way").first).to_contain_text("Nobody else is online.")
    await ana.tile("connect-four").click(force=True)
    rated, dialog = ana.page.get_by_role("switch", name="rated"), ana.page.get_by_role("dialog", name="Your name")
    for keeps in (False, True):
        await rated.click()
        if keeps:
            await dialog.get_by_role("textbox").first.fill("ana")
            await ana.button("Keep it").click()
            await ana.button("I have written them down").click()
        await ana.button("Close").click()
        await expect(rated).to_be_checked(checked=keeps)
    bo = await visit(address(server))
    await expect(bo.page.locator(".way").first).to_contain_text("1 other is online.")
    await ana.button("Find an opponent").click()
    await expect(ana.page.locator(".invite")).to_contain_text("rated")


async def test_an_accepted_challenge_takes_both_to_the_board(
    server: Server, find_violations: FindViolations, visit: Visit
) -> None:
    ana, bo = await two_at_the_board(server, visit)
    await take_turns((0, 3, 1, 4, 2), ana, bo)
    await bo.hears("You lose.")
    await expect(bo.button("Play again")).to_be_visible()
    before = await bo.button("Play again").bounding_box()
    await ana.page.get_by_role("link", name="bo").click()
    await ana.button("Challenge").click()
    await ana.page.get_by_role("combobox", name="Your mark").select_option("O")
    await ana.page.get_by_role("dialog").get_by_role("button", name="Challenge").click()
    banner = bo.page.locator(".notice")
    await expect(banner).to_contain_text("ana challenges you: 3 by 3, 3 in a row, 3+2, ana plays O.")
    assert await bo.button("Play again").bounding_box() == before
    assert await find_violations(bo.page) == []
    await bo.button("Accept").focus()
    await bo.page.keyboard.press("Enter")
    for visitor in (ana, bo):
        await expect(visitor.page.locator(".notice")).to_have_count(0)
        await expect(visitor.page.get_by_role("heading", name="bo v ana")).to_be_visible()


async def test_a_challenge_survives_a_reconnect_unless_the_welcome_lacks_it(visit: Visit) -> None:
    there = welcome(challenges=[{key: OPEN[key] for key in OPEN if key != "type"}])
    async with OddServer(hello=[there]) as server:
        ana = await visit(server.origin, may_fail=SERVER_GOES)
        await expect(ana.page.locator(".notice")).to_contain_text("bo challenges you")
        await expect(ana.button("Accept")).to_be_enabled()
        server.answers = {**server.answers, "hello": []}
        await server.close(1012)
        await expect(ana.button("Accept")).to_be_disabled()
        await until(lambda: server.calls > 1)
        server.answers = {**server.answers, "hello": [there]}
        await server.close(1012)
        await expect(ana.button("Accept")).to_be_enabled()
        server.answers = {**server.answers, "hello": [welcome(challenges=[])]}
        await server.close(1012)
        await ana.hears("bo's challenge is over.")
        await expect(ana.page.locator(".notice")).to_have_count(0)


async def test_accepting_a_challenge_during_a_game_needs_confirmation(server: Server, bo: Peer, visit: Visit) -> None:
    ana, cy = await two_at_the_board(server, visit)
    room = ana.code
    await bo.ask("watch", room=room)
    player = (await bo.state())["seats"]["X"]["player"]
    asked = await bo.ask("challenge", player=player, rules="four")
    banner = ana.page.locator(".notice")
    await expect(banner).to_contain_text(say("page challenge playing"))
    await ana.confirm(ana.button("Accept"), agrees=False)
    assert ana.code == room
    await bo.ask("answer", challenge=asked["challenge"], accept=False)
    await expect(banner).to_have_count(0)
    await ana.hears("bo withdraws the challenge.")
    await bo.ask("challenge", player=player, rules="four")
    assert await ana.confirm(ana.button("Accept")) == "Leave this game and accept the challenge?"
    await expect(ana.page.get_by_role("heading", name="Four by four")).to_be_visible()
    await cy.hears("ana")


async def test_the_first_page_leads_to_ladders_and_shows_the_ratings_of_hosts(
    server: Server, bo: Peer, find_violations: FindViolations, visit: Visit
) -> None:
    ana = await visit(address(server), may_fail="status of 404")
    await ana.page.goto(address(server, "/ladder/classic"))
    await expect(ana.page.get_by_text("Rated games here: ")).to_contain_text("Fair four")
    await ana.page.goto(address(server))
    await ana.tile("connect-four").check()
    await ana.page.get_by_role("link", name="Ladders").click()
    await expect(ana.page.get_by_role("heading", name="Ladder: Connect four")).to_be_visible()
    await ana.page.get_by_role("link", name="tictactoe").click()
    await expect(ana.button("Find an opponent")).to_be_visible()
    follows = """() => {
        const imprint = Object.assign(document.createElement("a"), { href: "mailto:club@example.org" });
        document.querySelector("footer").append(imprint);
        return imprint.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    }"""
    assert await ana.page.evaluate(follows), "the browser follows links to other sites"
    await ana.page.goto(address(server, "/ladder"))
    await expect(ana.page.get_by_role("heading", name="Ladder: Connect four")).to_be_visible()
    await ana.page.goto(address(server))
    await claim(ana, "ana")
    await bo.ask("claim_name", name="bo")
    await bo.ask("create", rules="four", clock=MINUTES, rated=True)
    row = ana.page.get_by_role("listitem").filter(has_text="bo")
    await expect(row).to_contain_text("rated 1500?")
    assert await find_violations(ana.page) == []


async def test_nothing_about_ladders_is_shown_without_server_support(visit: Visit) -> None:
    over = state(2, 0, 3, 1, 4, 2)
    async with OddServer(
        join=[{"type": "ok", "room": "K7M4PQ", "seat": "X", "moves": [0, 3, 1, 4, 2]}, over]
    ) as server:
        ana = await visit(server.origin)
        await ana.connects()
        await expect(ana.page.get_by_role("link", name="Ladders")).to_have_count(0)
        await expect(ana.page.get_by_role("switch")).to_have_count(0)
        await ana.page.goto(f"{server.origin}/K7M4PQ")
        await expect(ana.page.locator("p.turn")).to_have_text("You win! Row 1 is X X X.")
        await expect(ana.page.get_by_role("link", name="bo")).to_have_count(0)
