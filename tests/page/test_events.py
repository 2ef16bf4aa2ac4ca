import re
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import expect

from tests.classic import CLASSIC_RULES
from tests.events import CLOCK, begin_event, come, open_event
from tests.page.conftest import SERVER_GOES, FindViolations, Visit, Visitor, find_in_both_schemes
from tests.page.odd_server import CODE, Message, OddServer, welcome
from tests.page.test_play import address, one_at_the_board
from tests.peer import Peer, open_peer, two_playing, until
from tictactoe_server.server import Server


async def enter(visitor: Visitor, name: str) -> None:
    await visitor.page.get_by_label("Your name here").fill(name)
    await visitor.button("Join").click()


async def test_a_wall_stays_one_when_its_organiser_is_called(server: Server, visit: Visit, bo: Peer) -> None:
    event = await open_event(bo, bo)
    ana = await visit(address(server, f"/e/{event}"))
    await enter(ana, "ana")
    await expect(ana.page.locator(".entry")).to_contain_text("You are in as ana.")
    await ana.page.goto(address(server, f"/e/{event}/wall"))
    await expect(ana.page.locator(".wall-in li")).to_have_count(2)
    await begin_event(bo, event)
    room = await come(bo)
    await expect(ana.page.locator(".live-boards li:visible")).to_have_count(1)
    await bo.ask("resign", room=room)
    await expect(ana.page.locator(".wall-head")).to_contain_text("ana wins.")
    assert ana.page.url.endswith("/wall")


async def test_a_player_can_pause_and_return(server: Server, visit: Visit) -> None:
    async with (
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "cy") as cy,
        open_peer(server.url, "dee") as dee,
    ):
        event = await open_event(bo, bo, cy, dee)
        ana = await visit(address(server, f"/e/{event}"))
        await enter(ana, "ana")
        await expect(ana.page.locator(".entry")).to_contain_text("You are in")
        await begin_event(bo, event)
        await expect(ana.page.locator(".board")).to_be_visible()
        for peer in (bo, cy, dee):
            call = await peer.next_of("call")
            if call["against"] == "ana":
                await peer.ask("join", room=call["room"])
                await peer.ask("resign", room=call["room"])
        await ana.button("To the event").click()
        await ana.button("Pause").click()
        await expect(ana.page.locator(".entry")).to_contain_text("Your games are called all the same.")
        await expect(ana.page.locator(".standings .own").first).to_contain_text("away")
        await ana.button("I am back").click()
        await expect(ana.page.locator(".standings .own").first).not_to_contain_text("away")


async def test_a_name_that_is_taken_in_the_event_is_asked_for_again(server: Server, visit: Visit, bo: Peer) -> None:
    event = await open_event(bo, bo)
    other = await visit(address(server, f"/e/{event}"), phone=True)
    await enter(other, "Bo")
    await expect(other.page.get_by_role("alert")).to_contain_text("choose another name")
    await expect(other.page.get_by_label("Your name here")).to_be_focused()
    await enter(other, "bob")
    await expect(other.page.locator(".standings")).to_contain_text("bob")


@pytest.mark.parametrize("way", ["button", "end of the game"])
async def test_a_call_during_another_game_waits_for_a_click_or_the_end(
    server: Server, visit: Visit, bo: Peer, way: str
) -> None:
    async with open_peer(server.url, "cy") as cy:
        ana = await one_at_the_board(server, visit, cy, joins="cy")
        elsewhere = ana.page.url
        event = await open_event(bo, bo)
        await ana.page.goto(address(server, f"/e/{event}"))
        await enter(ana, "ana")
        await expect(ana.page.locator(".entry")).to_contain_text("You are in")
        await ana.page.goto(elsewhere)
        await expect(ana.page.locator("p.turn.mine")).to_be_visible()
        await begin_event(bo, event)
        room = await come(bo)
        notice = ana.page.locator(".notice")
        await expect(notice).to_contain_text("against bo.")
        assert ana.page.url == elsewhere
        if way == "button":
            await notice.get_by_role("button").click()
        else:
            await cy.ask("resign", room=elsewhere[-6:])
        await ana.page.wait_for_url(f"**/{room}")
        await expect(notice).to_have_count(0)
        await expect(ana.page.locator(".board")).to_be_visible()


