"""Messages to players who are away, about the games over days that await their move.

Nothing is sent while the player is connected. After a visit, a player gets at most two messages: one when a game begins
to wait, and one when less than a quarter of the time is left for a game. Each is about all waiting games.

A message is stored before it is sent, as the addresses that it has not reached yet, and sent again until it arrives or
a day has passed. A crash while it is being sent can therefore lead to one duplicate, and loses nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.days import MINUTES_A_DAY, Notify, PushSubscription, Turn
from tictactoe_server import clock
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Service
from tictactoe_server.features.challenges.service import Challenges
from tictactoe_server.features.days.feed import render_feed
from tictactoe_server.features.days.https import HttpsPoster, parse_target
from tictactoe_server.features.days.service import DayGames
from tictactoe_server.features.feature import Parts
from tictactoe_server.http.texts import TITLE
from tictactoe_server.records.changes import change
from tictactoe_server.records.mirror import Mirror
from tictactoe_server.rooms.room import Refused
from tictactoe_server.storage.specs import NOBODY, Persons, TableSpec
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.transport.http_messages import JSON, HttpRequest, HttpResponse
from tictactoe_words.catalogue import open_catalogue
from tictactoe_words.wording import describe_rules

if TYPE_CHECKING:
    from tictactoe_server.features.days.push import PushSealer

LOOK_SECONDS: Final = 5.0  # between checks of visits and messages that are due
GATHER_MS: Final = 60_000  # from the first change of a player's games until a message about all of them
FIRST_RETRY_MS: Final = 84_000  # doubled after each failure, so that the last of `MOST_TRIES` is after a day
MOST_TRIES: Final = 11
MOST_BROWSERS: Final = 5  # subscriptions to push messages per player
MOST_LISTED: Final = 10  # games in a message
AT_ONCE: Final = 200  # players who are looked at together


class Notices(Struct, frozen=True, omit_defaults=True):
    """What a player has chosen, and the state of the messages. Times are in ms of served time.

    Attributes:
        feed: The secret in the address of the feed, or "".
        origin: The prefix of links to the server, as the player's client used it.
        seen: When the player was last connected.
        sent: The urgency of the last message since then; see `urgency_of`.
        pending: The addresses that this message has not reached.
        stored: When this message was stored.
        tries: How often it has been sent.
    """

    player: str
    feed: str = ""
    webhook: str = ""
    push: tuple[PushSubscription, ...] = ()
    quiet: tuple[int, int] | None = None
    origin: str = ""
    seen: int = 0
    sent: int = 0
    pending: tuple[str, ...] = ()
    stored: int = 0
    tries: int = 0

    @property
    def addresses(self) -> tuple[str, ...]:
        return (*filter(None, [self.webhook]), *(one.endpoint for one in self.push))

    @property
    def is_quiet(self) -> bool:
        begin, end = self.quiet or (0, 0)
        return (clock.wall_ms() // 60_000 - begin) % MINUTES_A_DAY < (end - begin) % MINUTES_A_DAY

    @property
    def retry_at(self) -> int:
        return self.stored + FIRST_RETRY_MS * ((1 << self.tries) - 1)

    def after(self, request: Notify, secret: str, origin: str) -> Notices:
        """Return the settings after a request; `secret` is for a new feed."""
        feed = self.feed if request.feed is UNSET else (self.feed or secret) if request.feed else ""
        webhook = self.webhook if request.webhook is UNSET else request.webhook or ""
        quiet, push, added = (self.quiet if request.quiet is UNSET else request.quiet), self.push, request.push
        if added is not UNSET:
            others = [one for one in push if added and one.endpoint != added.endpoint]
            push = (*others, *filter(None, [added]))[-MOST_BROWSERS:]
        return replace(self, feed=feed, webhook=webhook, push=push, quiet=quiet, origin=origin)

    def after_sending(self, statuses: Mapping[str, int]) -> Notices:
        """Return the state after an attempt to send the message, without the addresses that no longer exist."""
        gone = {address for address, status in statuses.items() if status in (404, 410)}
        failed = {address for address, status in statuses.items() if not 200 <= status < 300} - gone
        pending = tuple(failed.intersection(self.pending)) if self.tries + 1 < MOST_TRIES else ()
        push = tuple(one for one in self.push if one.endpoint not in gone)
        webhook = "" if self.webhook in gone else self.webhook
        return replace(self, webhook=webhook, push=push, pending=pending, tries=self.tries + 1)


NOTICES: Final[TableSpec[Notices]] = TableSpec(
    *("notices", "notification setting", msgspec.json.encode, msgspec.json.Decoder(Notices).decode),
    key_of=lambda notices: notices.player,
    persons=Persons(
        lambda notices: (notices.player,),
        shown=lambda notices: msgspec.to_builtins(notices) | {"feed": bool(notices.feed)},  # without the feed's secret
        owner=lambda notices: notices.player,
    ),
)
"""Notification settings by player, for those who have chosen any."""
PUSH_KEYS: Final[TableSpec[str]] = TableSpec("push_keys", "push key", str.encode, bytes.decode, persons=NOBODY)
"""The server's secret for push messages, under the key "push"."""


