"""Hello and welcome: identifies a connection's player by a token or code. The store has only hashes of both."""

from __future__ import annotations

import secrets
import string
from typing import Final, NamedTuple

import structlog
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from tictactoe_protocol import PROTOCOL_VERSION, ErrorCode, clean_text, encode
from tictactoe_protocol.pushes import GUEST, Welcome
from tictactoe_protocol.requests import Hello
from tictactoe_server import SERVER_NAME
from tictactoe_server.core.change import Call
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.dispatcher import BUSY_MS
from tictactoe_server.core.name_mask import give_name
from tictactoe_server.core.session import Device, Session
from tictactoe_server.http.branding import Branding
from tictactoe_server.operator.bans import Bans, banned, expel
from tictactoe_server.people.accounts import hash_secret, hash_signed_on
from tictactoe_server.play.names import Names, draw_text, own_name, parse_or_refuse, read_name
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import FORGOTTEN, PLAYERS, Account, Claim, KnownPlayer, today
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.storage.specs import hash_id
from tictactoe_server.storage.store import MISSING, StoreUnavailable, save
from tictactoe_server.transport.connection import encode_frame, with_fields

_ID_LENGTH: Final = 10
_TOKEN_BYTES: Final = 24
_GUEST_ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz"

log: Final = structlog.get_logger(__name__)


class Identity(NamedTuple):
    """The player whom a connection has been identified as.

    Attributes:
        known: The player as stored, with the name they chose or, if the server hides names, an assigned name.
        player: The player as other players see them.
        claim: The claim to the name, by this player or another, or None.
    """

    known: KnownPlayer
    token: str
    account: Account
    player: Player
    claim: Claim | None