async def test_the_wall_of_a_roster_asks_for_a_card_and_fits_a_phone(server: Server, visit: Visit, bo: Peer) -> None:
    event = await open_event(bo, entry="roster", roster=["Ana", "Bo"])
    wall = await visit(address(server, f"/e/{event}/wall"), phone=True)
    await expect(wall.page.locator(".wall-entry")).to_contain_text("Play with the code on your card")
    parts = [await wall.page.locator(one).bounding_box() for one in (".wall-code", ".event-wall .qr", ".wall-in")]
    code, image, names = [part for part in parts if part is not None]
    assert code["y"] + code["height"] <= image["y"]
    assert image["y"] + image["height"] <= names["y"]


async def test_an_organiser_pastes_a_roster_prints_its_cards_and_begins(server: Server, visit: Visit) -> None:
    org = await visit(address(server))
    await org.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await org.button("New event…").click()
    await org.page.get_by_label("Title").fill("Class 5b")
    await org.page.get_by_label("Roster").focus()
    await org.page.evaluate(
        "text => navigator.clipboard.writeText(text)", "Nr.\tName\tVorname\n1\tKoch\tAnna\n\t\t\n2\tRot\tÖzil"
    )
    await org.page.keyboard.press("Control+V")
    await expect(org.page.get_by_label("Roster")).to_have_value("Anna\nÖzil\n")
    await org.button("Open").click()
    await expect(org.page.locator(".told").first).to_contain_text("Give each player their card.")
    await org.page.get_by_role("link", name="Cards to print").click()
    cards = org.page.locator(".cards li")
    await expect(cards).to_have_count(2)
    await expect(cards.first.get_by_role("img")).to_be_visible()
    links = await cards.locator("code").all_inner_texts()
    wall = await visit(org.page.url.replace("/cards", "/wall"))
    await expect(wall.page.locator(".wall-foot")).to_have_text("Waiting for Anna and Özil.")
    await expect(wall.page.locator(".wall-in .expected")).to_have_text(["Anna", "Özil"])
    await expect(wall.page.locator(".wall-entry .note")).to_have_text(re.compile(" 0 of 2 players are here$"))
    await org.page.get_by_role("link", name="To the event").click()
    place = links[1].partition("#")[0]
    await expect(org.page.locator(".told").first).to_contain_text(f"open {place} and type its code.")
    await expect(org.button("Begin")).to_be_hidden()
    anna = await visit(f"http://{links[0].partition('#')[0]}")
    await anna.page.get_by_label("Code to enter").fill(links[0])
    oezil = await visit(address(server))
    await oezil.page.get_by_placeholder("code or link").fill(links[1].replace("#", " #").lower())
    await oezil.page.keyboard.press("Enter")
    for child, name in ((anna, "Anna"), (oezil, "Özil")):
        await child.page.locator(".entry").get_by_role("button", name="Join").click()
        await expect(child.page.locator(".entry")).to_contain_text(f"You are in as {name}.")
        await expect(child.page).to_have_url(re.compile("/e/[^#]+$"))
    await expect(org.page.get_by_role("heading", name="2 of 2 players are here.")).to_be_visible()
    await expect(org.page.locator(".hero .note")).to_have_text(re.compile(" 2 players$"))
    await expect(wall.page.locator(".wall-foot")).to_have_text(re.compile("^Your card lets you in"))
    for name in ("Cem", "Dee"):
        await org.page.get_by_label("Another name").fill(name)
        await org.button("Add").click()
        await expect(org.page.get_by_label("Another name")).to_have_value("")
    await expect(wall.page.locator(".wall-in .expected")).to_have_text(["Cem", "Dee"])
    await org.confirm(org.button("Take out Dee"))
    await org.page.get_by_role("link", name="Cards to print").click()
    await expect(cards.locator("b")).to_have_text(["Anna", "Özil", "Cem"])
    await org.page.get_by_role("link", name="To the event").click()
    await expect(org.page.locator(".standings .expected .name")).to_have_text("Cemnot here yetTake out")
    assert await org.confirm(org.button("Begin")) == (
        "Whoever has not entered yet cannot enter later. Cem is not here yet. Begin anyway?"
    )
    await oezil.page.wait_for_url(re.compile("/[2-9A-Z]{6}$"))
    await expect(org.page.locator(".pairings li")).to_have_count(1)
    await expect(org.page.locator(".pairings .note")).to_have_text(
        re.compile("^0 moves · (Anna|Özil) to move · 3:0. – 3:0.$")
    )
    await oezil.page.close()
    await expect(org.page.locator(".told").first).to_contain_text("Özil (away 0:0")
    await org.page.get_by_text("Decide").click()
    await expect(org.page.get_by_label("Another name")).to_be_hidden()
    assert await org.confirm(org.button("Anna forfeits")) == "Anna forfeits: are you sure?"
    await expect(anna.page.locator(".banner")).to_contain_text("is closed: The event scores it as a win for Özil.")
    await expect(anna.page).to_have_title(re.compile("^Room .* is closed"))
    await expect(anna.page.locator(".player.moving")).to_have_count(0)
    await anna.button("To the event").click()
    await expect(org.page.locator(".standing")).to_have_text("Özil wins.")
    await expect(org.page.locator(".pairings").first).to_contain_text("by the organiser")


