import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.limits import uncounted
from tests.page.conftest import Visit
from tests.page.test_play import address
from tictactoe_server.features.bots.service import BotOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings
from tictactoe_server.transport.listen import addresses_at


@pytest_asyncio.fixture(loop_scope="session")
async def origin() -> AsyncIterator[str]:
    """Return the external address of a server that listens on all addresses of this machine."""
    hosts = addresses_at("0.0.0.0")
    if not hosts:
        pytest.skip("this machine is on no network")
    async with Server(Settings(host="0.0.0.0", port=0), limits=uncounted()) as server:
        yield f"http://{hosts[0]}:{server.port}"


async def test_a_host_at_localhost_is_given_the_link_that_others_can_open(origin: str, visit: Visit) -> None:
    ana = await visit(re.sub("//.*:", "//localhost:", origin))
    await ana.quick_match("ana")
    await expect(ana.page.get_by_label("Link")).to_have_value(f"{origin}/{ana.code}")


async def test_a_link_is_copied_over_plain_http_from_another_machine(origin: str, visit: Visit) -> None:
    ana = await visit(origin)
    assert not await ana.page.evaluate("isSecureContext")
    await ana.quick_match("ana")
    link = await ana.page.get_by_label("Link").input_value()
    await ana.button("Copy").click()
    await ana.hears(f"Copied: {link}")
    await expect(ana.button("Copy")).to_be_focused()
    bo = await visit(link)
    await bo.join("bo")
    await ana.hears("bo joins as O.")
    field = ana.page.get_by_label("Say something")
    await field.press("Control+v")
    await expect(field).to_have_value(link)


async def test_a_player_whose_browser_cannot_copy_is_told_the_link(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject())")
    await ana.page.evaluate("void (document.execCommand = () => false)")
    await ana.quick_match("ana")
    await ana.button("Copy").click()
    await ana.hears(f"Copy this yourself: {ana.page.url}")


async def test_an_invitation_is_photographed_or_shared_by_the_sheet_of_the_device(server: Server, visit: Visit) -> None:
    ana = await visit(address(server))
    await ana.page.evaluate("void (navigator.canShare = ({url}) => !!url)")
    await ana.page.evaluate("void (navigator.share = async ({url}) => void (globalThis.shared = url))")
    await ana.quick_match("ana")
    code = ana.page.get_by_role("img", name="The link as a QR code")
    assert await code.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    assert await code.get_attribute("src") == f"/qr/{ana.page.url.rsplit('/', 1)[1]}.svg"
    await ana.button("Share").click()
    assert await ana.page.evaluate("shared") == ana.page.url


async def test_a_broken_url_is_reported_on_the_home_page(server: Server, visit: Visit) -> None:
    ana = await visit("about:blank")
    for broken in ("link=%", "game/%"):
        await ana.page.goto("about:blank")
        await ana.page.goto(address(server, f"/#{broken}"))
        await ana.hears("There is no page at this address.")
        await expect(ana.button("Find an opponent")).to_be_visible()


async def test_the_not_found_page_links_to_other_pages(server: Server, visit: Visit) -> None:
    ana = await visit("about:blank", may_fail="404")
    for path in ("/K7M4PQ", "/no/such/page", "/replay/abcdefghijklmnop"):
        await ana.page.goto(address(server, path))
        await expect(ana.page.get_by_role("heading", name="Nothing here")).to_be_visible()
        await expect(ana.page).to_have_title("Nothing here")
        await expect(ana.page.locator("main button:enabled")).to_have_text(["Home", "All games on a wall"])
        await expect(ana.page.locator("main input, main button:disabled")).to_have_count(0)
        await ana.button("Home").click()
        await expect(ana.tile("classic")).to_be_visible()
    for path, told in (
        ("/", "A room code has 6 letters and digits"),
        ("/e/", "No event"),
        ("/ladder/", "no rules named"),
    ):
        await ana.page.goto(address(server, path + 70 * "K"))
        await expect(ana.page.locator("main")).to_contain_text(told)


async def test_a_page_below_a_path_requests_nothing_outside_it(visit: Visit) -> None:
    settings = Settings(host="127.0.0.1", port=0, base_path="/games", features=(BotOptions(demo=False),))
    async with Server(settings, limits=uncounted()) as server:
        ana = await visit("about:blank", may_fail="404")
        asked: list[str] = []
        ana.page.on("request", lambda request: asked.append(request.url))
        ana.page.on("websocket", lambda socket: asked.append(socket.url))
        await ana.page.goto(address(server, "/games/"))
        await ana.quick_match("ana")
        link = address(server, f"/games/{ana.code}")
        assert (ana.page.url, await ana.page.get_by_label("Link").input_value()) == (link, link)
        await expect(ana.page.locator(".qr")).to_be_visible()
        for path in ("wall", "ladder/", "e/K7M4PQ", "no-such-page", "#games"):
            await ana.page.goto(address(server, f"/games/{path}"))
            await ana.connects()
            await ana.page.locator(".brand").click()
            await expect(ana.tile("classic")).to_be_visible()
            assert ana.page.url == address(server, "/games/")
        assert [url for url in asked if "/games/" not in url and url.startswith(("http", "ws"))] == []
