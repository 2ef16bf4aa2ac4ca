"""Requests about tournaments, the limits on opening them, and the operator's orders about them.

Every server in a cluster handles all requests.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any, Final

import click
import structlog
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode, clean_text, encode
from tictactoe_protocol.events import (
    Card,
    EventJoin,
    EventLeave,
    EventOpen,
    EventPlan,
    EventReady,
    EventRun,
    Events,
    EventSummary,
    EventWatch,
    PlannedEvent,
)
from tictactoe_protocol.plans import fitting_kind
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.features.feature import Feature
from tictactoe_server.features.tournaments.attendance import Attendances
from tictactoe_server.features.tournaments.broadcasts import EventBroadcasts
from tictactoe_server.features.tournaments.commands import Command, End, EnterEvent
from tictactoe_server.features.tournaments.event import Event, open_event
from tictactoe_server.features.tournaments.event_store import EVENTS, ORGANISERS, EventStore
from tictactoe_server.features.tournaments.running import NAME, Running
from tictactoe_server.features.tournaments.texts import EventTexts
from tictactoe_server.operator.drain import Drain
from tictactoe_server.operator.order import Listing, Order, Row, ServerParts
from tictactoe_server.operator.people import find_connected
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.people.allowances import RETRY_MS
from tictactoe_server.play.checks import check_clock, check_levels, chosen_rules
from tictactoe_server.play.moves import read_text
from tictactoe_server.play.names import Names, read_name
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import Account
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.transport.http_messages import HttpRequest, Reply, answer_json
from tictactoe_server.transport.rate_limit import RateLimits
from tictactoe_words.catalogue import speaking
from tictactoe_words.rosters import read_roster
from tictactoe_words.tournaments import describe_plan

EVENTS_OF_PLAYER: Final = 2  # unfinished tournaments per organiser
EVENTS_OF_ADDRESS: Final = 20  # unfinished tournaments opened from one address since this server started
BOTS_FOR_A_GAME: Final = 4  # bots in a tournament, multiplied by the limit of games with bots per player
MAX_LISTED: Final = 100  # tournaments in a list
PLANS, PLANS_MS = 60, 60_000  # plans for a player; reading a long roster takes up to 20 ms of processor time
_MAX_INVALID_SHOWN: Final = 10  # names in the message about an invalid roster

Rows = list[dict[str, Any]]

log: Final = structlog.get_logger(__name__)


class EventList(Struct, frozen=True):
    """The unfinished tournaments with open entry, newest first."""

    events: tuple[EventSummary, ...]


class Tournaments(Service):
    """Handles requests about tournaments. While the server drains, no tournament, round or game begins."""

    def __init__(self, core: Core, drain: Drain, names: Names) -> None:
        self._drain, self._names = drain, names
        self._opened_from: dict[str, str] = {}  # the address that opened each tournament, by code
        self._opening = asyncio.Lock()
        self._plans = RateLimits(PLANS, PLANS_MS, core.monotonic_ns)
        self.handles = {
            EventOpen: self.open,
            EventPlan: self.plan,
            EventJoin: self.join,
            EventLeave: self.change,
            EventReady: self.change,
            EventRun: self.run,
            EventWatch: self.watch,
            Events: self.list,
        }
        self._core = core
        self._accounts, self._organisers = Accounts(core.store), core.store.table(ORGANISERS)
        self.events = events = EventStore(core, self.tasks)
        self.attendances = attendances = Attendances(core)
        self.running = Running(core, events, attendances, self.tasks, lambda: self._drain.is_on)
        self.texts = texts = EventTexts(core, events, attendances)
        self.routes = {
            r"/e/([^/.]+)(?:/(wall|cards))?": texts.show,
            r"/e/([^/.]+)\.(json|csv|txt)": texts.export,
            r"/([^/.]+)": texts.lead,
            "/api/events": self.list_public,
            "/api/events/([^/]+)": lambda request, text: texts.export(request, text, "json"),
            "/api/events/([^/]+)/stream": texts.stream,
            "/api/events/([^/]+)/games": lambda request, text: texts.export(request, text, "games"),
        }
        self.broadcasts = EventBroadcasts(core.time, attendances.of, hides_names=core.settings.hides_names)
        events.on_change.add(lambda event, before: self.broadcasts.note(event))
        core.hooks.welcome_fields["calls"] = self.running.calls_of
        core.hooks.welcome_fields["opens_events"] = self._opens_events
        core.hooks.policies[NAME] = self.running
        core.hooks.find_events.append(texts.find_open)
        self.jobs = (events.run, self.running.run, self.broadcasts.run)

    async def open(self, call: Call) -> None:
        """Open a tournament with the player as its organiser, and reply with the ticket or the cards."""
        self._drain.check()
        if not await self._may_open(call.player.id):
            raise Refused(ErrorCode.NOT_ALLOWED, "events named", name=call.player.name)
        request: EventOpen = call.request
        rules = chosen_rules(request.rules)
        check_clock(request.clock)
        check_levels(request.bots, self._core.hooks.bot_levels)
        most = BOTS_FOR_A_GAME * self._core.limits.bot_games_per_player
        if 0 < most < len(request.bots):
            raise Refused(ErrorCode.NOT_ALLOWED, "event bots", path="bots", most=most)
        request = replace(
            request,
            title=read_text(request.title, "title"),
            roster=_read_names(request.roster),
        )
        seed, secret = secrets.randbits(53), secrets.token_hex(16)
        event = open_event("", call.player.id, request, rules, now=call.now, seed=seed, secret=secret)
        async with self._opening:  # one at a time, so that the limits count a tournament that is being stored
            self._check_opened(call)
            self._core.allowances.count_create(call.player, call.session.address)
            if not self._core.allowances.count_kept({call.player.id: call.session.address}, len(encode(request))):
                raise Refused(ErrorCode.RATE_LIMITED, "kept", retry_ms=RETRY_MS)
            event = await self.events.open(event)
            self._opened_from[event.code] = call.session.address
        self._names.note(call.session, is_seated=True)
        ticket = event.ticket_of() if event.entry == "code" else UNSET
        call.answer(event=event.code, ticket=ticket, cards=_cards(event, event.roster) or UNSET)

    def plan(self, call: Call) -> None:
        """Reply with the names in a pasted roster, and with the rounds and the duration of such a tournament."""
        request: EventPlan = call.request
        self._core.allowances.consume(self._plans[call.player.id], "analyse")
        rules, names = chosen_rules(request.rules), read_roster(request.roster)
        players, cells = len(names) + len(request.bots), rules.rows * rules.columns
        size, pace = (request.kind, players, cells), (request.clock, request.break_ms)
        with speaking(call.session.language):
            text = describe_plan(*size, *pace, double=request.double, rounds=request.rounds or 0)
        call.answer(event_plan=PlannedEvent(names, fitting_kind(request.kind, players), text))

    async def join(self, call: Call) -> None:
        request: EventJoin = call.request
        name = call.player.name
        if request.name is not UNSET and not self._core.settings.hides_names:
            own = Player(call.player.id, read_name(request.name, "name"))
            name = (await self._accounts.shown(own))[0].name
        ticket = "" if request.ticket is UNSET else request.ticket
        try:
            holder = (await self._find(call)).holder_of(ticket)
            is_present = holder is not None and holder.player in self.attendances.here
            over = "" if holder is None or (is_present and not request.here) else holder.player
            event = await self._carry_out(call, EnterEvent(name, call.player.bot, ticket, over))
        except Refused as refused:
            if refused.path == "ticket":
                self._core.allowances.count_miss(call.player, call.session.address)
            raise
        self._names.note(call.session, is_seated=True)
        call.answer(event=event.code)
        self.broadcasts.watch(call.session, event)

    async def change(self, call: Call) -> None:
        self._core.allowances.count_offer(call.player)
        await self._carry_out(call, call.request)
        call.answer()

    async def run(self, call: Call) -> None:
        """Apply an organiser's command, and reply with the cards if it asks for them or adds a name."""
        request: EventRun = call.request
        if request.name is not UNSET:
            request = replace(request, name=read_name(request.name, "name"))
        event = await self._carry_out(call, request)
        names = event.roster if request.action == "cards" else (request.name,) if request.action == "add" else ()
        call.answer(cards=_cards(event, names) or UNSET)

    async def watch(self, call: Call) -> None:
        event = await self._find(call)
        if call.request.on and self._core.rooms.elsewhere.is_several:
            event = await self.events.read(event.code)  # the copy in memory may be older than what the player saw
        call.answer(event=event.code)
        if call.request.on:
            key = call.request.key
            self.broadcasts.watch(call.session, event, has_key=key is not UNSET and event.is_wall_key(key))
        else:
            self.broadcasts.unwatch(call.session, event.code)

    async def list(self, call: Call) -> None:
        await self.events.restored.wait()
        call.answer(events=self.listed(call.player.id))

    def listed(self, player: str = "") -> tuple[EventSummary, ...]:
        """Return the unfinished tournaments, newest first: with open entry, or with the player in them.

        On a server that hides names, return only the player's own tournaments.
        """
        is_listed = not self._core.settings.hides_names
        current = reversed(self.events.current)
        events = [one for one in current if (is_listed and one.entry == "open") or one.has_part(player)]
        return tuple(
            EventSummary(event.code, event.title, event.kind, event.status, event.round, len(event.field))
            for event in events[:MAX_LISTED]
        )

    async def list_public(self, request: HttpRequest) -> Reply:
        await self.events.restored.wait()
        return answer_json(EventList(self.listed()))

    async def rows(self) -> Rows:
        await self.events.restored.wait()
        return [self._row_of(event) for event in self.events.current]

    async def end(self, code: str) -> dict[str, Any]:
        """End a tournament for the operator; raise `Refused` if it does not exist or has ended already."""
        event = await self.events.find(code)
        if event.is_over:
            raise Refused(ErrorCode.EVENT_BEGUN, "over")
        return self._row_of(await self.events.change(event.code, "", End()))

    def _row_of(self, event: Event) -> dict[str, Any]:
        row = {name: getattr(event, name) for name in ("title", "kind", "status", "round")}
        present = self.attendances.of(event).present
        return {"event": event.code, **row, "rounds": event.all_rounds, "players": len(event.field), "here": present}

    async def _may_open(self, player: str) -> bool:
        """Return True if a player may open tournaments. If names are hidden, the operator has to allow each player."""
        return not self._core.settings.hides_names or await self._organisers.load(player) is not None

    async def _opens_events(self, account: Account) -> bool | UnsetType:
        """Return the field `opens_events` of `welcome`: False if the player may not open tournaments, else unset."""
        return UNSET if await self._may_open(account.player.id) else False

    async def _carry_out(self, call: Call, command: Command) -> Event:
        event = await self._find(call)
        return await self.events.change(event.code, call.player.id, command)

    async def _find(self, call: Call) -> Event:
        """Return the tournament that a request names.

        Raise `Refused` if there is none. After too many wrong codes, only the player's own tournaments are found.
        """
        try:
            event = await self.events.find(call.request.event)
        except Refused:
            self._core.allowances.count_miss(call.player, call.session.address)
            raise
        if not event.has_part(call.player.id):
            self._core.allowances.check_misses(call.player, call.session.address)
        return event

    def _check_opened(self, call: Call) -> None:
        """Raise `Refused` if the player or the address has too many unfinished tournaments."""
        current = self.events.current
        codes = {event.code for event in current}
        self._opened_from = {code: address for code, address in self._opened_from.items() if code in codes}
        own = sum(call.player.id in event.organisers for event in current)
        same_address = sum(address == call.session.address for address in self._opened_from.values())
        refuse_for = self._core.allowances.refuse_for
        refuse_for(RETRY_MS if own >= EVENTS_OF_PLAYER else 0, "events-per-player")
        refuse_for(RETRY_MS if same_address >= EVENTS_OF_ADDRESS else 0, "events-per-address")


