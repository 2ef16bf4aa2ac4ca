from playwright.async_api import expect

from tests.classic import CLASSIC_RULES
from tests.page.conftest import SERVER_GOES, Visit
from tests.page.odd_server import CODE, OddServer, error, state

EVIL = "<img src=x onerror=document.title='taken'>"
STATE = state(
    3,
    0,
    rules=CLASSIC_RULES | {"preset": EVIL},
    seats={
        "X": {"player": "p1", "name": EVIL, "online": True, "bot": EVIL},
        "O": {"player": "p2", "name": "\u202ebo\x1b[31m", "online": True, "bot": None, "new": 1},
    },
    offers={"draw": None, "undo": None, "rematch": [], "swap": "X"},
    analysis=EVIL,
    newer={"than": "this page"},
)
WELCOME = {"type": "welcome", "protocol": 1, "server": "x", "player": "p9", "name": EVIL, "token": "t", "rooms": []}
SAID = {"type": "chat", "room": CODE, "from": EVIL, "seat": None, "text": EVIL, "at": 0}
ANNOUNCED = {"type": "announcement", "text": EVIL, "at": 0}


async def test_whatever_a_server_says_is_shown_as_text(visit: Visit) -> None:
    result = {"winner": None, "reason": EVIL}
    news = [{"type": EVIL, "mark": EVIL}, {"type": "ended", "result": result}]
    over = {**STATE, "seq": 4, "status": "over", "turn": None, "result": result, "news": news}
    told = [{"type": "ok", "room": CODE, "seat": None}, STATE, SAID, ANNOUNCED, over]
    hello = [{"type": "surprise", "room": 7}, WELCOME]
    async with OddServer(hello=hello, watch=told, lobby=[error(EVIL, EVIL)]) as server:
        eve = await visit(f"{server.origin}/{CODE}", may_fail=SERVER_GOES)
        await eve.sees(A1="X")
        await expect(eve.page.locator(".player .name").first).to_have_text(EVIL)
        await expect(eve.page.locator(".player .name").nth(1)).to_have_text("bo[31m")
        await expect(eve.page.locator(".lines")).to_contain_text(EVIL)
        await eve.hears(f"There is no winner. The game ended by {EVIL}.")
        await expect(eve.page.locator("img")).to_have_count(0)
        assert await eve.page.title() != "taken"