async def test_a_class_too_large_for_a_round_robin_becomes_a_swiss_by_a_click(server: Server, visit: Visit) -> None:
    org = await visit(address(server), phone=True)
    await org.button("New event…").click()
    await expect(org.page.get_by_role("dialog", name="New event", exact=True)).to_be_visible()
    await org.page.get_by_label("Title").fill("Class 5b")
    plan, roster = org.page.locator(".plan"), org.page.get_by_label("Roster")
    await roster.fill("Ana\nBo\nCy")
    await expect(plan).to_have_text("3 players, 3 rounds, about 5 minutes.")
    await org.page.get_by_text("Whoever loses is out.").click()
    await expect(plan).to_have_text("3 players, 2 rounds, about 8 minutes.")
    await org.page.get_by_text("Everyone plays everyone else.").click()
    await roster.fill("\n".join(f"P{number}" for number in range(28)))
    await expect(plan).to_have_text("28 players are too many for this kind, which takes 24.")
    await org.button("Open").click()
    await expect(org.page.locator(".kinds .fault")).to_contain_text("Choose swiss, which takes up to 200.")
    await expect(org.page.locator(".kinds .fault")).to_be_in_viewport()
    await roster.fill("Ana\nBo\n" + "C" * 40)
    await org.button("Open").click()
    await expect(org.page.locator("label", has=roster).get_by_role("alert")).to_contain_text("3. CCC")
    await expect(roster).to_be_focused()
    await roster.fill("\n".join(f"P{number}" for number in range(28)))
    await expect(org.page.locator(".opening .fault")).to_be_empty()
    await org.button("Change to Swiss").click()
    await expect(plan).to_have_text("28 players, 5 rounds, about 9 minutes.")
    await org.button("Open").click()
    await expect(org.page.locator(".hero .note")).to_contain_text("Swiss")


