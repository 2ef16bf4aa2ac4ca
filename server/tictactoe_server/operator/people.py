"""Orders about players, their connections, bans and claimed names."""

from __future__ import annotations

from typing import Annotated, Any, Final

import click
import structlog
from msgspec import Meta
from msgspec.structs import asdict, replace

from tictactoe_protocol import MAX_CHAT_LENGTH, CloseCode, ErrorCode, clean_text
from tictactoe_protocol.pushes import Announcement
from tictactoe_server import clock
from tictactoe_server.core.session import Session
from tictactoe_server.operator.bans import banned, expel, is_in, network_of, parse_subject
from tictactoe_server.operator.order import Listing, Order, OrderRefused, Row, ServerParts, run_everywhere
from tictactoe_server.operator.words import Reason, Seconds, reason_option, show_time, time_option, without_stop
from tictactoe_server.people.accounts import Accounts
from tictactoe_server.records.changes import change
from tictactoe_server.records.tables import Account, Ban
from tictactoe_server.rooms.room import Refused
from tictactoe_server.storage.store import values_of
from tictactoe_server.transport.connection import encode_push

Subject = Annotated[str, click.Argument(["subject"], metavar="PLAYER|ADDRESS")]

log: Final = structlog.get_logger(__name__)


class ListPlayers(Listing, frozen=True, tag="players"):
    """List the connected players."""

    columns = ("player", "name", "connections", "rooms")
    nothing = "No players are connected."
    is_for_all = True

    async def run_here(self, server: ServerParts) -> list[Row]:
        found: dict[str, Row] = {}
        for session, player in server.core.presence.players:
            new: Row = {"player": player.id, "name": player.name, "connections": 0, "rooms": []}
            row = found.setdefault(player.id, new)
            row["connections"] += 1
            row["rooms"] += [code for code in sorted(session.rooms) if code not in row["rooms"]]
        return list(found.values())


class ListConnections(Listing, frozen=True, tag="connections"):
    """List the open connections and their addresses."""

    columns = ("address", "player", "name", "seconds", "rooms")
    nothing = "No connections."
    is_for_all = True

    async def run_here(self, server: ServerParts) -> list[Row]:
        presence = server.core.presence
        return [
            {
                "address": session.connection.address,
                "player": session.player and session.player.id,
                "name": session.player and session.player.name,
                "rooms": sorted(session.rooms),
                "seconds": round(presence.seconds(session)),
            }
            for session in presence
        ]


class Kick(Order, frozen=True, tag="kick"):
    """Close all connections of a player. The player can connect again; to prevent this, use `ban`.

    PLAYER is an id, or the name of a connected player.
    """

    player: Annotated[str, click.Argument(["player"])]
    reason: Annotated[Reason, reason_option("Reason to show to the player.")] = ""
    outcome = "Kicked {player}: closed {connections}."

    async def run(self, server: ServerParts) -> Any:
        player = await find_connected(self.player, server)
        return await run_everywhere(replace(self, player=player), server)

    async def run_here(self, server: ServerParts) -> Row:
        sessions, reason = server.core.presence.of_player(self.player), without_stop(self.reason)
        if not sessions:
            raise _nobody(self.player)
        why = Refused(ErrorCode.KICKED, "reason", reason=reason) if reason else Refused(ErrorCode.KICKED)
        for session in sessions:
            expel(session.connection, why, session.language)
        log.info("kicked", player=self.player, reason=reason)
        return {"player": self.player, "connections": len(sessions)}


class Announce(Order, frozen=True, tag="announce"):
    """Send a message to all connected players.

    Example: tictactoe-server announce The server restarts at 18:00.
    """

    text: Annotated[
        str,
        Meta(max_length=MAX_CHAT_LENGTH),
        click.Argument(["text"], nargs=-1, required=True, callback=lambda _, __, words: " ".join(words)),
    ]
    is_for_all = True
    outcome = "Sent to {connections}."

    async def run_here(self, server: ServerParts) -> Row:
        text = clean_text(self.text).strip()
        if not text:
            raise OrderRefused("The text is empty.")
        frame = encode_push(Announcement(text, clock.wall_ms()))
        players = server.core.presence.players
        for session, _ in players:
            session.connection.push_frame(frame)
        return {"text": text, "connections": len(players)}


class BanOrder(Order, frozen=True, tag="ban"):
    """Ban a player, an address or a network.

    Name a player by id, or a connected player by name. With an IPv6 address, its whole /64 network is banned. Existing
    connections are closed.

    Example: tictactoe-server ban 192.0.2.0/24 --for 7d --reason Spam
    """

    subject: Subject
    seconds: Annotated[Seconds | None, time_option("for", "Duration, such as 12h or 7d. [default: forever]")] = None
    reason: Annotated[Reason, reason_option("Reason to show to banned players.")] = ""
    outcome = "Banned {subject} {end}: closed {connections} to this server."

    async def run_here(self, server: ServerParts) -> Row:
        """Store the ban, which the other servers read from the store, and close the connections to this server."""
        subject = parse_subject(self.subject) or await find_connected(self.subject, server)
        count = len(_list_banned(server, subject))
        ban = await server.bans.add(subject, without_stop(self.reason), self.seconds)
        log.info("banned", subject=subject, seconds=self.seconds, reason=ban.reason)
        return {**asdict(ban), "connections": count}

    def describe(self, answer: Row) -> str:
        end = "forever" if answer["until"] is None else f"until {show_time(answer['until'])}"
        return super().describe({**answer, "end": end})


