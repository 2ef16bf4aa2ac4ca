"""Tournaments over plain HTTP, under ``/e/CODE``: text for terminals, JSON and CSV for programs, records of games."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs
from zlib import crc32

from msgspec.structs import replace

from tictactoe_engine.records import format_record
from tictactoe_protocol import ErrorCode, clean_text, encode
from tictactoe_protocol.events import EventRow, EventState, round_of
from tictactoe_protocol.standings import spell_halves
from tictactoe_server.core.core import Core
from tictactoe_server.features.tournaments import broadcasts
from tictactoe_server.features.tournaments.attendance import Attendance, Attendances
from tictactoe_server.features.tournaments.event import Event, Pairing, due_at, for_outsiders
from tictactoe_server.features.tournaments.event_store import EventStore, no_such_event
from tictactoe_server.http.texts import TITLE, WIDTH, fill, format_csv, wrap
from tictactoe_server.play.history import find_by_id
from tictactoe_server.rooms.finished import played_game, record_of
from tictactoe_server.rooms.room import Refused
from tictactoe_server.transport.http_messages import (
    CSV,
    JSON,
    JSON_LINES,
    PLAIN_TEXT,
    HttpRequest,
    HttpResponse,
    PageHead,
    Reply,
    redirect,
)
from tictactoe_words import tournaments
from tictactoe_words.attendance import describe_game, describe_progress, draw_bracket, list_notes
from tictactoe_words.catalogue import say
from tictactoe_words.wording import describe_clock, describe_reason, describe_rules

MOST_MADE: Final = 64  # documents in the cache

_TYPES: Final = {"json": JSON, "csv": CSV, "txt": PLAIN_TEXT, "games": JSON_LINES}
_LEAST_NAME: Final = 13
_EDGE_WIDTH: Final = 20  # of the columns for place, points and games played
_IN_COLOUR: Final = str.maketrans(
    {sign: f"\x1b[{colour}m{sign}\x1b[0m" for colour, signs in ((32, "1+"), (33, "½="), (31, "0-")) for sign in signs}
)


def list_cells(event: Event) -> Iterator[Sequence[object]]:
    """Yield the rows of a tournament's CSV file: its table, an empty row, its pairings."""
    whole = broadcasts.state_of(event, has_all_rounds=True)
    yield "place", "name", "bot", "points", "played", *tournaments.TIES, "status", "player"
    for row in whole.table:
        values = {name: value for name, value, _ in row.tie}
        about = row.place, row.name, row.bot, row.points, row.played
        yield *about, *(values.get(name) for name in tournaments.TIES), row.status, row.player
    yield ()
    yield "round", "pairing", "number", *event.marks, "result", "reason", "by", "game_id"
    for one in whole.pairings:
        sat = [one.names.get(mark, "") for mark in event.marks]
        yield one.round, one.id, round_of(one.id), *sat, one.result, one.reason, one.by, one.game_id


def describe_event(event: Event, state: EventState, *, is_coloured: bool = False) -> list[str]:
    """Return a tournament as lines of text, from its whole `state`: terms, table, bracket and current round."""
    title, kind = clean_text(event.title), tournaments.describe_word("kind", event.kind)
    head = f"{title}: {kind}. {describe_rules(event.rules)}, {describe_clock(event.clock)}."
    has_begun = any(row.played for row in state.table) and event.kind != "knock_out"
    ties = [_describe_ties(row) for row in state.table if row.tie and has_begun]
    parts = (
        _wrap_all([head, *describe_progress(state, None)]),
        [*_draw_table(event, state, is_coloured=is_coloured)] if state.table else [],
        ["Level on points:", *_wrap_all(ties)] if ties else [],
        _wrap_all(list_notes(state)),
        draw_bracket(state.bracket, event.all_rounds, WIDTH, fill) if state.bracket else [],
        [f"{say('tournament now', round=event.round)}:", *_list_games(state)] if state.pairings else [],
    )
    return [line for part in parts if part for line in (*part, "")][:-1]