async def test_a_card_moves_a_game_to_another_device(server: Server, visit: Visit, bo: Peer) -> None:
    terms = {"kind": "round_robin", "title": "Class 5b", "clock": CLOCK}
    opened = await bo.ask("event_open", **terms, entry="roster", roster=["Ana", "Bo", "Cy"])
    event, (anas, bos, cys) = opened["event"], (card["ticket"] for card in opened["cards"])
    await bo.ask("event_join", event=event, ticket=bos)
    first = await visit(address(server, f"/e/{event}#{anas}"))
    await first.button("Join").click()
    await expect(first.page.locator(".entry")).to_contain_text("You are in as Ana.")
    await begin_event(bo, event)
    room = await come(bo)
    await first.page.wait_for_url(f"**/{room}")
    await bo.until(lambda message: message["type"] == "room" and message["status"] == "playing")
    other = await visit(address(server, f"/e/{event}#{anas}"))
    await expect(other.page.locator(".entry")).to_contain_text("If you are in it, your card lets you play on here.")
    async with other.page.expect_event("dialog") as asked:
        await other.button("Join").click(no_wait_after=True)
    question = await asked.value
    assert question.message.endswith("Play here instead?")
    await question.accept()
    await first.hears("Your card was opened on another device. The game goes on there.")
    await expect(first.button("Continue here")).to_be_hidden()
    await first.button("To the event").click()
    await expect(first.button("Join")).to_be_visible()
    await other.page.wait_for_url(f"**/{room}")
    await expect(other.page.locator(".board")).to_be_visible()
    late = await visit(address(server, f"/e/{event}#{cys}"))
    await late.button("Join").click()
    await expect(late.page.locator(".entry")).to_contain_text("This event has begun and can't be joined any more.")
    await expect(late.button("Join")).to_be_hidden()
    await bo.ask("resign", room=room)
    await other.button("To the event").click()
    await expect(other.page.locator(".entry")).to_contain_text("You finished in place 1")


async def test_a_second_window_at_an_event_leaves_the_game_to_the_first(server: Server, visit: Visit, bo: Peer) -> None:
    event = await open_event(bo, bo)
    first = await visit(address(server, f"/e/{event}"))
    await enter(first, "ana")
    await expect(first.page.locator(".entry")).to_contain_text("You are in")
    await begin_event(bo, event)
    room = await come(bo)
    await first.page.wait_for_url(f"**/{room}")
    await expect(first.page.locator(".board")).to_be_visible()
    second = await first.page.context.new_page()
    await second.goto(address(server, f"/e/{event}"))
    await expect(second.get_by_role("button", name="To the board")).to_be_visible()
    await expect(first.page.locator(".banner")).to_be_hidden()
    await second.get_by_role("button", name="To the board").click()
    await expect(second.locator(".board")).to_be_visible()
    await first.hears("You continued this game in another window or on another device.")
    await expect(first.page.get_by_label("Say something")).to_be_hidden()
    await first.button("Continue here").click()
    await expect(first.page.locator(".banner")).to_be_hidden()
    await expect(second.locator(".banner")).to_be_visible()


def event_state(**pairing: object) -> Message:
    """Return a state of an event that p1 runs, with a roster and one pairing."""
    head = {"kind": "round_robin", "title": "Class 5b", "entry": "roster", "players": 2, "organisers": ["p1"]}
    game = {"id": "r1-1", "round": 1, "players": {"X": "p2", "O": "p3"}, "names": {"X": "Anna", "O": "Ben"}, **pairing}
    about = {"seq": 1, "status": "running", "round": 1, "due_ms": None, "present": 2, "table": [], "pairings": [game]}
    return {"type": "event", "event": "E2E2E2", "head": head | {"rules": CLASSIC_RULES, "clock": CLOCK}, **about}


async def test_an_organisers_open_menu_survives_updates(visit: Visit) -> None:
    async with OddServer(hello=[welcome()], event_watch=[{"type": "ok"}, event_state(state="due")]) as server:
        org = await visit(f"{server.origin}/e/E2E2E2", may_fail=f"{SERVER_GOES}|404")
        await org.page.get_by_text("Decide").click()
        await server.say(event_state(state="open", room=CODE))
        await expect(org.page.get_by_role("link", name="Watch")).to_be_visible()
        await org.confirm(org.button("Anna forfeits"))
        await until(lambda: server.asked_for("event_run"))
        assert server.asked_for("event_run")[0]["player"] == "p2"
        paused = event_state(state="scored", result="X")
        await server.say(paused | {"status": "paused", "needed": 2})
        await expect(org.page.locator(".standing")).to_contain_text("It goes on when 2 players are back")
        await server.close(1012)
        await until(lambda: len(server.asked_for("event_watch")) == 2)