class HelloService(Service):
    """Handles hello: identifies the connection's player, refuses banned players, and replies with a welcome."""

    def __init__(self, core: Core, names: Names, bans: Bans, branding: Branding, *, shows_pages: bool) -> None:
        self._names = names
        self._bans = bans
        self._branding = branding
        self._shows_pages = shows_pages
        self.handles = {Hello: self.answer}
        self._core = core
        self._players = core.store.table(PLAYERS)

    async def answer(self, call: Call) -> None:
        session, hello = call.session, call.request
        session.language = hello.language or ""
        identity = await self._identify(hello, session)
        ban = self._bans.of_subject(identity.player.id)
        if ban is not None:
            session.counters.refusals[ErrorCode.BANNED] += 1
            expel(session.connection, banned(ban), session.language, id=None if hello.id is UNSET else hello.id)
            return
        session.connection.let_in()
        await self._core.rooms.restored.wait()
        added = await self._added_fields(identity.account)
        known, player, key = identity.known, identity.player, hash_secret(identity.token)
        self._core.presence.greet(session, replace(player, bot=GUEST if hello.bot else None))
        session.limit = self._core.allowances.messages[player.id]
        session.device = Device(key, known.player.name, clean_text(hello.client or ""), is_seated=known.is_seated)
        if known.seen < today():
            self._names.note(session)
        welcome = self._make_welcome(hello, identity)
        session.connection.push_frame(encode_frame(with_fields(encode(welcome), added)))

    async def _identify(self, hello: Hello, session: Session) -> Identity:
        signed_on = session.connection.signed_on
        hides_names = self._core.settings.hides_names and signed_on is None  # signed-on players keep their names
        name = UNSET if hides_names or signed_on is not None else hello.name
        accounts, account = self._names.kept, None
        if signed_on is not None:
            known, token = await self._sign_on(signed_on, hello.token, session.address)
        elif hello.link is not UNSET or hello.rescue is not UNSET:
            known, token = await self._admit(hello, session)
        elif hello.token is not UNSET:
            known, token = await self._recognise(name, hello.token), hello.token
        else:
            known, token = await self._register(name, session.address)
            account = Account(known.player)
        if account is None:
            account = await (accounts.load_or_empty(known.player) if name is UNSET else accounts.rename(known.player))
        if hides_names:
            player = replace(known.player, name=give_name(known.player.id))
            return Identity(replace(known, player=player), token, account, player, None)
        return Identity(known, token, account, *await accounts.shown(known.player))

    def _make_welcome(self, hello: Hello, identity: Identity) -> Welcome:
        settings, indexes, cluster = self._core.settings, self._core.indexes, self._core.rooms.elsewhere.cluster_status
        player, claim = identity.player, identity.claim
        others = (seat for held in self._core.hooks.held_seats for seat in held(player.id))
        return Welcome(
            protocol=PROTOCOL_VERSION,
            server=SERVER_NAME,
            player=player.id,
            name=identity.known.player.name,
            token=identity.token,
            rooms=(*indexes.held_seats(player.id), *others),
            hold_ms=self._core.hold_ms,
            held_ms=indexes.holds_left(player.id, self._core.time()) or UNSET,
            sharing=self._shows_pages,
            ladders=tuple(key for policy in self._core.hooks.policies.values() for key in policy.presets),
            id=hello.id,
            servers=cluster.urls or UNSET,
            cluster=cluster.id or UNSET,
            chat=UNSET if settings.chat in (None, "on") else settings.chat,
            names="given" if settings.hides_names else UNSET,
            claimed=UNSET if claim is None else claim.player == player.id,
            device_news=identity.account.device_news(hash_secret(identity.token)),
            title=self._branding.title or UNSET,
            greeting=self._branding.greeting or UNSET,
        )

    async def _added_fields(self, account: Account) -> dict[str, Raw]:
        """Return the welcome's fields from features, leaving out fields that fail; may raise `StoreUnavailable`."""
        fields: dict[str, Raw] = {}
        for name, make in self._core.hooks.welcome_fields.items():
            try:
                if (value := await make(account)) is not UNSET:
                    fields[name] = Raw(encode(value))
            except StoreUnavailable:
                raise
            except Exception:
                log.exception("welcome field failed", field=name)
        return fields

    async def _register(self, name: str | UnsetType, address: str) -> tuple[KnownPlayer, str]:
        """Return a new player and a token; may raise `Refused` with ``bad_name``, ``rate_limited`` or ``busy``."""
        chosen = f"guest-{draw_text(_GUEST_ALPHABET, 4)}" if name is UNSET else own_name(parse_or_refuse(name))
        self._core.allowances.consume(self._core.allowances.new_players[address], "new-players")
        return await self._give_token(KnownPlayer(Player(_draw_id(), chosen), today()))

    async def _recognise(self, name: str | UnsetType, token: str) -> KnownPlayer:
        """Return the player with this token, renamed to `name` if it is set.

        Raises `Refused` with ``bad_name``, ``bad_token`` or ``busy``.
        """
        chosen = None if name is UNSET else parse_or_refuse(name)
        key = hash_secret(token)
        if self._core.settings.trust_header is not None and (row := await self._players.load(key)) is not None:
            await self._check_sign_on(row[0].player, "token")

        def recognise(old: KnownPlayer | None) -> KnownPlayer:
            if old is None:
                raise Refused(ErrorCode.BAD_TOKEN, path="token")
            if chosen is None or chosen == old.player.name:
                return old
            return replace(old, player=Player(old.player.id, own_name(chosen)))

        known: KnownPlayer = await change(self._players, key, recognise)
        return known

    async def _sign_on(self, text: str, token: str | UnsetType, address: str) -> tuple[KnownPlayer, str]:
        """Return the player whom a trusted proxy has signed on, and a token; claim the name unless it is taken."""
        name = read_name(text)
        key = hash_signed_on(name)
        if token is UNSET or await self._players.load(key) is None:
            self._core.allowances.consume(self._core.allowances.new_players[address], "new-players")
        new = Player(_draw_id(), name)
        known: KnownPlayer = await change(
            self._players, key, lambda old: KnownPlayer(replace(old.player if old else new, name=name), today(), True)
        )
        going = await self._core.store.table(FORGOTTEN).load(hash_id(known.player.id))
        if going is not None and not going[0].is_done:
            raise Refused(ErrorCode.BUSY, "server", retry_ms=BUSY_MS)
        await self._names.own_signed_on(known.player)
        of_token = None if token is UNSET else await self._players.load(hash_secret(token))
        if token is not UNSET and of_token is not None and of_token[0].player == known.player:
            return of_token[0], token
        return await self._give_token(replace(known, is_seated=False))

    async def _check_sign_on(self, player: Player, path: str) -> None:
        """Raise `Refused` for a player who has signed on through the proxy but now connects without its header."""
        if self._core.settings.trust_header is not None:
            row = await self._players.load(hash_signed_on(player.name))
            if row is not None and row[0].player.id == player.id:
                raise Refused(ErrorCode.BAD_TOKEN, "signed on", path=path)

    async def _admit(self, hello: Hello, session: Session) -> tuple[KnownPlayer, str]:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        player = await self._names.admit(hello, hash_secret(token), session)
        await self._check_sign_on(player, "link")
        return await self._give_token(KnownPlayer(player, today(), is_seated=True), token)

    async def _give_token(self, known: KnownPlayer, token: str = "") -> tuple[KnownPlayer, str]:
        """Store a player under `token`, or under a new token if it is empty, and return both."""
        token = token or secrets.token_urlsafe(_TOKEN_BYTES)
        await save(self._players, hash_secret(token), known, MISSING)
        return known, token


def _draw_id() -> str:
    return "p" + draw_text(string.ascii_letters + string.digits, _ID_LENGTH)
