"""Preview pictures for links to a public room, a shared game, a tournament or the first page.

A picture shows only public data, which is also the picture's key in the cache. A single thread draws all pictures. This
module needs the extra `previews`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from tictactoe_protocol import clean_text
from tictactoe_protocol.events import EventState
from tictactoe_protocol.pushes import PastPlayer, RoomState, SeatState
from tictactoe_protocol.terms import RulesState
from tictactoe_server.core.core import Core, Service
from tictactoe_server.features.previews import pictures
from tictactoe_server.features.previews.pictures import BoardCard, Card, Seat, TableCard, spell
from tictactoe_server.http import texts
from tictactoe_server.http.pages import language_of
from tictactoe_server.play.checks import find_public
from tictactoe_server.play.history import find_shared
from tictactoe_server.records.tables import SHARES
from tictactoe_server.rooms.finished import FinishedGame, final_position
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, Reply
from tictactoe_server.transport.http_messages import say as reply
from tictactoe_words.catalogue import say, speaking
from tictactoe_words.telling import describe_verdict, describe_why_over
from tictactoe_words.tournaments import describe_standing, describe_word, tabulate
from tictactoe_words.wording import capitalize, describe_reason, describe_rules, describe_turn, is_draw

MOST_KEPT: Final = 200  # pictures in the cache, each of about 40 kB
MOST_WAITING: Final = 32  # pictures waiting to be drawn

_FRESH: Final = (("Cache-Control", "public, max-age=30"),)
_STONES: Final = ("gomoku", "gomoku-standard")

Named = TypeVar("Named", SeatState, PastPlayer)


class Previews(Service):
    """Serves preview pictures."""

    def __init__(self, core: Core, title: str) -> None:
        self._title = spell(title or texts.TITLE, texts.TITLE)
        self._pictures: dict[Card, asyncio.Future[bytes]] = {}
        self._thread = ThreadPoolExecutor(1, "previews")
        self.routes = {
            r"/preview\.png": self.home,
            r"/preview/([^/.]+)\.png": self.room,
            r"/preview/replay/([A-Za-z0-9_-]{16,64})\.png": self.replay,
        }
        self._core = core
        self._shares = core.store.table(SHARES)
        for find in core.hooks.find_events:
            self.routes = {**self.routes, r"/preview/e/([^/.]+)\.png": partial(self.event, find)}

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def home(self, request: HttpRequest) -> Reply:
        card = BoardCard((), self._title, texts.HEAD_OF_SITE[1], "XOX.XO..O", 3, "XO")
        return await self._answer(request, lambda: card)

    async def room(self, request: HttpRequest, text: str) -> Reply:
        return await self._answer(request, partial(card_of_room, await find_public(self._core, request, text)))

    async def event(self, find: Callable[..., Awaitable[EventState]], request: HttpRequest, text: str) -> Reply:
        return await self._answer(request, partial(card_of_event, await find(request, text)))

    async def replay(self, request: HttpRequest, id: str) -> Reply:
        game = self._core.names.public(await find_shared(self._shares, id))
        return await self._answer(request, partial(card_of_game, game))

    async def _answer(self, request: HttpRequest, make: Callable[[], Card]) -> HttpResponse:
        """Return a response with the picture of the card that `make` returns, with texts in the request's language.

        For concurrent requests, the picture is drawn only once.
        """
        with speaking(language_of(request)):
            card = make()
        picture = self._pictures.pop(card, None)
        if picture is None or (picture.done() and picture.exception() is not None):
            if sum(not one.done() for one in self._pictures.values()) >= MOST_WAITING:
                words = "Too many requests for pictures. Try again soon."
                return reply(HTTPStatus.SERVICE_UNAVAILABLE, words, ("Retry-After", "2"))
            picture = asyncio.get_running_loop().run_in_executor(self._thread, pictures.draw, card)
        self._pictures[card] = picture
        if len(self._pictures) > MOST_KEPT:
            del self._pictures[next(iter(self._pictures))]
        return HttpResponse(HTTPStatus.OK, await asyncio.shield(picture), "image/png", _FRESH)


def card_of_event(state: EventState) -> TableCard:
    head = state.head
    _, *rows = tabulate(state.table[: pictures.MOST_ROWS], "").values()
    more = head.players - len(rows)
    return TableCard(
        spell(clean_text(head.title), texts.TITLE),
        spell(capitalize(describe_standing(state).rstrip("."))),
        f"{capitalize(describe_word('kind', head.kind))}. {capitalize(describe_rules(head.rules))}.",
        tuple((place, spell(name, "?"), won) for place, name, won, *_ in rows),
        say("tournament and more", n=more) if more > 0 else "",
    )


def card_of_room(state: RoomState) -> BoardCard:
    shown = replace(state, seats={mark: seat and _spelled(seat, mark) for mark, seat in state.seats.items()})
    first, line = (state.turn, ()) if state.result is None else (state.result.winner, tuple(state.result.line))
    words = (
        f"{describe_verdict(shown, '')} {describe_why_over(shown, '')}" if state.result else describe_turn(shown, "")
    )
    return _card(state.rules, shown.seats, first, words, board=state.board, last=state.last, line=line)


def card_of_game(game: FinishedGame) -> BoardCard:
    position, result = final_position(game), game.result
    named = replace(game, players={mark: _spelled(player, mark) for mark, player in game.players.items()})
    shown = {"board": position.board, "last": position.last, "line": tuple(result.line)}
    verdict = "wins" if result.winner else "draw" if is_draw(result) else "none"
    name = "" if result.winner is None else named.players[result.winner].name
    how = capitalize(f"{describe_reason(result.reason)}, {say('count move', n=len(game.moves))}.")
    return _card(game.rules, named.players, result.winner, f"{say(f'verdict {verdict}', name=name)} {how}", **shown)


def _spelled(one: Named, mark: str) -> Named:
    """Return a seat or player with a name that the font can show, which is the mark if the font lacks all letters."""
    return replace(one, name=spell(clean_text(one.name), mark))


def _card(rules: RulesState, held: texts.Seated, first: str | None, words: str, **shown: Any) -> BoardCard:
    look = "discs" if rules.gravity else "stones" if rules.preset in _STONES else "marks"
    seats = tuple(
        Seat(mark, one.name if one else say("player free"), mark == first, is_free=one is None)
        for mark, one in held.items()
    )
    more = {"columns": rules.columns, "marks": rules.marks, "look": look, "is_misere": rules.misere, **shown}
    return BoardCard(seats, words, describe_rules(rules), **more)
