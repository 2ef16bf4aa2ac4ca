"""What the command `name` does: a name for good, and the devices on which one is the same player; and a first name."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from tictactoe_client.cli.run import ask_and_print, ask_line, connected
from tictactoe_client.files.config import keep_setting
from tictactoe_client.files.players import GUEST, KnownPlayers, Role
from tictactoe_client.files.writer import NotKept
from tictactoe_client.input.names import carry_out, describe_device, describe_self, propose_name
from tictactoe_client.online.address import Cluster
from tictactoe_client.settings import Misuse, Settings
from tictactoe_client.streams.output import Output, is_terminal
from tictactoe_protocol import BadName, parse_name
from tictactoe_protocol.catalogue import say

_BLACK_ON_WHITE: Final = "\x1b[30;107m"
_USUAL: Final = "\x1b[0m"


async def use_name(settings: Settings, what: str, value: str | None) -> int:
    """Claim a name, let another device in, be let in by a code, or list and revoke devices."""
    comes = what == "rescue" or (what == "link" and value is not None)
    if what in ("claim", "revoke", "rescue") and value is None:
        raise Misuse(say("name needs", what=what))
    if what == "rescue" and settings.name is None:
        raise Misuse(say("name rescue needs"))
    codes = {what: value} if comes and value is not None else {}
    role: Role = "player" if comes else "reader"
    async with connected(settings, role=role, codes=codes, tells_left_behind=False) as (client, session):

        async def ask() -> list[str]:
            lines, picture = ([], ()) if comes else await carry_out(client, what, value or "")
            if comes or what in ("claim", "link"):
                session.identity.write_down(client)
                if settings.name not in (None, client.name) and not settings.name_is_for_now:
                    keep_setting("name", client.name)
            if not lines:
                found = await client.devices()
                return [describe_self(client, found), *map(describe_device, found.devices or ())]
            draws = is_terminal(1) and settings.colour and settings.draws_board and not settings.ascii
            return [*lines, *(f"{_BLACK_ON_WHITE}{line}{_USUAL}" for line in picture if draws)]

        return await ask_and_print(settings, client, ask)


async def ask_name(settings: Settings, cluster: Cluster) -> str | None:
    """Ask a person who has no name there for it, once; return what is new of it."""
    players = KnownPlayers()
    known = players.find(tuple(address.url for address in cluster.addresses))
    has_name = settings.name is not None or (known is not None and not known.name.startswith(GUEST))
    if has_name or settings.mode != "plain" or settings.quiet or not (settings.asks and is_terminal(0, 1)):
        return None
    screen, proposed, name = Output(prompts=True), players.find_name() or propose_name(), None
    while name is None:
        screen.print(say("name question line", name=proposed))
        line = await ask_line(screen)
        try:
            name = parse_name((line or "").strip() or proposed)
        except BadName as bad:
            screen.print(bad.message)
    with suppress(NotKept):
        keep_setting("name", name)
    return name
