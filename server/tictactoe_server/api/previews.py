"""Previews: the pictures that stand beside a link to a public room, a shared game, an event or the first page.

A picture is made of what everybody may see, which is also the key by which it is kept: for the same state it is drawn
once. Drawing is done in one thread. It needs the extra `previews`; without it links have no picture.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final

from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.terms import RulesState
from tictactoe_protocol.tournaments import describe_standing, describe_word, tabulate
from tictactoe_protocol.wording import describe_rules
from tictactoe_server.core.core import Core, Reply, Service
from tictactoe_server.events.service import Tournaments
from tictactoe_server.http import pictures, texts
from tictactoe_server.http.pictures import BoardCard, Card, Seat, TableCard, spell
from tictactoe_server.records.tables import SHARES
from tictactoe_server.rooms import FinishedGame
from tictactoe_server.rooms.finished import final_position
from tictactoe_server.services.checks import find_public
from tictactoe_server.services.history import find_shared
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, say

MOST_BYTES: Final = 8 * 1024 * 1024
"""How much of pictures is remembered, the last that were asked for."""

MOST_WAITING: Final = 32
"""How many pictures may wait to be drawn."""

_FRESH: Final = (("Cache-Control", "public, max-age=30"),)
_STONES: Final = ("gomoku", "gomoku-standard")


class Previews(Service):
    """Answers with pictures; `drawn` is how many were made."""

    def __init__(self, tournaments: Tournaments) -> None:
        self._tournaments = tournaments
        self._made = OrderedDict[Card, bytes]()
        self._size = 0
        self._drawing: dict[Card, asyncio.Future[bytes]] = {}
        self._thread = ThreadPoolExecutor(1, "previews")
        self.drawn = 0
        self.routes = {
            r"/preview\.png": self.home,
            r"/preview/([^/.]+)\.png": self.room,
            r"/preview/e/([^/.]+)\.png": self.event,
            r"/preview/replay/([A-Za-z0-9_-]{16,64})\.png": self.replay,
        }

    def start(self, core: Core) -> None:
        self._core = core
        self._shares = core.store.table(SHARES)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def home(self, request: HttpRequest) -> Reply:
        return await self._answer(BoardCard((), *texts.head_of_site(), "XOX.XO..O", 3, "XO"))

    async def room(self, request: HttpRequest, text: str) -> Reply:
        """Answer with the board of a public room."""
        return await self._answer(card_of_room(await find_public(self._core, request, text)))

    async def event(self, request: HttpRequest, text: str) -> Reply:
        """Answer with the table of an event that is open to all."""
        texts_of_events = self._tournaments.texts
        event = await texts_of_events.find_open(request, text)
        state = texts_of_events.make(event, "state")[1]
        _, *rows = tabulate(state.table[: pictures.MOST_ROWS], "").values()
        more = len(event.field) - len(rows)
        return await self._answer(
            TableCard(
                spell(clean_text(event.title), texts.TITLE),
                spell(describe_standing(state).rstrip(".")),
                f"{describe_word('kind', event.kind).capitalize()}. {describe_rules(event.rules)}.",
                tuple((place, spell(name, "a player"), won) for place, name, won, *_ in rows),
                f"and {more} more" if more > 0 else "",
            )
        )

    async def replay(self, request: HttpRequest, id: str) -> Reply:
        """Answer with how a game ended that was shared."""
        return await self._answer(card_of_game(self._core.additions.public(await find_shared(self._shares, id))))

    async def _answer(self, card: Card) -> HttpResponse:
        """Return the picture of a card, which is drawn once for all who ask."""
        body = self._made.get(card)
        if body is None:
            drawing = self._drawing.get(card)
            if drawing is None and len(self._drawing) >= MOST_WAITING:
                words = "Too many pictures are asked for. Try again soon."
                return say(HTTPStatus.SERVICE_UNAVAILABLE, words, ("Retry-After", "2"))
            body = await asyncio.shield(drawing or self._begin(card))
        else:
            self._made.move_to_end(card)
        return HttpResponse(HTTPStatus.OK, body, "image/png", _FRESH)

    def _begin(self, card: Card) -> asyncio.Future[bytes]:
        drawing = asyncio.get_running_loop().run_in_executor(self._thread, pictures.draw, card)
        self._drawing[card] = drawing
        drawing.add_done_callback(lambda done: self._keep(card, done))
        return drawing

    def _keep(self, card: Card, done: asyncio.Future[bytes]) -> None:
        """Remember a picture, and no more of all than there is room for."""
        del self._drawing[card]
        if done.cancelled() or done.exception() is not None:
            return
        self.drawn += 1
        self._made[card] = done.result()
        self._size += len(done.result())
        while self._size > MOST_BYTES:
            self._size -= len(self._made.popitem(last=False)[1])


def card_of_room(state: RoomState) -> BoardCard:
    """Return what is drawn of a room that everybody may see."""
    first = state.turn if state.result is None else state.result.winner
    names = {mark: "" if seat is None else clean_text(seat.name) for mark, seat in state.seats.items()}
    line = () if state.result is None else state.result.line
    words = spell(texts.describe_standing(state))
    return _card(state.rules, names, first, words, (state.board, state.last, line))


def card_of_game(game: FinishedGame) -> BoardCard:
    """Return what is drawn of a game that is over."""
    position = final_position(game)
    names = {mark: clean_text(one.name) for mark, one in game.players.items()}
    words = spell(texts.describe_outcome(game))
    return _card(game.rules, names, game.result.winner, words, (position.board, position.last, game.result.line))


def _card(
    rules: RulesState,
    names: dict[str, str],
    first: str | None,
    words: str,
    shown: tuple[str, int | None, tuple[int, ...]],
) -> BoardCard:
    board, last, line = shown
    look = "discs" if rules.gravity else "stones" if rules.preset in _STONES else "marks"
    seats = tuple(Seat(mark, spell(name, mark) if name else "", mark == first) for mark, name in names.items())
    return BoardCard(seats, words, describe_rules(rules), board, rules.columns, rules.marks, look, last, tuple(line))