class Unban(Order, frozen=True, tag="unban"):
    """Lift the ban on a player, an address or a network."""

    subject: Subject
    outcome = "Lifted the ban on {subject}."

    async def run_here(self, server: ServerParts) -> Row:
        ban = await server.bans.lift(parse_subject(self.subject) or await find_connected(self.subject, server))
        if ban is None:
            raise OrderRefused(f"{self.subject} is not banned.")
        log.info("ban lifted", subject=ban.subject)
        return asdict(ban)


class ListBans(Listing, frozen=True, tag="bans"):
    """List all bans with their ends and reasons."""

    columns = ("subject", "since", "until", "reason")
    nothing = "No bans."

    async def run_here(self, server: ServerParts) -> list[Row]:
        return [asdict(ban) for ban in server.bans]


class ListNames(Listing, frozen=True, tag="names"):
    """List all claimed names.

    For each player, the numbers of devices and of unused rescue codes are shown.
    """

    columns = ("name", "player", "devices", "codes_left")
    nothing = "No claimed names."

    async def run_here(self, server: ServerParts) -> list[Row]:
        accounts, rows = Accounts(server.core.store), {}
        async for _, claim, _ in values_of(accounts.claims):
            account = await accounts.load(claim.player)
            if account is not None and not claim.is_free:
                left = {"devices": len(account.devices), "codes_left": len(account.codes)}
                rows[claim.name] = {"name": claim.name, "player": claim.player, **left}
        return sorted(rows.values(), key=lambda row: row["name"])


class Release(Order, frozen=True, tag="release"):
    """Release a claimed name, so that any player can claim it. The previous player keeps everything else."""

    name: Annotated[str, click.Argument(["name"])]
    outcome = "Released {name}, which {player} had claimed."

    async def run_here(self, server: ServerParts) -> Row:
        accounts = Accounts(server.core.store)
        account = await _find_account(accounts, self.name)
        await accounts.release(account)
        id = account.player.id
        await change(accounts.accounts, id, lambda old: old and replace(old, claimed="", codes=(), former=()))
        log.info("name released", player=id)
        return {"name": account.claimed, "player": id}


class Merge(Order, frozen=True, tag="merge"):
    """Merge PLAYER into the player who has claimed NAME.

    All devices of PLAYER become devices of the other player. Merged players cannot be separated again. PLAYER is an id.
    """

    player: Annotated[str, click.Argument(["player"])]
    name: Annotated[str, click.Argument(["name"])]
    outcome = "Merged {player} into {name}."
    question = "Merge {player} into {name}? They cannot be separated again."

    async def run(self, server: ServerParts) -> Any:
        accounts = Accounts(server.core.store)
        into, old = await _find_account(accounts, self.name), await accounts.load(self.player)
        if old is not None and old.claimed:
            raise OrderRefused(f"{self.player} has claimed {old.claimed}. Release that name or merge the other way.")
        await server.core.rooms.restored.wait()
        if seats := server.core.indexes.held_seats(self.player):
            raise OrderRefused(f"{self.player} is still playing in {', '.join(seat.room for seat in seats)}.")
        if not (devices := await accounts.devices_of(self.player)):
            raise OrderRefused(f"There is no player {self.player}.")
        for listener in server.core.hooks.on_merge:  # first, so that a repeated order completes an interrupted one
            await listener(self.player, into.player.id)
        await accounts.merge(self.player, devices, into)
        log.info("players merged", player=self.player, into=into.player.id)
        return await run_everywhere(self, server)

    async def run_here(self, server: ServerParts) -> Row:
        """Close the merged player's connections, so that the clients reconnect as the other player."""
        sessions = server.core.presence.of_player(self.player)
        for session in sessions:
            session.connection.close(CloseCode.SERVICE_RESTART, "merged")
        return {"player": self.player, "name": self.name, "connections": len(sessions)}


ORDERS: Final = (*(ListPlayers, ListConnections, Kick, Announce, BanOrder, Unban, ListBans, ListNames, Release, Merge),)


async def find_connected(text: str, server: ServerParts) -> str:
    """Return the id of the connected player with this id or name. Raise `OrderRefused` unless there is exactly one."""
    rows = await ListPlayers().run(server)
    called = dict.fromkeys(row["player"] for row in rows if row["name"] == text)
    ids = [text] if any(row["player"] == text for row in rows) else list(called)
    if not ids:
        raise _nobody(text)
    if len(ids) > 1:
        raise OrderRefused(f'Several players are called "{text}". Use one of their ids: {", ".join(ids)}.')
    return ids[0]


def _nobody(text: str) -> OrderRefused:
    return OrderRefused(f'No connected player is called "{text}". To list players: tictactoe-server players')


def expel_banned(server: ServerParts, ban: Ban) -> None:
    """Close the connections of all players and addresses that a ban covers."""
    for session in _list_banned(server, ban.subject):
        expel(session.connection, banned(ban), session.language)


def _list_banned(server: ServerParts, subject: str) -> list[Session]:
    """Return the sessions that a ban covers: a player's sessions, or the sessions from addresses in a network."""
    presence, network = server.core.presence, network_of(subject)
    if network is None:
        return presence.of_player(subject)
    return [session for session in presence if is_in(network, session.connection.address)]


async def _find_account(accounts: Accounts, name: str) -> Account:
    claim = await accounts.find_claim(name)
    account = claim and await accounts.load(claim.player)
    if not account:
        raise OrderRefused(f"Nobody has claimed {name}. To list claimed names: tictactoe-server names")
    return account
