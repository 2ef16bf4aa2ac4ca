"""What the command `name` does: a name for good, and the devices on which one is the same player."""

from __future__ import annotations

from functools import partial
from typing import Final

from tictactoe_client.cli.run import connected
from tictactoe_client.files.config import keep_setting
from tictactoe_client.files.identity import Role
from tictactoe_client.json_mode import pass_through
from tictactoe_client.online.client import Client
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, is_terminal
from tictactoe_client.text.names import describe_claim, describe_devices, describe_link
from tictactoe_client.text.qr import render_code
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
        draws = is_terminal(1) and settings.colour and settings.draws_board and not settings.ascii
        ask = partial(_ask, client, "devices" if comes else what, value or "", draws=draws)
        lines = await (pass_through(client, ask) if settings.mode == "json" else ask())
        if comes or what in ("claim", "link"):
            session.identity.write_down(client)
            if settings.name not in (None, client.name) and not settings.name_is_for_now:
                keep_setting("name", client.name)
        if settings.mode != "json":
            Output().print(*lines)
        return ExitCode.NORMAL


async def _ask(client: Client, what: str, value: str, *, draws: bool) -> list[str]:
    """Do it, and return what is to be told of it, a link also as a picture where the terminal `draws`."""
    if what == "claim":
        codes = await client.claim_name(value)
        return describe_claim(client.name, codes)
    if what == "link":
        code, link = describe_link(client, await client.link_device())
        return [code, link, *(f"{_BLACK_ON_WHITE}{line}{_USUAL}" for line in render_code(link) if draws)]
    if what == "revoke":
        await client.revoke(value)
    return describe_devices(client, await client.devices())
