"""Whom one run of the client plays as, and in which rooms it has a seat, written down for later runs.

One person may be several players of a server, since runs at the same time are. No file is waited for on the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, ParamSpec, TypeVar

from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_client.online.address import Cluster
from tictactoe_client.online.client import Client
from tictactoe_client.online.messages import Work
from tictactoe_protocol import clean_text
from tictactoe_protocol.catalogue import say

Role = Literal["player", "reader", "nobody"]
"""Who we are on a server: the player of an earlier run that nobody else plays as; just like the last one, without
getting in their way; or somebody new whom nobody remembers."""
Given = ParamSpec("Given")
Written = TypeVar("Written")


class Identity:
    """Who we are by our `role` and under our `name`; `rooms` are those in which this run holds a seat.

    With `new_name` whoever that is, is called so from now on.
    Whoever left a seat in the room `seat_in`, or in any where one `resumes`, comes first. `codes`, a `link` or a
    `rescue`, say once who we are from now on, whoever is known. `tell` gets lines for the person. What is written down
    goes on beside everything else, until `finish`.
    """

    def __init__(
        self,
        name: str | None,
        role: Role = "player",
        seat_in: str | None = None,
        *,
        resumes: bool = False,
        codes: dict[str, str] | None = None,
        new_name: str | None = None,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.codes, self.new_name = codes or {}, new_name
        self.name, self.role, self.seat_in, self.resumes = name, role, seat_in, resumes
        self.players = KnownPlayers()
        self.rooms: set[str] = set()
        self._tell = tell
        self._tokens: dict[str, str] = {}
        self._writing = asyncio.Lock()
        self._work = Work()
        self._is_told = False

    async def find_token(self, cluster: Cluster) -> str | None:
        """Return the token of whom we are to be, None for somebody new; a player is then ours."""
        here, known = self._tokens.get(cluster.given.first.url), None
        if self.seat_in or self.resumes or here is None or self.role == "reader":
            known = await self._find_player(cluster.given.urls)
        return known.token if known is not None else here

    def take_codes(self) -> dict[str, str]:
        """Return the codes, which are good for one hello."""
        codes, self.codes = self.codes, {}
        return codes

    async def find_in_cluster(self, client: Client) -> tuple[Cluster, str] | None:
        """Return which server of the cluster to which we have come knows us already, and the token there, or None.

        A token goes only where it is known to be good: that it is of some cluster, any server may say.
        """
        cluster, named = client.welcome.cluster or "", client.cluster.named
        known = await self._find_player(tuple(address.url for address in named), cluster) if cluster else None
        if known is None:
            return None
        return Cluster((next(address for address in named if known.is_known_at((address.url,))),)), known.token

    async def _find_player(self, urls: tuple[str, ...], cluster: str = "") -> KnownPlayer | None:
        """Return whom we are to be of those who are known at these addresses, None for somebody new."""
        is_nobody = self.role == "nobody"
        if self.role == "reader":
            return self.players.find(urls, self.name, cluster=cluster)
        if is_nobody and not (self.seat_in or self.resumes):
            return None
        take = partial(self.players.take, only_seated=is_nobody, resumes=self.resumes, cluster=cluster)
        return await self.write(take, urls, self.name, self.seat_in)

    async def forget_token(self, server: str, token: str) -> None:
        """Be nobody any more to a server that does not know us."""
        await self.write(self.players.forget, server, token)
        self._tokens.pop(server, None)

    def settle_in(self, client: Client, *, is_own: bool) -> None:
        """Be whom the server has welcomed; nobody comes back to a server of one's own, which this run started."""
        urls = client.cluster.given.urls
        self._tokens.update(dict.fromkeys(urls, client.token))
        self.seat_in, self.resumes = None, False
        known = next((player for player in self.players.on(urls) if player.token == client.token), None)
        if known is not None:
            client.beside.update({room: known.beside[room] for room in known.rooms if room in known.beside})
        if self.role != "player" or is_own:
            return
        self.write_down(client)
        others = (player for player in self.players.on(urls) if player.token != client.token)
        if not self._is_told and any(player.name == client.name and not player.is_free for player in others):
            self._is_told = True
            self._tell(say("another program plays", name=clean_text(client.name)))

    def write_down(self, client: Client, *rooms: str) -> None:
        """Write down whom we play as, and these rooms beside those that are known."""
        others = tuple(address.url for address in client.cluster.named)
        row = KnownPlayer("", client.name, client.token, rooms=rooms, others=others, beside={**client.beside})
        rows = [replace(row, server=url, cluster=client.welcome.cluster or "") for url in client.cluster.given.urls]
        self._work.start(self.write(self.players.keep, *rows))

    def forget_room(self, client: Client, room: str) -> None:
        """Strike out the seat in a room that was left."""
        if room in self.rooms:
            self.rooms.discard(room)
            self._work.start(self.write(self.players.forget_room, client.cluster.given.urls, client.token, room))

    async def write(self, change: Callable[Given, Written], *arguments: Given.args, **options: Given.kwargs) -> Written:
        """Change the file in a thread, one change at a time; where another program holds it, say so once."""
        async with self._writing:
            was_kept = self.players.problem is None
            done = await asyncio.to_thread(change, *arguments, **options)
            if was_kept and self.players.problem is not None:
                self._tell(say("not written down", why=self.players.problem))
        return done

    async def finish(self) -> None:
        """Wait until everything is written, or cannot be."""
        await self._work.finish()

    async def release(self) -> None:
        """Write everything, and let the next run be whom we were."""
        await self._work.finish()
        await self.write(self.players.release)
