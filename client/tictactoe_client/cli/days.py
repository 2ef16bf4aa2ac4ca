"""The commands about games over days: list the games that await our move, and set up notifications."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from msgspec import UNSET, to_builtins

from tictactoe_client.cli.run import ask_and_print, connected
from tictactoe_client.online.errors import Refused
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, print_own
from tictactoe_client.text.lobby import list_turns
from tictactoe_protocol import clean_text
from tictactoe_protocol.days import MINUTES_A_DAY, Notify
from tictactoe_words.catalogue import say


async def show_turns(settings: Settings) -> int:
    """Print the games that await our move; return `ExitCode.NO_TURN` if there are none."""
    async with connected(settings, role="reader") as (client, _):
        if client.welcome.turns is UNSET:
            raise Refused("unsupported", say("no days"))
        turns = client.turns
        if settings.mode == "json":
            print_own("turns", turns=to_builtins(turns))
        elif turns or not settings.quiet:
            Output().print(*(list_turns(turns) or [say("turns none")]))
        return ExitCode.NORMAL if turns else ExitCode.NO_TURN


async def notify(settings: Settings, *, feed: bool | None, webhook: str | None, quiet_hours: str | None) -> int:
    """Change how we are notified of games that await our move, and print the resulting settings."""
    wish: dict[str, Any] = {} if feed is None else {"feed": feed}
    if webhook is not None:
        wish["webhook"] = None if webhook == "none" else webhook
    if quiet_hours is not None:
        wish["quiet"] = None if quiet_hours == "none" else _parse_hours(quiet_hours)
    async with connected(settings, role="reader") as (client, session):

        async def ask() -> list[str]:
            now = await client.ask(Notify(**wish))
            if wish:
                session.identity.write_down(client)
            hours = "-".join(map(_format_minute, now.quiet)) if now.quiet else ""
            values = {"feed": now.feed or "", "webhook": now.webhook or "", "quiet": hours}
            none = say("form none")
            return [f"{say(f'page notify {id}')}: {clean_text(str(value)) or none}" for id, value in values.items()]

        return await ask_and_print(settings, client, ask)


def _parse_hours(text: str) -> tuple[int, int]:
    """Convert local times such as ``22:00-07:00`` to minutes of the day in UTC; raises `Misuse`."""
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-3]):([0-5]\d)", text, re.ASCII)
    if match is None:
        raise Misuse(say("no hours like", text=clean_text(text)))
    begin, end = (int(match[at]) * 60 + int(match[at + 1]) - _utc_offset() for at in (1, 3))
    return begin % MINUTES_A_DAY, end % MINUTES_A_DAY


def _format_minute(minute: int) -> str:
    return "{:02}:{:02}".format(*divmod((minute + _utc_offset()) % MINUTES_A_DAY, 60))


def _utc_offset() -> int:
    offset = datetime.now().astimezone().utcoffset()
    return 0 if offset is None else round(offset.total_seconds() / 60)
