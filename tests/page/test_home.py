from playwright.async_api import expect

from tests.limits import uncounted
from tests.page.conftest import SERVER_GOES, FindViolations, Visit
from tests.page.test_play import address, two_at_the_board
from tests.peer import Peer
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


async def test_the_last_game_and_clock_are_remembered(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.page.get_by_role("combobox", name="Clock").select_option("3+2")
    await ana.quick_match("ana", "gomoku")
    await ana.button("Leave").click()
    await expect(ana.tile("gomoku")).to_be_checked()
    await expect(ana.page.get_by_role("combobox", name="Clock")).to_have_value("3+2")
    await ana.page.get_by_text("More").click()
    await ana.tile("four").check()
    await ana.page.get_by_label("Another clock").fill("5+1")
    await ana.button("Invite a friend").click()
    await ana.button("Leave").click()
    await expect(ana.button("Find an opponent")).to_be_visible()
    await ana.page.reload()
    await expect(ana.tile("four")).to_be_checked()
    await expect(ana.page.get_by_role("combobox", name="Clock")).to_have_value("5+1")


async def test_the_first_page_is_aligned_cuts_nothing_and_no_note_ends_with_a_single_word(
    server: Server, visit: Visit
) -> None:
    ana = await visit(address(server))
    await ana.connects()
    alone = """notes => notes.map(({firstChild: text}) => text.data).filter((text, at) => {
        const range = new Range();
        const tops = [...text.matchAll(/\\S+/g)].map(({0: word, index}) => {
            range.setStart(notes[at].firstChild, index);
            range.setEnd(notes[at].firstChild, index + word.length);
            return range.getBoundingClientRect().top;
        });
        return tops.length > 2 && tops.at(-1) - tops.at(-2) > 5;
    })"""
    notes = ana.page.locator(".way small, .tile small")
    await expect(notes).not_to_have_count(0)
    assert await notes.evaluate_all(alone) == []
    await expect(ana.page.get_by_role("link", name="Ladders")).to_be_visible()
    edges = """(width) => {
        const boxes = (name) => [...document.querySelectorAll(name)].map((one) => one.getBoundingClientRect());
        const lefts = new Set(boxes(".begin > .way, .begin > .field").map(({left}) => Math.round(left)));
        const heights = new Set(boxes(".tile").slice(5).map(({height}) => Math.round(height)));
        const names = [...document.querySelectorAll(".tile b")].filter((one) => one.scrollWidth > one.clientWidth + 1);
        return [lefts.size, heights.size, names.length, document.documentElement.scrollWidth <= width];
    }"""
    for width in (390, 1280, 1920):
        await ana.page.set_viewport_size({"width": width, "height": 1000})
        assert await ana.page.evaluate(edges, width) == [2 if width == 390 else 4, 1, 0, True], width


async def test_a_game_past_its_hold_is_given_up_from_the_first_page(visit: Visit) -> None:
    settings = Settings(host="127.0.0.1", port=0, hold_seconds=0)
    async with Server(settings, limits=uncounted()) as server:
        ana, bo = await two_at_the_board(server, visit)
        await ana.play(4)
        await bo.play(0)
        await ana.page.goto(address(server))
        await bo.hears("ana has been away too long: wait on, or end it.")
        seat = ana.page.locator(".resume .ask")
        await expect(seat).to_contain_text("Your game with bo Tic‑tac‑toe · your move · yours until somebody claims it")
        leave = ana.page.get_by_role("button", name="Leave")
        assert "A running game counts as lost." in await ana.confirm(leave, agrees=False)
        await expect(leave).to_be_visible()
        await ana.confirm(leave)
        await expect(seat).to_have_count(0)
        await bo.hears("You win! ana left the game.")
        await expect(bo.page.locator(".ask")).to_have_count(0)
        await ana.page.reload()
        await ana.connects()
        await expect(seat).to_have_count(0)


async def test_a_friend_is_invited_to_the_game_that_is_chosen(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.connects()
    await ana.tile("connect-four").check()
    await expect(ana.page.locator(".play")).to_contain_text("Drop a disc into a column")
    await ana.button("Invite a friend").click()
    await expect(ana.page.locator(".sub")).to_contain_text("private")
    eve = await visit(address(server))
    await expect(eve.page.get_by_text("No public room.")).to_be_visible()
    await eve.page.get_by_label("Code or link").fill("K7M4P")
    await eve.button("Join").click()
    await expect(eve.page.get_by_text('A room code has 6 letters and digits; "K7M4P" has 5.').first).to_be_visible()
    await eve.button("Home").click()
    field = eve.page.get_by_label("Code or link")
    await eve.button("Join").click()
    await expect(field).to_be_focused()
    await field.fill("ladder")
    await field.press("Enter")
    await eve.page.wait_for_url("**/LADDER")
    await eve.button("Home").click()
    for pasted in (
        f"Join me for a game of tic-tac-toe this evening, if you have the time: {ana.page.url}.",
        f"{ana.page.url}?fbclid={'IwAR2' * 20}",
    ):
        await eve.page.goto(address(server))
        await field.fill(pasted)
        await field.press("Enter")
        await eve.page.wait_for_url(ana.page.url)
    await eve.join("eve")
    await ana.hears("eve joins as O.")


async def test_a_click_chooses_the_colours_of_the_page_and_they_are_remembered(server: Server, visit: Visit) -> None:
    ana = await visit(address(server), dark=True)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert await ana.page.evaluate(ground) == "rgb(27, 31, 39)"
    for name, colour in (
        ("light", "rgb(247, 243, 232)"),
        ("dark", "rgb(27, 31, 39)"),
        ("high contrast", "rgb(0, 0, 0)"),
    ):
        await ana.page.get_by_role("button", name="Colours").click()
        await ana.hears(f"Colours: {name}")
        assert await ana.page.evaluate(ground) == colour
    await ana.page.reload()
    await ana.connects()
    assert await ana.page.evaluate(ground) == "rgb(0, 0, 0)"
    await ana.page.get_by_role("button", name="Colours").click()
    await ana.hears("Colours: same as your system")


async def test_the_home_page_shows_demonstration_games_while_no_player_plays(visit: Visit) -> None:
    async with Server(Settings(host="127.0.0.1", port=0), limits=uncounted()) as server:
        ana = await visit(address(server), may_fail=SERVER_GOES)
        on_now = ana.page.get_by_role("region", name="On now")
        await expect(on_now).to_contain_text("Nobody is playing right now. Watch the computers")
        await expect(on_now.locator(".live-boards li")).to_have_count(1)
        await expect(on_now.get_by_text("hard-bot", exact=True)).to_be_visible()
        await expect(on_now.locator(".live-boards a[href]")).to_have_count(0)
        await expect(ana.page.get_by_role("heading", name="Rooms (0)")).to_be_visible()


async def test_a_game_of_ones_own_is_built_on_its_preview_and_shared_by_a_link(
    server: Server, find_violations: FindViolations, visit: Visit
) -> None:
    ana = await visit(address(server))
    await ana.connects()
    await ana.page.set_viewport_size({"width": 390, "height": 800})
    await ana.tile("custom").click()
    card = ana.page.locator(".play")
    await ana.button("B2, free").click()
    await ana.page.keyboard.press("ArrowRight")
    await ana.page.keyboard.press("Enter")
    await expect(card).to_contain_text("4 by 5, 4 in a row, B2 C2 blocked")
    await ana.button("C2, blocked").click()
    await ana.page.get_by_role("checkbox", name="Gravity").check()
    await ana.page.get_by_role("checkbox", name="Misère").check()
    await ana.page.get_by_role("textbox", name="Marks").fill("xyz")
    await ana.page.keyboard.press("Enter")
    await expect(ana.page.get_by_role("textbox", name="Marks")).to_have_value("XYZ")
    await expect(ana.page.get_by_role("checkbox", name="Misère")).to_be_disabled()
    await expect(card).to_contain_text("4 by 5, 4 in a row, 3 players, B3 blocked")
    assert await find_violations(ana.page) == []
    await card.get_by_role("button", name="Share").click()
    link = address(server, "/#own=4x5x4&marks=XYZ&blocked=b3&gravity")
    await expect(ana.page.locator("#news")).to_have_text(f"Copied: {link}")
    await ana.page.get_by_label("In a row to win").fill("9")
    await ana.button("Invite a friend").click()
    await expect(ana.page.locator(".sub")).to_contain_text("4 by 5, 5 in a row, 3 players")
    await ana.page.go_back()
    await expect(ana.tile("custom")).to_be_checked()
    await expect(card).to_contain_text("4 by 5, 5 in a row, 3 players")
    for phone in (False, True):
        bo = await visit(link, phone=phone)
        await expect(bo.tile("custom")).to_be_checked()
        await expect(bo.page.locator(".play")).to_contain_text("4 by 5, 4 in a row, 3 players, B3 blocked, discs fall")
        await expect(bo.page).to_have_url(address(server))
    await bo.button("Play the computer").tap()
    await expect(bo.page.locator(".sub")).to_contain_text("4 by 5, 4 in a row, 3 players, B3 blocked")


async def test_a_link_to_no_game_that_can_be_played_says_so(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.connects()
    bad = (
        "4x5x9",
        "4x5x4&blocked=z9",
        "4x5x4&marks=x",
        "4x5x4&opening=pie&marks=XOA",
        "2x2x2&blocked=a1,a2,b1",
        "soon",
    )
    for own, rows in zip(bad, "545454", strict=True):
        await ana.page.goto(address(server, f"/#own={own}"))
        alert = ana.page.locator(".play .fault[role=alert]")
        await expect(alert).to_have_text("This link does not describe a game that can be played. Build your own here.")
        await ana.page.get_by_label("Rows").fill(rows)
        await ana.page.keyboard.press("Enter")
        await expect(alert).to_be_empty()


async def test_the_name_of_a_game_stays_on_one_line_on_a_small_phone(server: Server, visit: Visit) -> None:
    ana = await visit(address(server), phone=True)
    await ana.page.set_viewport_size({"width": 320, "height": 568})
    names = ana.page.locator(".tile b, .play h2").filter(has_text="Tic‑tac‑toe")
    await expect(names).to_have_count(2)
    lines = """names => names.map((name) => {
        const range = new Range();
        range.selectNodeContents(name);
        return new Set([...range.getClientRects()].map(({top}) => top)).size;
    })"""
    assert await names.evaluate_all(lines) == [1, 1]


async def test_a_double_click_opens_one_room_and_a_game_that_begins_elsewhere_is_told(
    server: Server, visit: Visit, bo: Peer
) -> None:
    ana = await visit(address(server), unnamed=True)
    await ana.connects()
    await ana.button("Two here").dblclick()
    await expect(ana.page.get_by_role("dialog")).to_have_count(1)
    await ana.close_dialog()
    await ana.button("Find an opponent").dblclick()
    await expect(ana.page.get_by_role("dialog")).to_have_count(1)
    await ana.button("That's me").click()
    await expect(ana.page.get_by_text("Waiting for someone")).to_be_visible()
    await ana.page.get_by_role("link", name="tictactoe").click()
    await expect(ana.page.locator(".resume .ask")).to_have_count(1)
    await ana.button("Invite a friend").dblclick()
    await expect(ana.page.locator(".invite")).to_be_visible()
    await ana.page.get_by_role("link", name="tictactoe").click()
    await expect(ana.page.locator(".resume .ask")).to_have_count(2)
    await bo.ask("match")
    notice = ana.page.locator(".notice")
    await expect(notice).to_contain_text("Your game with bo")
    await notice.get_by_role("button", name="Resume").click()
    await expect(ana.page.locator(".board")).to_be_visible()
    await expect(notice).to_have_count(0)


async def test_the_banner_of_a_game_goes_when_another_window_plays_it(server: Server, visit: Visit, bo: Peer) -> None:
    ana = await visit(address(server))
    await ana.connects()
    await ana.button("Find an opponent").click()
    await expect(ana.page.get_by_text("Waiting for someone")).to_be_visible()
    await ana.page.get_by_role("link", name="tictactoe").click()
    room = (await bo.ask("match"))["room"]
    notice = ana.page.locator(".notice")
    await expect(notice).to_contain_text("Your game with bo")
    window = await ana.page.context.new_page()
    await window.goto(f"{address(server)}/{room}")
    await expect(notice).to_have_count(0)
