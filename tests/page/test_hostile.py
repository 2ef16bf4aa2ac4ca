"""A server that means harm: what it says is shown as text, nonsense is passed over, and the page stays."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any

from playwright.async_api import expect
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tests.classic import CLASSIC_RULES
from tests.page.conftest import SERVER_GOES, Visit
from tictactoe_server.http.assets import Assets

EVIL = "<img src=x onerror=document.title='taken'>"
STATE: dict[str, Any] = {
    "type": "room",
    "room": "K7M4PQ",
    "seq": 3,
    "status": "playing",
    "visibility": "public",
    "game": 1,
    "rules": CLASSIC_RULES | {"preset": EVIL},
    "board": "X........",
    "ply": 1,
    "turn": "O",
    "last": 0,
    "seats": {
        "X": {"player": "p1", "name": EVIL, "online": True, "bot": EVIL},
        "O": {"player": "p2", "name": "\u202ebo\x1b[31m", "online": True, "bot": None, "new": 1},
    },
    "result": None,
    "offers": {"draw": None, "undo": None, "rematch": [], "swap": "X"},
    "clock": None,
    "watchers": 0,
    "score": {},
    "analysis": EVIL,
    "newer": {"than": "this page"},
}
WELCOME = {"type": "welcome", "protocol": 1, "server": "x", "player": "p9", "name": EVIL, "token": "t", "rooms": []}
SAID = {"type": "chat", "room": "K7M4PQ", "from": EVIL, "seat": None, "text": EVIL, "at": 0}


async def answer(connection: ServerConnection) -> None:
    async for text in connection:
        request = json.loads(text)
        match request["type"]:
            case "hello":
                replies: list[dict[str, Any]] = [{"type": "surprise", "room": 7}, WELCOME]
            case "watch":
                over = {**STATE, "seq": 4, "status": "over", "turn": None, "result": {"winner": None, "reason": EVIL}}
                ok = {"type": "ok", "id": request["id"], "room": "K7M4PQ", "seat": None, "moves": [0]}
                replies = [ok, STATE, SAID, {"type": "announcement", "text": EVIL, "at": 0}, over]
            case _:
                replies = [{"type": "error", "id": request["id"], "code": EVIL, "message": EVIL}]
        for reply in replies:
            await connection.send(json.dumps(reply))


@contextlib.asynccontextmanager
async def page_over(answer: Callable[[ServerConnection], Awaitable[None]]) -> AsyncIterator[str]:
    """Run a server that shows our page and speaks as `answer` does; yield its address."""
    assets = Assets()

    def show(connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/ws":
            return None
        asset = assets.find(request.path)
        body = asset.body if asset else assets.page("tictactoe", "")
        headers = Headers({"Content-Type": asset.kind if asset else "text/html", "Content-Length": str(len(body))})
        return Response(HTTPStatus.OK, "OK", headers, body)

    async with serve(
        answer, "127.0.0.1", 0, process_request=show, subprotocols=[Subprotocol("tictactoe.v1")]
    ) as server:
        yield f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


async def test_whatever_a_server_says_is_shown_as_text(visit: Visit) -> None:
    async with page_over(answer) as address:
        eve = await visit(f"{address}/K7M4PQ", may_fail=SERVER_GOES)
        await eve.sees(A1="X")
        await expect(eve.page.locator(".player .name").first).to_have_text(EVIL)
        await expect(eve.page.locator(".player .name").nth(1)).to_have_text("bo[31m")
        await expect(eve.page.locator(".lines")).to_contain_text(EVIL)
        await eve.hears(f"The game ended by {EVIL}. It has no winner.")
        await expect(eve.page.locator("img")).to_have_count(0)
        assert await eve.page.title() != "taken"
