import re
from pathlib import Path

from tests.faults.hostile_server import hostile_server, make_welcome
from tests.peer import open_peer, until
from tests.proxy import Proxy
from tests.tui.conftest import BRIEF, AtHome, OpenScreen
from tictactoe_client import connect
from tictactoe_client.files.players import KnownPlayers
from tictactoe_client.input.ways import Choice
from tictactoe_client.tui.names import NamesPage
from tictactoe_protocol.names import ClaimName, LinkDevice
from tictactoe_protocol.requests import Hello
from tictactoe_server.server import Server

CODE = re.compile(r"[2-9A-Z]{4}(?:-[2-9A-Z]{4}){3}")


async def test_codes_stay_on_the_page_until_they_are_written_down(at_home: AtHome, server: Server) -> None:
    async with at_home(name="anna", size=(100, 40)) as ana:
        await ana.do("N", "You are playing as anna. Keep it, or others may take it.")
        await ana.do("enter", "What's your name?")
        await ana.do("backspace backspace a enter", "ana is yours. If you")
        codes = CODE.findall(ana.text)
        assert len(codes) == 3
        await ana.until("3 rescue codes are left")
        await until(lambda: [known.name for known in KnownPlayers().on((server.url,)) if known.claimed] == ["ana"])
        async with connect(server.url, name="ana", rescue=codes[0]) as back:
            assert back.name == "ana"
        await ana.do("down enter", "#link=", codes[2])
        for key in ("escape", "ctrl+q"):
            await ana.do(key, "Have you written the codes down?")
            await ana.do("escape", codes[2], gone="Have you")
        await ana.do("escape", "I have written them down")
        await ana.do("enter", "Playing as  ana")
        await ana.do("N", "2 rescue codes are left")
        assert not CODE.search(ana.text)


async def test_codes_and_a_link_can_both_be_read_in_a_small_window(at_home: AtHome) -> None:
    async with at_home(name="ana", size=(40, 14)) as ana:
        await ana.do("N enter", "What's your name?")
        await ana.do("enter", "ana is yours. If you")
        codes = CODE.findall(ana.text)
        assert len(codes) == 3
        await ana.do("down enter", "#link=", "  > Use this name", gone=codes[0])
        await ana.do("pageup pageup", *codes, gone="#link=")
        await ana.do("pagedown pagedown", "#link=")


async def test_codes_stay_on_the_page_after_the_final_loss_of_the_connection(
    proxy: Proxy, open_screen: OpenScreen
) -> None:
    async with open_screen(proxy.url, name="ana", size=(100, 40), backoff=BRIEF) as ana:
        await ana.until("Playing as  ana")
        await ana.do("N enter", "What's your name?")
        await ana.do("enter", "3 rescue codes are left")
        codes = CODE.findall(ana.text)
        await ana.press("?")
        await ana.until("Help", gone=codes[0])
        proxy.lose()
        await ana.until("Connection lost", *codes)
        await ana.do("escape", "Have you written the codes down?")
        await ana.do("enter", "r tries again", gone=codes[0])


async def test_a_device_can_be_added_and_revoked(at_home: AtHome, server: Server) -> None:
    async with at_home(name="ana", size=(100, 50)) as ana:
        await ana.do("N down enter", "#link=")
        found = re.search(r"#link=(\w{8})", ana.text)
        assert found is not None
        async with open_peer(server.url, link=found[1], client="phone/1") as phone:
            await ana.do("escape N", "phone/1  (new)")
            await ana.do("up", "> ")
            await ana.do("enter", "Remove the device")
            await ana.press("enter")
            assert (await phone.next_of("error"))["code"] == "kicked"


async def test_the_first_page_reports_a_new_device_and_names_the_key_to_the_list(open_screen: OpenScreen) -> None:
    welcome = make_welcome(device_news="device_added")
    async with hostile_server(answers={Hello: lambda _: [welcome]}) as server, open_screen(server.url) as ana:
        await ana.until("A device was added", "N Your devices")


async def test_one_comes_back_by_a_name_and_one_of_its_codes(at_home: AtHome, server: Server) -> None:
    async with connect(server.url, name="bo") as bo, at_home(name="ana") as ana:
        code = ((await bo.ask(ClaimName(name="bo"))).rescue or ())[0]
        await ana.do("N down down down enter", "The name to restore.")
        await ana.enter("bo", "One of its rescue codes.")
        await ana.enter(code, "bo is yours. 2 rescue codes are left.")
        await ana.do("escape", "Playing as  bo")


async def test_a_link_code_makes_this_run_the_same_player(at_home: AtHome, server: Server) -> None:
    async with connect(server.url, name="bo") as bo, at_home(name="ana") as ana:
        await ana.do("N down down enter", "The code from")
        await ana.type((await bo.ask(LinkDevice())).link_code or "")
        await ana.press("enter")
        await ana.until("You are playing as bo")
        await ana.do("escape", "Playing as  bo")


async def test_a_nameless_player_is_asked_once_before_the_first_game(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, name=None) as ana:
        await ana.until("Playing as  guest-", "> Find an opponent")
        await ana.do("enter", "What's your name?")
        await ana.do("escape", "Waiting for")
        name = ana.client.name
        assert len(name.split()) == 2
    async with open_screen(server.url, name=None) as ana:
        await ana.until(f"Playing as  {name}")
        await ana.do("enter", "Waiting for")


async def test_a_room_entered_under_a_new_name_opens_after_a_look_at_the_page(
    proxy: Proxy, open_screen: OpenScreen
) -> None:
    async with open_screen(proxy.url) as ana:
        await ana.until("Playing as  ana")
        proxy.down.hold_up()
        ana.app.ways_in.go_as("zoe", Choice("create"))
        ana.app.open(NamesPage())
        await ana.until("Your name")
        await ana.do("escape", gone="Make this name yours")
        proxy.down.go_on()
        await ana.until("Waiting for another player")
        assert ana.client.name == "zoe"


async def test_a_player_deletes_data_and_starts_again(open_screen: OpenScreen, server: Server, tmp_path: Path) -> None:
    async with open_screen(server.url, name="ana", size=(100, 40)) as ana:
        await ana.until("Playing as")
        await ana.client.ask(ClaimName(name="ana"))
        file = tmp_path / "ana.json"
        await ana.do("N", "ana is yours", "Save my data")
        await ana.do("down down down down enter", "The file to write")
        await ana.press(*["backspace"] * 20)
        await ana.enter(str(file), "Saved in ")
        assert '"ana"' in file.read_text()
        await ana.do("down enter", "Delete everything about you here")
        await ana.do("enter", "Delete it anyway?")
        await ana.do("enter", "Everything about you has been deleted", "You are playing as guest-")
        await ana.do("escape", "Playing as  guest-", gone="Connection lost")
