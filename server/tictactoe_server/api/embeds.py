"""Pages that may stand in a frame of any other page: a public room, a shared game, an event that is open to all."""

from __future__ import annotations

from tictactoe_server.core.core import Core, PageHead, Service
from tictactoe_server.events.service import Tournaments
from tictactoe_server.http import texts
from tictactoe_server.http.assets import EMBED
from tictactoe_server.records.tables import SHARES
from tictactoe_server.services.checks import find_public
from tictactoe_server.services.history import find_shared
from tictactoe_server.transport.http_messages import HttpRequest


class Embeds(Service):
    """Answers with pages to watch on; what is not for all is refused as what is not there."""

    def __init__(self, tournaments: Tournaments) -> None:
        self._tournaments = tournaments
        self.routes = {
            r"/embed/([^/.]+)": self.room,
            r"/embed/e/([^/.]+)": self.event,
            r"/embed/replay/([A-Za-z0-9_-]{16,64})": self.replay,
        }

    def start(self, core: Core) -> None:
        self._core = core
        self._shares = core.store.table(SHARES)

    async def room(self, request: HttpRequest, text: str) -> PageHead:
        return PageHead(*texts.head_of_room(await find_public(self._core, request, text)), EMBED)

    async def event(self, request: HttpRequest, text: str) -> PageHead:
        await self._tournaments.texts.find_open(request, text)
        return PageHead(texts.TITLE, texts.TITLE, EMBED)

    async def replay(self, request: HttpRequest, id: str) -> PageHead:
        game = self._core.additions.public(await find_shared(self._shares, id))
        return PageHead(*texts.head_of_game(game), EMBED)
