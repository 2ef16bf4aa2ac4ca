"""The commands about ratings and people: ladders, players, exported ratings, and blocked players."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from tictactoe_client.cli.run import ask_and_print, connected
from tictactoe_client.input.challenges import describe_blocks, fetch_ladder, fetch_profile
from tictactoe_client.online.errors import Refused, describe_cause
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, print_own
from tictactoe_client.text.lobby import align_columns, list_games
from tictactoe_protocol import clean_text
from tictactoe_protocol.ratings.exported import BadExport, Checked, check_export
from tictactoe_words.catalogue import say
from tictactoe_words.ladders import describe_ladder, describe_meetings, tabulate_ladder, tabulate_standings

_PLAYER_ID: Final = re.compile(r"p[0-9A-Za-z]{10}(\.[0-9]+)?")


async def show_ladder(settings: Settings, rules: str | None) -> int:
    """Print a ladder: the players near us, the best players and some figures; without `rules`, list the ladders."""
    async with connected(settings, role="reader") as (client, _):

        async def ask() -> list[str]:
            if rules is None:
                return [*client.welcome.ladders]
            near, best = await fetch_ladder(client, rules)
            ladders = [best] if set(near.rows) <= set(best.rows) else [near, best]
            tables = [align_columns(tabulate_ladder(ladder).values()) for ladder in ladders if ladder.rows]
            return [line for table in tables for line in (*table, "")] + describe_ladder(best)

        return await ask_and_print(settings, client, ask, say("refused not_allowed ladders off"))


async def show_player(settings: Settings, player: str | None) -> int:
    """Print a player's ratings, results against us and latest rated games; by default, print our own."""
    async with connected(settings, role="reader") as (client, _):

        async def ask() -> list[str]:
            profile = await fetch_profile(client, player or client.player)
            table = align_columns(tabulate_standings(profile).values()) if profile.ladders else [say("ladder no games")]
            lines = [clean_text(profile.name), *table, describe_meetings(profile)]
            return [*filter(None, lines), *list_games(profile.games, profile.player)]

        return await ask_and_print(settings, client, ask)


async def block(settings: Settings, player: str | None, *, strangers: bool, off: bool) -> int:
    """Hide the challenges and chat of a player, or show them again; without `player`, list the blocked players.

    With `strangers`, only people whom we have played can challenge us; `off` undoes this.
    """
    async with connected(settings, role="reader") as (client, session):

        async def ask() -> list[str]:
            blocks = await client.challenges.block(player, on=not off, strangers=not off if strangers else None)
            if player in blocks and not off and not _PLAYER_ID.fullmatch(player):  # no player has claimed this name
                await client.challenges.block(player, on=False)
                raise Refused("not_allowed", say("nobody called", name=clean_text(player)))
            if strangers or player is not None:
                session.identity.write_down(client)
            if strangers:
                return [say("page strangers welcome" if off else "page strangers blocked")]
            hidden = [] if player is None or off else [say("blocked now", name=clean_text(player))]
            return [*hidden, describe_blocks(blocks)]

        return await ask_and_print(settings, client, ask)


async def verify(settings: Settings, file: str) -> int:
    """Recompute the ratings in an export, and print whether its digest is right; raises `Misuse` if it is no export."""

    def check() -> Checked:
        with Path(file).expanduser().open("rb") as lines:
            return check_export(lines)

    try:
        report = await asyncio.to_thread(check)
    except BadExport as error:
        raise Misuse(say("ratings file bad", file=clean_text(file), line=error.line)) from None
    except (OSError, ValueError) as error:
        why = clean_text(describe_cause(error)).rstrip(".")
        raise Misuse(say("record unreadable file", file=clean_text(file), why=why)) from None
    is_right = report.digest == report.expected
    figures = {**report._asdict(), "expected": clean_text(report.expected)}
    if settings.mode == "json":
        print_own("verified", holds=is_right, **figures)
    elif not (is_right and settings.quiet):
        Output().print(say("ratings hold" if is_right else "ratings differ", **figures))
    return ExitCode.NORMAL if is_right else ExitCode.REFUSED