async def forfeit_games(organiser: Peer, event: str, *, last_round: int) -> None:
    """Let X lose every game up to the end of a round, so that all matches are level."""
    while True:
        await organiser.ask("event_watch", event=event, on=True)
        state = await organiser.next_of("event")
        if state["round"] > last_round or state["status"] == "over":
            return
        for pairing in state["pairings"]:
            if pairing["state"] != "scored":
                about = {"pairing": pairing["id"], "player": pairing["players"]["X"]}
                await organiser.ask("event_run", event=event, seq=state["seq"], action="forfeit", **about)


async def test_a_knock_out_shows_its_bracket_level_matches_and_podium(server: Server, visit: Visit) -> None:
    async with AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url, name)) for name in ("ana", "bo", "cy", "dee")]
        event = await open_event(peers[0], *peers, kind="knock_out")
        await begin_event(peers[0], event)
        await forfeit_games(peers[0], event, last_round=1)
        page = await visit(address(server, f"/e/{event}"))
        await expect(page.page.locator(".standing")).to_contain_text("Round 2 of 2")
        wall = await visit(address(server, f"/e/{event}/wall"))
        for shown in (page, wall):
            await expect(shown.page.locator(".bracket h3")).to_have_text(["Semi-finals", "Final"])
            await expect(shown.page.locator(".match")).to_have_count(3)
            ahead = await shown.page.locator(".bracket > li:first-child .won .fit").all_inner_texts()
            await expect(shown.page.locator(".bracket > li:last-child .fit")).to_have_text(ahead)
        await expect(page.page.locator(".standings thead .points")).to_have_text("matches won")
        await expect(page.page.locator(".standings tbody .points")).to_have_text(["1", "1", "0", "0"])
        await expect(wall.page.locator(".podium")).to_have_count(0)
        await forfeit_games(peers[0], event, last_round=2)
        await expect(wall.page.locator(".podium li")).to_have_count(4)
        await expect(wall.page.locator(".match .why")).to_have_text(["3:3, the draw decided"] * 3)


async def test_the_wall_shows_the_way_in_then_table_boards_and_missing_players(server: Server, visit: Visit) -> None:
    async with (
        open_peer(server.url, "ana") as ana,
        open_peer(server.url, "bo") as bo,
        two_playing(server, "cy", "dee"),
    ):
        event = await open_event(ana, ana, bo)
        wall = await visit(address(server, f"/e/{event}/wall"))
        await expect(wall.page.locator(".wall-address")).to_have_text(f"127.0.0.1:{server.port}/e/{event}")
        await expect(wall.page.locator(".wall-code")).to_have_text(event)
        await expect(wall.page.locator(".wall-in li")).to_have_text(["ana", "bo"])
        box = await wall.page.locator(".qr").bounding_box()
        assert box is not None
        assert box["height"] > 450
        await begin_event(ana, event)
        room = await come(ana)
        await come(bo)
        await expect(wall.page.locator(".live-boards li:visible")).to_have_count(1)
        await expect(wall.page.locator(".wall-table tr")).to_have_count(2)
        waits = re.compile(r"Waiting for (ana|bo)\.$")
        await expect(wall.page.locator(".wall-foot")).to_have_text(waits)
        await expect(wall.page.locator("header.wall-head")).to_contain_text("Round 1")
        await expect(wall.page.locator(".wall-side .wall-come")).to_have_text(
            f"{event}127.0.0.1:{server.port}/e/{event}"
        )
        ends = "element => [...element.querySelectorAll('*')].map(one => one.getBoundingClientRect().right)"
        boards = await wall.page.locator(".live-boards").evaluate("element => element.getBoundingClientRect().left")
        assert max(await wall.page.locator(".wall-side").evaluate(ends)) < boards, "the code is whole"
        inside = "element => element.scrollHeight <= innerHeight && element.scrollWidth <= innerWidth"
        assert await wall.page.locator("html").evaluate(inside)
        await bo.ask("resign", room=room)
        await expect(wall.page.locator(".podium li").first).to_have_text("1anapoints: 1")
        await expect(wall.page.locator("header.wall-head")).to_contain_text("ana wins.")
        await expect(wall.page.locator(".wall-foot")).to_have_text("")


