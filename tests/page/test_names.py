import re

import pytest
from playwright.async_api import Dialog, Locator, expect

from tests.page.conftest import Visit, Visitor
from tests.page.test_play import address
from tests.peer import Peer, open_peer
from tictactoe_protocol import parse_name
from tictactoe_protocol.codes import SENTENCES
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_words.catalogue import LANGUAGES, open_catalogue

CODE = re.compile(r"[2-9A-Z]{4}(?:-[2-9A-Z]{4}){3}")


async def open_names(visitor: Visitor) -> Locator:
    await visitor.button("Keep this name…").click()
    return visitor.page.get_by_role("dialog", name="Your name")


async def test_a_name_is_kept_for_good_and_its_codes_are_shown_once(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    dialog = await open_names(ana)
    await expect(dialog).to_contain_text("Keep it, or others may take it")
    await dialog.get_by_label("Make this name yours").fill("ana")
    await dialog.get_by_role("button", name="Keep it").click()
    await expect(dialog).to_contain_text("ana is yours. 3 rescue codes are left.")
    codes = CODE.findall(await dialog.locator(".codes").inner_text())
    assert len(codes) == 3
    await dialog.get_by_role("button", name="Use this name on another device").click()
    await expect(dialog.locator(".qr")).to_be_visible()
    await ana.button("Close").click()
    await expect(ana.page.get_by_label("Playing as")).to_have_value("ana")
    await ana.button("Your name").click()
    await expect(dialog.locator(".codes")).to_contain_text(codes[2])
    await dialog.get_by_role("button", name="I have written them down").click()
    await expect(dialog.locator(".codes")).to_have_count(0)
    await ana.page.reload()
    await ana.button("Your name").click()
    await expect(dialog).to_contain_text("ana is yours. 3 rescue codes are left.")
    again = dialog.get_by_role("button", name="New rescue codes")
    assert await ana.confirm(again, agrees=False) == "Get new rescue codes? The old ones end in a week."
    await expect(dialog.locator(".codes")).to_have_count(0)
    await dialog.get_by_label("Make this name yours").fill("ANA")
    async with open_peer(server.url, "Ana") as other:
        assert other.welcome["claimed"] is False
    bo = await visit(address(server))
    await bo.page.get_by_label("Playing as").fill("bo")
    theirs = await open_names(bo)
    await theirs.get_by_label("Make this name yours").fill("ANA")
    await theirs.get_by_role("button", name="Keep it").click()
    await expect(theirs).to_contain_text("ana belongs to another player")
    await bo.button("Close").click()
    await bo.page.get_by_label("Playing as").fill("Ana")
    await bo.button("Keep this name…").click()
    await expect(theirs).to_contain_text('others see you as "Ana?".')
    await theirs.get_by_text("Restore a name, or enter a code from another device").click()
    await theirs.get_by_label("Your name, exactly as you wrote it down").fill("ana")
    await theirs.get_by_label("Code", exact=True).fill(codes[0].lower())
    await theirs.get_by_role("button", name="Use the code").click()
    await expect(theirs).to_have_count(0)
    await bo.hears("On this device you are now ana.")
    await expect(bo.page.get_by_label("Playing as")).to_have_value("ana")
    await bo.page.reload()
    await expect(bo.page.get_by_label("Playing as")).to_have_value("ana")


async def test_a_link_makes_another_device_the_same_player_and_leaves_the_address(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    sent: list[str] = []
    ana.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    await ana.page.reload()
    await ana.page.get_by_label("Playing as").fill("ana")
    dialog = await open_names(ana)
    await dialog.get_by_role("button", name="Use this name on another device").click()
    code = await dialog.locator(".code b").inner_text()
    await expect(dialog.locator(".qr")).to_be_visible()
    await expect(dialog.get_by_label("Link", exact=True)).to_have_value(f"{address(server)}#link={code}")
    await expect(dialog.get_by_role("listitem")).to_contain_text("Browser on Linux")
    phone = await visit(f"{address(server)}#link={code}")
    arrived = phone.page.get_by_role("dialog", name="Your name")
    await expect(arrived).to_contain_text("You opened a link from another device")
    assert code not in phone.page.url
    await arrived.get_by_role("button", name="Use the code").click()
    await expect(phone.page.get_by_label("Playing as")).to_have_value("ana")
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await ana.close_dialog()
    notice = ana.page.get_by_role("alert").filter(has_text="A device was added to your player")
    await expect(notice).to_be_visible()
    await ana.button("Your devices").click()
    await expect(dialog.get_by_role("listitem").filter(has_text="new")).to_have_count(1)
    await ana.page.reload()
    await ana.button("Keep this name…").click()
    await expect(dialog.get_by_role("listitem")).to_have_count(2)
    await expect(notice).to_have_count(0)
    await dialog.get_by_role("button", name="Revoke").click()
    await expect(dialog.get_by_role("listitem")).to_have_count(1)
    await expect(phone.page.locator("main")).to_contain_text("removed from")
    await dialog.get_by_role("button", name="Use this name on another device").click()
    code = await dialog.locator(".code b").inner_text()
    await ana.close_dialog()
    sent.clear()
    tablet = await visit(address(server))
    await tablet.page.get_by_label("Code or link").fill(code)
    await tablet.page.keyboard.press("Enter")
    await tablet.button("Use the code").click()
    await expect(notice).to_be_visible()
    assert not [frame for frame in sent if '"devices"' in frame]


async def test_an_invalid_code_is_reported_and_the_player_stays_the_same(server: Server, visit: Visit) -> None:
    ana = await visit(f"{address(server)}#link=7KQ2M94F")
    dialog = ana.page.get_by_role("dialog", name="Your name")
    await dialog.get_by_role("button", name="Use the code").click()
    await expect(dialog.locator("label").get_by_role("alert")).to_contain_text("This code is not valid")
    await ana.button("Close").click()
    name = ana.page.get_by_label("Playing as")
    await expect(name).to_have_value(re.compile("guest-"))
    await name.click()
    await ana.page.keyboard.type("Ana")
    await expect(name).to_have_value("Ana")


async def test_an_unnamed_player_is_asked_for_a_name_once(server: Server, visit: Visit) -> None:
    ana = await visit(address(server), unnamed=True)
    await ana.connects()
    await ana.button("Play the computer").click()
    asked = ana.page.get_by_role("dialog", name="What's your name?")
    proposed = await asked.get_by_role("textbox").input_value()
    assert parse_name(proposed) == proposed
    await asked.get_by_role("button", name="That's me").click()
    await expect(ana.page.locator(".player.m0")).to_contain_text(f"{proposed} (you)")
    await ana.page.goto(address(server))
    await ana.connects()
    await ana.button("Play the computer").click()
    await expect(ana.page.locator(".player.m0")).to_contain_text(f"{proposed} (you)")


async def test_entering_by_link_proposes_a_name_to_unnamed_players(server: Server, visit: Visit, bo: Peer) -> None:
    room = (await bo.ask("create"))["room"]
    ana = await visit(address(server, f"/{room}"), unnamed=True)
    await expect(ana.page.get_by_label("Your name")).to_have_value(re.compile(r"^[A-Z]\w+ [A-Z]\w+$"))
    await ana.page.get_by_role("button", name="Play as").click()
    await expect(ana.page.locator(".player .name", has_text="(you)")).to_have_text(re.compile(r"^\w+ \w+ \(you\)"))


@pytest.mark.parametrize("phone", [False, True])
async def test_a_banner_never_moves_a_pressed_button(server: Server, visit: Visit, phone: bool) -> None:
    async with open_peer(server.url, "lena") as lena:
        await lena.ask("claim_name", name="lena")
        other = await visit(address(server), phone=phone)
        await expect(other.page.get_by_role("link", name="Ladders")).to_be_visible()
        await expect(other.page.locator(".way").first).to_contain_text("1 other is online.")
        await expect(other.button("New event…")).to_be_visible()  # nothing is still loading that moves the buttons
        buttons = [other.button(name) for name in ("Find an opponent", "Invite a friend", "Join")]
        before = [await button.bounding_box() for button in buttons]
        await other.page.get_by_label("Playing as").fill("lena")
        await other.page.keyboard.press("Enter")
        await expect(other.page.locator(".banner")).to_be_in_viewport(ratio=1)
        await expect(other.page.locator(".banner")).to_contain_text("Choose another name or, if it is yours")
        assert [await button.bounding_box() for button in buttons] == before
        await other.page.locator(".banner").get_by_role("button", name="Close").click()
        await expect(other.page.locator(".banner")).to_be_hidden()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_that_may_be_proposed_is_one_that_servers_take(language: str) -> None:
    words = [open_catalogue(language).say(f"name proposal {part}").split() for part in ("first", "last")]
    names = [f"{first} {last}" for first in words[0] for last in words[1]]
    assert [parse_name(name) for name in names] == names
    assert len({*names}) > 500


async def test_a_player_can_export_and_delete_their_data(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.page.get_by_label("Playing as").fill("ana")
    dialog = await open_names(ana)
    await dialog.get_by_role("button", name="Keep it").click()
    await dialog.get_by_role("button", name="I have written them down").click()
    async with ana.page.expect_download() as saved:
        await ana.button("Save my data").click()
    assert '"ana"' in (await (await saved.value).path()).read_text()
    asked = []

    async def answer(question: Dialog) -> None:
        asked.append(question.message)
        await question.accept()

    ana.page.on("dialog", answer)
    await ana.button("Delete my data").click()
    await expect(ana.page.get_by_text("Everything about you has been deleted")).to_have_count(1)
    ana.page.remove_listener("dialog", answer)  # other tests use this window later
    assert len(asked) == 2
    await expect(dialog).to_have_count(0)
    await expect(ana.page.get_by_label("Playing as")).to_have_value(re.compile("guest-"))
    async with open_peer(server.url, "ana") as other:
        assert "claimed" not in other.welcome


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_pupil_has_a_friendly_name_no_dead_button_and_whole_sentences(visit: Visit, language: str) -> None:
    settings = Settings(host="127.0.0.1", port=0, for_="school", features=(BotOptions(demo=False),))
    async with Server(settings) as school, open_peer(school.url, "bo") as bo:
        mia = await visit(address(school), phone=True, language=language)
        say = open_catalogue(language).say
        await expect(mia.page.locator(".hero input")).to_have_value(re.compile("^[A-Z][a-z]+ [A-Z][a-z]+ [0-9]{2}$"))
        await expect(mia.page.locator(".hero input")).not_to_be_editable()
        await expect(mia.page.locator(".hero button")).to_be_hidden()
        await expect(mia.page.locator(".greeting")).to_have_text(
            f"{say('refused not_allowed chat sentences')}\n{say('page names given')}"
        )
        room = (await bo.ask("create"))["room"]
        await mia.page.goto(address(school, f"/{room}"))
        await mia.page.locator(".door button").click()
        await expect(mia.page.locator(".door")).to_have_count(0)
        await mia.page.locator(".heard").click()
        sentences = mia.page.locator(".talk form button")
        await expect(sentences).to_have_text([say(f"sentence {id}") for id in SENTENCES])
        footer = await mia.page.locator("footer").bounding_box()
        for place in [await one.bounding_box() for one in await sentences.all()]:
            assert place is not None
            assert footer is not None
            assert place["x"] + place["width"] <= 390
            assert place["y"] + place["height"] <= footer["y"]