class EventTexts:
    """Answers HTTP requests about tournaments."""

    def __init__(self, core: Core, events: EventStore, attendances: Attendances) -> None:
        self._core = core
        self._attendances = attendances
        self._events = events
        self._made: dict[tuple[str, str, bool], tuple[tuple[int, int], Any]] = {}
        self._forms: Mapping[str, Callable[[Event], Any]] = {
            "state": broadcasts.state_of,
            "json": partial(broadcasts.state_of, has_all_rounds=True),
            "text": lambda event: describe_event(event, self._state(event)),
            "colour": lambda event: describe_event(event, self._state(event), is_coloured=True),
            "csv": lambda event: format_csv(list_cells(event)),
            "semicolons": lambda event: format_csv(list_cells(event), has_semicolons=True),
            "txt": lambda event: asyncio.create_task(self._games(event, "txt")),
            "games": lambda event: asyncio.create_task(self._games(event, "games")),
        }
        self._throttled: dict[str, tuple[Event, int]] = {}

    def throttle(self, event: Event) -> Event:
        """Return `event`, or an earlier value of it: large running tournaments are updated only now and then."""
        now, (before, until) = self._core.time(), self._throttled.pop(event.code, (event, 0))
        rows = len(event.field)
        if before.seq >= event.seq or event.is_over or rows <= broadcasts.FEW_ROWS or now >= until:
            before, until = event, now + 1000 * rows // broadcasts.ROWS_A_SECOND
        self._throttled[event.code] = before, until
        _trim(self._throttled)
        return before

    async def find(self, request: HttpRequest, text: str) -> Event:
        """Return the event with a code in any spelling, as far as the sender of the request may see it.

        Raise `Refused` if there is none, or after too many wrong codes from the same address.
        """
        event = self._events.known(text)
        if event is None or event.entry != "open":  # do not reveal whether an invited tournament exists
            self._core.allowances.check_page_misses(request.address)
        return self.visible_to(request, self.throttle(await self._events.find(text)))

    def visible_to(self, request: HttpRequest, event: Event) -> Event:
        """Return an event as far as the sender of a request may see it: hidden names require the wall key."""
        if not self._core.settings.hides_names or event.is_wall_key(parse_qs(request.query).get("key", [""])[0]):
            return event
        return for_outsiders(event)

    async def find_open(self, request: HttpRequest, text: str) -> EventState:
        """Return the state of an event with open entry; raise `Refused` for any other, as if it did not exist."""
        event = await self.find(request, text)
        if event.entry != "open":
            raise no_such_event(event.code)
        state: EventState = self.make(event, "state")[1]
        return state

    async def show(self, request: HttpRequest, text: str, page: str | None) -> Reply:
        """Return a tournament as text, or, for a browser, the head of its page, even after too many wrong codes."""
        try:
            event = await self.find(request, text)
        except Refused as refused:
            if not request.wants_html or refused.code is not ErrorCode.RATE_LIMITED:
                raise
            return PageHead(TITLE, TITLE, f"events/{page or 'event'}.js")
        if request.wants_html:
            standing = tournaments.describe_standing(self.make(event, "state")[1]).rstrip(".")
            words = f"{tournaments.describe_word('kind', event.kind).capitalize()}: {standing}."
            picture = f"/preview/e/{event.code}.png?{event.seq}" if event.entry == "open" else ""
            return PageHead(f"{clean_text(event.title)} - {TITLE}", words, f"events/{page or 'event'}.js", picture)
        link = f"{request.origin}/e/{event.code}"
        period = 1000 * max(1, len(event.field) // broadcasts.PLAYERS_A_SECOND)
        moment = 0 if event.is_over else self._core.time() // period
        _, lines = self.make(event, "colour" if request.wants_colour else "text", moment)
        more = f"In a terminal:   tictactoe-client event {link}", f"For a program:   curl {link}.json"
        return [*lines, "", f"In a browser:    {link}", *more, f"All games:       curl {link}.txt"]

    async def lead(self, request: HttpRequest, text: str) -> Reply | None:
        """Return a reply about the tournament whose code was used as a room code, or None if there is none."""
        try:
            if self._core.rooms.find_here(text) is not None:
                return None
            event = await self.find(request, text)
        except Refused:
            return None
        if not request.wants_html:
            return await self.show(request, event.code, None)
        return redirect(request, f"/e/{event.code}")

    async def export(self, request: HttpRequest, text: str, form: str) -> Reply:
        """Return a whole tournament as ``json`` or ``csv``, or its games as ``txt`` or JSON lines (``games``)."""
        event = await self.find(request, text)
        made = "semicolons" if form == "csv" and request.wants_semicolons else form
        seq, body = self.make(event, made)
        if isinstance(body, asyncio.Task):
            body = await asyncio.shield(body)
        tag = f"{event.code}-{seq}-{made}"
        if form == "json":
            attendance = self._attendance(event)
            body = encode(self._state(event, form, attendance))
            tag += f"-{crc32(repr(attendance.changing).encode()):x}"
        return HttpResponse(HTTPStatus.OK, body, _TYPES[form], tag=tag)

    async def stream(self, request: HttpRequest, text: str) -> Reply:
        found = await self.find(request, text)

        def newest() -> Event:
            return self.visible_to(request, self.throttle(self._events.known(found.code) or found))

        def state() -> bytes:
            return encode(self._state(newest(), "json"))

        code = f"event {found.code} {'outside' if found.is_for_outsiders else 'inside'}"
        for stream in self._core.hooks.streams:
            return stream(request, code, lambda: (newest().seq, newest().is_over), state)
        raise no_such_event(found.code)

    def _state(self, event: Event, form: str = "state", attendance: Attendance | None = None) -> EventState:
        """Return the whole state of an event. Attendance and `due_ms` are computed anew; the rest is cached."""
        due = due_at(event)
        state = replace(self.make(event, form)[1], due_ms=None if due is None else max(0, due - self._core.time()))
        return broadcasts.with_attendance(state, attendance or self._attendance(event))

    def _attendance(self, event: Event) -> Attendance:
        if not event.is_for_outsiders:
            return self._attendances.of(event)
        stored = self._events.known(event.code)
        return Attendance() if stored is None else self._attendances.of(stored)._replace(away={})

    def make(self, event: Event, form: str, moment: int = 0) -> tuple[int, Any]:
        """Return the `seq` of an event, and a document about it in one of `_forms`; games are a task that returns it.

        Documents are cached until the event changes or `moment` differs.
        """
        key = event.code, form, event.is_for_outsiders
        (seq, at), made = self._made.pop(key, ((-1, 0), None))
        is_awaited = isinstance(made, asyncio.Task) and not made.done()  # shared by concurrent requests
        has_failed = isinstance(made, asyncio.Task) and made.done() and made.exception() is not None
        if has_failed or ((seq, at) != (event.seq, moment) and not is_awaited):
            seq, made = event.seq, self._forms[form](event)
        self._made[key] = (seq, moment), made
        _trim(self._made)
        return seq, made

    async def _games(self, event: Event, form: str) -> bytes:
        found = [await find_by_id(self._core.store.games, one.game_id) for one in event.pairings if one.game_id]
        games = [game for game in found if game is not None]
        if form == "txt":
            return "".join(format_record(record_of(game)) for game in games).encode()
        return b"".join(encode(played_game(game)) + b"\n" for game in games)


def _trim(made: dict[Any, Any]) -> None:
    if len(made) > MOST_MADE:
        del made[next(iter(made))]


def _wrap_all(told: Iterable[str]) -> list[str]:
    return [line for sentence in told for line in wrap(sentence)]


def _draw_table(event: Event, state: EventState, *, is_coloured: bool) -> Iterator[str]:
    """Yield the lines of the table.

    A round robin has a column for each opponent, headed by the number of the opponent's row (only its last digit if
    space is short), or no such columns if they do not fit. Other tournaments have columns for the latest rounds.
    """
    titles, *rows = tournaments.tabulate(state.table, "").values()
    is_cross, (heads, cells) = event.kind == "round_robin", _cells_of(event, [row.player for row in state.table])
    room = WIDTH - _EDGE_WIDTH - _LEAST_NAME
    width = 1 + max((len(cell) for row in cells.values() for cell in row), default=1)
    if not is_cross or len(heads) * max(width, 3) <= room:
        width = max(width, 1 + max(map(len, heads), default=1))
    shown = min(len(heads), room // width)
    if is_cross and shown < len(heads):
        shown = 0
    last, longest = len(heads) - shown, max(len(name) for _, name, *_ in (titles, *rows))
    name_width = min(longest, WIDTH - _EDGE_WIDTH - shown * width)
    above = "".join(head[1 - width :].rjust(width) for head in heads[last:])
    for own, (place, name, won, played, *_) in zip(("", *cells), (titles, *rows), strict=True):
        drawn = "".join(cell.rjust(width) for cell in cells[own][last:]) if own else above
        drawn = drawn.translate(_IN_COLOUR) if is_coloured and own else drawn
        yield f"{place:>3} {fill(name, name_width)}{drawn}  {won:>7}  {played:>5}"
    if not is_cross and event.round:
        yield "    +4 is a win against the fourth row, =4 a draw, -4 a loss, + alone a bye."


def _cells_of(event: Event, players: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the heads of the result columns, and each player's cells: by opponent in a round robin, else by round."""
    had = defaultdict[tuple[str, object], list[Pairing]](list)
    for pairing in event.pairings:
        for player in pairing.players.values():
            for key in (pairing.round, *pairing.players.values()):
                had[player, key].append(pairing)
    numbers = {player: str(number) for number, player in enumerate(players, 1)}
    if event.kind == "round_robin":
        heads = [*numbers.values()]
        return heads, {one: [_describe_encounter(one, other, had[one, other]) for other in players] for one in players}
    rounds = range(1, event.round + 1)
    cells = {player: [_describe_games(player, had[player, round], numbers) for round in rounds] for player in players}
    return [f"r{round}" for round in rounds], cells


def _describe_encounter(player: str, other: str, games: Sequence[Pairing]) -> str:
    """Return a player's points in each game against another, such as ``1½``, or ``.`` for a game without a result."""
    if player == other:
        return "*"
    return "".join(spell_halves(game.result_for(player)) if game.state == "scored" else "." for game in games) or "."


def _describe_games(player: str, games: Sequence[Pairing], numbers: Mapping[str, str]) -> str:
    """Return a player's results in a round, followed by the opponent's row: ``+2``, ``-12``, or ``+`` for a bye."""
    others = {other for game in games for other in game.players.values() if other != player}
    signs = (
        "?" if game.state != "scored" else "+" if game.by == "bye" else "-=+"[game.result_for(player)] for game in games
    )
    return "".join((*signs, *(numbers.get(other, "") for other in others)))


def _describe_ties(row: EventRow) -> str:
    """Return a sentence with a player's tie-breaks and how they add up, such as ``direct encounter 1 = 1+0``."""
    told = ", ".join(
        f"{tournaments.describe_word('tie', name)} {tournaments.describe_tie(name, value, sum)}"
        for name, value, sum in row.tie
    )
    return f"{clean_text(row.name)}: {told}."


def _list_games(state: EventState) -> Iterator[str]:
    """Yield the pairings of the current round with their results, each followed by the progress of a running game."""
    for one, (players, score) in zip(state.pairings, tournaments.tabulate_pairings(state).values(), strict=True):
        how = f" {describe_reason(one.reason)}" if one.by == "game" and one.reason else ""
        yield f"  {players}: {score}{how}"
        if game := describe_game(state, one):
            yield f"    {game}"