async def test_more_players_than_are_pushed_are_in_the_table_and_on_the_wall(server: Server, visit: Visit) -> None:
    async with AsyncExitStack() as stack:
        peers = [await stack.enter_async_context(open_peer(server.url, f"player{number}")) for number in range(23)]
        event = await open_event(peers[0], *peers, kind="swiss")
        wall = await visit(address(server, f"/e/{event}/wall"))
        await expect(wall.page.locator(".wall-in li")).to_have_count(23)
        page = await visit(address(server, f"/e/{event}"), phone=True)
        await expect(page.page.locator(".standings tbody tr")).to_have_count(23)
        await begin_event(peers[0], event)
        await expect(wall.page.locator(".wall-foot > span")).to_have_text("11 of 12 games are on.")
        await expect(wall.page.locator(".wall-foot .wall-code")).to_have_text(event)
        await expect(wall.page.locator(".live-boards li:visible")).to_have_count(11)
        await expect(wall.page.locator(".wall-table tr")).to_have_count(20)


async def test_an_events_code_works_in_the_field_for_rooms(server: Server, visit: Visit, bo: Peer) -> None:
    event = await open_event(bo)
    ana = await visit(address(server))
    await ana.page.get_by_label("Code or link").fill(
        f"The club's tournament starts at seven, this is your card: {server.url}/e/{event.lower()}#abcdefghijkl"
    )
    await ana.page.keyboard.press("Enter")
    await ana.page.wait_for_url(f"**/e/{event}#abcdefghijkl")
    await expect(ana.page.get_by_role("heading", name="Friday")).to_be_visible()


async def test_the_first_page_lists_events_and_a_missing_event_leads_on(server: Server, visit: Visit, bo: Peer) -> None:
    event = await open_event(bo, title="Friday evening")
    ana = await visit(address(server), may_fail="404")
    await ana.page.get_by_role("link", name=re.compile("Join: Friday evening")).click()
    await ana.page.wait_for_url(f"**/e/{event}")
    await ana.page.goto(address(server, "/e/AAAAAA"))
    await expect(ana.page.locator("main")).to_contain_text("No event AAAAAA.")
    await expect(ana.button("All games on a wall")).to_be_visible()


async def test_axe_accepts_an_event(server: Server, find_violations: FindViolations, visit: Visit) -> None:
    async with open_peer(server.url, "bo") as bo:
        org = await visit(address(server))
        await org.button("New event…").click()
        found = {"dialog": await find_in_both_schemes(find_violations, org.page)}
        await org.page.get_by_label("Title").fill("Class 5b")
        await org.page.get_by_role("checkbox", name="medium").check()
        await org.button("Open").click()
        await enter(org, "ana")
        await expect(org.page.locator(".standings .own")).to_be_visible()
        found["entered"] = await find_in_both_schemes(find_violations, org.page)
        event = org.page.url.rpartition("/")[2]
        await bo.ask("event_join", event=event)
        wall = await visit(address(server, f"/e/{event}/wall"))
        await expect(wall.page.locator(".wall-in li")).to_have_count(3)
        found["wall before"] = await find_in_both_schemes(find_violations, wall.page)
        await org.button("Begin").click()
        guest = await visit(address(server, f"/e/{event}"), phone=True)
        await expect(guest.page.locator(".pairings li")).not_to_have_count(0)
        found["begun"] = await find_in_both_schemes(find_violations, guest.page)
        await expect(wall.page.locator(".wall-table tr")).to_have_count(3)
        found["wall"] = await find_in_both_schemes(find_violations, wall.page)
    assert found == {name: [] for name in found}