def _read_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names on a roster in their normal form, or raise `Refused`, which lists all invalid names."""
    read: list[str] = []
    invalid: dict[int, str] = {}
    for place, name in enumerate(names):
        try:
            read.append(read_name(name))
        except Refused:
            invalid[place] = name[: MAX_NAME_LENGTH + 1]
    if invalid:
        some = islice(invalid.items(), _MAX_INVALID_SHOWN)
        listed = "; ".join(f"{place + 1}. {clean_text(name)}" for place, name in some)
        path = f"roster[{next(iter(invalid))}]"
        raise Refused(ErrorCode.BAD_NAME, "roster", path=path, names=listed, most=MAX_NAME_LENGTH)
    return tuple(read)


def _cards(event: Event, names: Sequence[str | UnsetType]) -> tuple[Card, ...]:
    return tuple(Card(name, event.ticket_of(name)) for name in names if name is not UNSET)


class ListEvents(Listing, frozen=True, tag="events"):
    """List all unfinished tournaments, including those that are not public."""

    columns = ("event", "title", "kind", "status", "round", "rounds", "players", "here")
    nothing = "No tournaments."

    async def run_here(self, server: ServerParts) -> list[Row]:
        return await server.service(Tournaments).rows()


class EndEvent(Order, frozen=True, tag="end-event"):
    """End the tournament CODE. Games in progress do not count, and the table keeps its present order."""

    code: Annotated[str, click.Argument(["code"])]
    outcome = "Ended tournament {event}, {title}."

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Tournaments).end(self.code)


class AllowOrganiser(Order, frozen=True, tag="organiser"):
    """Allow PLAYER to open tournaments.

    This permission is required on a server with --lobby marks, such as a school's. It includes the player's other
    devices. PLAYER is an id, or the name of a connected player.
    """

    player: Annotated[str, click.Argument(["player"])]
    off: Annotated[bool, click.Option(["--off"], is_flag=True, help="Withdraw the permission.")] = False
    outcome = "{player} {may} open tournaments. The player must reload the page."

    async def run_here(self, server: ServerParts) -> Row:
        store, id = server.core.store, self.player
        if not await Accounts(store).devices_of(id):
            id = await find_connected(id, server)
        await change(store.table(ORGANISERS), id, lambda old: None if self.off else id)
        log.info("organiser permission changed", player=id, on=not self.off)
        return {"player": id, "on": not self.off}

    def describe(self, answer: Row) -> str:
        return super().describe({**answer, "may": "may" if answer["on"] else "may no longer"})


FEATURE: Final = Feature(
    make=lambda parts: [Tournaments(parts.core, parts.drain, parts.names)],
    tables=(EVENTS, ORGANISERS),
    orders=(ListEvents, EndEvent, AllowOrganiser),
)