def urgency_of(turns: Sequence[Turn], seen: int, now: int) -> tuple[int, int | None]:
    """Return how urgent a message is for a player who was last connected at `seen`, and when to look again, if ever.

    The urgency is 2 if less than a quarter of the time is left for a move, 1 if a game has begun to wait, and 0 if
    nothing has happened since `seen`.
    """
    short = [now + turn.left_ms - (turn.since_ms + turn.left_ms) // 4 for turn in turns]
    is_new = any(seen < now - turn.since_ms for turn in turns)
    urgency = 2 if any(seen < at <= now for at in short) else int(is_new)
    return urgency, min((at for at in short if at > now), default=None)


class Notifier(Service):
    """Handles `notify`, serves the feeds, and sends the messages."""

    def __init__(self, parts: Parts, days: DayGames, poster: HttpsPoster) -> None:
        self._core = core = parts.core
        self._days, self._poster, self._title, self._server = days, poster, parts.title or TITLE, parts.server
        self._sends = not parts.settings.hides_names  # nothing leaves a school's server
        self.handles, self.routes = {Notify: self.notify}, {r"/feed/([A-Za-z0-9_-]{16,64})\.atom": self.feed}
        self._feeds: dict[str, str] = {}  # players by the secrets of their feeds
        self._due: dict[str, int] = {}  # when to look at a player's games (ms of served time)
        self._connected: dict[str, int] = {}  # when players were last connected
        self._sealer: PushSealer | None = None
        self._rows = Mirror(core.store.table(NOTICES), NOTICES.name, core.rooms.elsewhere, self.tasks)
        self._rows.on_change.add(self._on_row)
        self._days.on_turns.add(self._look_soon)
        self._days.on_visit.add(self._on_visit)
        self.jobs = (self._rows.run, self._keep_looking)

    # -- settings and feeds -------------------------------------------------------------------------------------

    async def notify(self, call: Call) -> None:
        """Change the player's settings, and reply with all of them."""
        request, player, origin = call.request, call.player.id, call.session.connection.origin
        sealer = await self._load_sealer() if origin.startswith("https://") else None
        self._check(request, origin, sealer)
        row = await self._rows.read(player) or Notices(player)
        if (request.feed, request.webhook, request.push, request.quiet) != (UNSET,) * 4:
            self._core.allowances.count_offer(call.player)
            secret, first = secrets.token_urlsafe(), Notices(player, seen=self._core.time())

            def edit(old: Notices | None) -> Notices | None:
                row = (old or first).after(request, secret, origin)
                return row if row.feed or row.addresses or row.quiet else None

            row = await self._rows.change(player, edit) or Notices(player)
        call.answer(
            feed=f"{origin}/feed/{row.feed}.atom" if row.feed else False,
            webhook=row.webhook or None,
            push=msgspec.to_builtins(row.push[-1]) if row.push else None,
            quiet=row.quiet,
            push_key=sealer.public_key if sealer else UNSET,
        )

    def _check(self, request: Notify, origin: str, sealer: PushSealer | None) -> None:
        given = [name for name in ("feed", "webhook", "push") if getattr(request, name) is not UNSET]
        if given and not (self._sends and (self._core.settings.page or given[0] != "feed")):
            raise Refused(ErrorCode.NOT_ALLOWED, "notices", path=given[0])
        if request.webhook:
            target = parse_target(request.webhook)
            if target is None:
                raise Refused(ErrorCode.BAD_MESSAGE, "webhook", path="webhook")
            if target.place not in self._poster.hosts:
                raise Refused(ErrorCode.NOT_ALLOWED, "webhook", path="webhook", host=target.place)
        if request.push:
            if sealer is None:
                why = "push" if origin.startswith("https://") else "push page"
                raise Refused(ErrorCode.NOT_ALLOWED, why, path="push")
            if not sealer.accepts(request.push):
                raise Refused(ErrorCode.BAD_MESSAGE, "push", path="push")

    async def _load_sealer(self) -> PushSealer | None:
        """Return the part that encrypts push messages, or None without the extra `push`."""
        if self._sealer is None and self._sends and find_spec("http_ece"):
            from tictactoe_server.features.days.push import PushSealer, new_secret

            secret = await change(self._core.store.table(PUSH_KEYS), "push", lambda old: old or new_secret())
            self._sealer = PushSealer(secret)
        return self._sealer

    async def feed(self, request: HttpRequest, secret: str) -> HttpResponse:
        await self._rows.loaded.wait()
        player, games = self._feeds.get(secret), []
        if player is None or not self._sends:
            raise Refused(ErrorCode.NOT_ALLOWED, "feed")
        for game in self._days.games_of(player):
            with suppress(Refused):  # the room has just been closed
                games.append((game, await self._core.rooms.load_state(game.room)))
        pictures = any(r"/preview/([^/.]+)\.png" in service.routes for service in self._server().services)
        head = self._title, request.origin + request.path, request.origin, self._days.changed_at(player)
        body = render_feed(*head, games, pictures=pictures)
        return HttpResponse(HTTPStatus.OK, body, "application/atom+xml", (("Cache-Control", "private, no-cache"),))

    def _on_row(self, player: str, before: Notices | None, after: Notices | None) -> None:
        if before is not None:
            self._feeds.pop(before.feed, None)
        if after is not None and after.feed:
            self._feeds[after.feed] = player
        self._look_soon(player)

    # -- when to send -------------------------------------------------------------------------------------------

    def _on_visit(self, player: str) -> None:
        """Note the beginning of a visit at once, because the server may stop before it has noted the end."""
        self._connected[player] = self._core.time()
        row = self._rows.get(player)
        if row is not None and row.sent:
            self.tasks.start(self._note_visit(player, self._connected[player]))

    def _look_soon(self, player: str) -> None:
        row = self._rows.get(player)
        if row is not None and row.addresses:
            self._look_at(player, self._core.time() + GATHER_MS)

    def _look_at(self, player: str, at: int) -> None:
        self._due[player] = min(at, self._due.get(player, at))

    async def _keep_looking(self) -> None:
        """Note the ends of visits, and send the messages that are due; one server of a cluster sends."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now, connected = self._core.time(), self._core.presence.ids
            self._connected.update(dict.fromkeys(connected, now))
            for player in self._connected.keys() - connected:
                self.tasks.start(self._note_visit(player, self._connected.pop(player)))
            if self._days.games.loaded.is_set() and self._core.rooms.elsewhere.is_chosen(NOTICES.name):
                for player in [*islice((player for player, at in self._due.items() if at <= now), AT_ONCE)]:
                    del self._due[player]
                    self.tasks.start(self._attend_to(player))

    async def _note_visit(self, player: str, at: int) -> None:
        row = self._rows.get(player)
        try:
            if row is not None and row.addresses:
                await self._rows.change(player, lambda old: old and replace(old, seen=at, sent=0, pending=()))
        except StoreUnavailable:  # the next look retries
            self._connected.setdefault(player, at)

    async def _attend_to(self, player: str) -> None:
        """Send a player the message that is due, if any, and schedule the next look."""
        row, now, turns = self._rows.get(player), self._core.time(), self._days.turns_of(player)
        is_absent = self._sends and not self._core.presence.of_player(player)
        if row is None or not (row.addresses and turns and is_absent):
            return
        urgency, short_at = urgency_of(turns, row.seen, now)
        if short_at is not None:
            self._look_at(player, short_at)
        if row.pending and row.retry_at > now and urgency <= row.sent:
            self._look_at(player, row.retry_at)
        elif row.pending or urgency > row.sent:
            if row.is_quiet or await self._server().service(Challenges).is_present(player):
                self._look_soon(player)
                return
            try:
                stored = await self._rows.change(player, partial(_with_message, row, urgency, now))
                if stored is not None and stored.pending:
                    await self._send(stored, turns)
            except StoreUnavailable:
                self._look_soon(player)

    # -- sending ------------------------------------------------------------------------------------------------

    async def _send(self, row: Notices, turns: Sequence[Turn]) -> None:
        message, addresses = message_of(row, turns), [one for one in row.pending if one in row.addresses]
        statuses = await asyncio.gather(*(self._post(row, address, message) for address in addresses))
        results = dict(zip(addresses, statuses, strict=True))
        after = await self._rows.change(row.player, lambda old: old and old.after_sending(results))
        if after is not None and after.pending:
            self._look_at(row.player, after.retry_at)

    async def _post(self, row: Notices, address: str, message: bytes) -> int:
        """Return the status of the response, or 0 without a response."""
        poster, target = self._poster, parse_target(address)
        subscription = next((one for one in row.push if one.endpoint == address), None)
        if target is None:
            return 0
        if subscription is not None:
            sealer = await self._load_sealer()
            return await poster.post(target, *sealer.seal(subscription, message, row.origin)) if sealer else 0
        if target.place not in poster.hosts:  # the operator no longer lists it
            return 0
        return await poster.post(target, message, {"Content-Type": JSON})


def _with_message(seen: Notices, urgency: int, now: int, old: Notices | None) -> Notices | None:
    """Return the row with a message to all addresses, unless the player has been there or it is stored already."""
    if old is None or old.seen != seen.seen or old.sent >= urgency:
        return old
    return replace(old, sent=urgency, pending=old.addresses, stored=now, tries=0)


def message_of(row: Notices, turns: Sequence[Turn]) -> bytes:
    """Return a message about all games as JSON, which Discord and Slack accept."""
    games = [
        {
            "room": turn.room,
            "link": f"{row.origin}/{turn.room}",
            "rules": turn.rules.preset or describe_rules(turn.rules),
            "since_ms": turn.since_ms,
            "left_ms": turn.left_ms,
        }
        for turn in turns[:MOST_LISTED]
    ]
    first = min(turns, key=lambda turn: turn.left_ms) if row.sent == 2 else turns[0]
    id, link = "notice short" if row.sent == 2 else "notice", f"{row.origin}/{first.room}"
    text = open_catalogue("en").say(id, n=len(turns), link=link)
    return encode({"content": text, "text": text, "count": len(turns), "games": games})
