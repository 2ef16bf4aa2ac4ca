"""Rated games as a feature: the presets with ladders, and the operator's orders about ratings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import click

from tictactoe_engine import PRESETS
from tictactoe_server import clock
from tictactoe_server.core.core import Service
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.ratings.pages import LadderPages
from tictactoe_server.features.ratings.service import Ladders
from tictactoe_server.features.ratings.tables import ENTRIES, LADDERS
from tictactoe_server.files import run_in_daemon
from tictactoe_server.operator.order import Order, OrderRefused, Row, ServerParts
from tictactoe_server.operator.words import Reason, Seconds, time_option, without_stop
from tictactoe_server.settings import Options, option

_LADDERS: Final = ("gomoku-standard", "four-pie", "connect-four", "four")
_WHY: Final = click.Option(["--reason"], required=True, metavar="TEXT", help="Reason, which is stored and logged.")
_SINCE: Final = time_option("since", "Exclude only games that ended within this time (12h, 7d). [default: all games]")


def _parse_ladders(text: str) -> tuple[str, ...]:
    names = () if text == "off" else tuple(text.split(","))
    for name in names:
        if name not in PRESETS:
            raise click.BadParameter(f"unknown rules {name!r}; choose from {', '.join(PRESETS)}.")
        if len(PRESETS[name].marks) != 2:
            raise click.BadParameter(f"{name} has {len(PRESETS[name].marks)} players; only games for two can be rated.")
    return names


@dataclass(frozen=True, slots=True)
class RatingOptions(Options):
    """Which rules have rated games."""

    section = "Rated games"

    ladders: tuple[str, ...] = option(
        "Allow rated games with these rules, such as connect-four,four; off disables rated games. "
        "--lobby marks disables them, too.",
        _parse_ladders,
        "off|NAMES",
        default=_LADDERS,
        typed=",".join(_LADDERS),
    )


class _Judging(Order, frozen=True):
    outcome = "Stored verdict {seq} and computed the ratings again. To undo it: ratings undo {seq} --reason TEXT"


class VoidGame(_Judging, frozen=True, tag="ratings void-game"):
    """Exclude one game from the ratings.

    GAME is the id of the game, as in the histories of players.
    """

    game: Annotated[str, click.Argument(["game"])]
    reason: Annotated[Reason, _WHY]

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Ladders).judge("void game", without_stop(self.reason), of=self.game)


class VoidPlayer(_Judging, frozen=True, tag="ratings void-player"):
    """Exclude all games of a player from the ratings.

    The games do not count for the opponents either. PLAYER is an id or a claimed name.
    """

    player: Annotated[str, click.Argument(["player"])]
    reason: Annotated[Reason, _WHY]
    seconds: Annotated[Seconds | None, _SINCE] = None

    async def run_here(self, server: ServerParts) -> Row:
        since = 0 if self.seconds is None else round((clock.wall() - self.seconds) * 1000)
        return await server.service(Ladders).judge(
            "void player", without_stop(self.reason), of=self.player, since=since
        )


class UndoVerdict(_Judging, frozen=True, tag="ratings undo"):
    """Undo an earlier verdict on the ratings.

    SEQ is the number that was printed when the verdict was stored.
    """

    seq: Annotated[int, click.Argument(["seq"], type=int)]
    reason: Annotated[Reason, _WHY]

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Ladders).judge("undo", without_stop(self.reason), undoes=self.seq)


class VerifyRatings(Order, frozen=True, tag="ratings verify"):
    """Verify the ratings by computing them again.

    All stored games and verdicts are used. Exit code 1 means that the current ratings differ.
    """

    outcome = "The ratings are correct: {games} games, digest {digest}"

    async def run_here(self, server: ServerParts) -> Row:
        answer = await server.service(Ladders).verify()
        if answer["digest"] != answer["folded"]:
            raise OrderRefused(
                "The ratings are wrong: their digest is {digest}; the stored games give {folded}.".format_map(answer)
            )
        return answer


class ExportRatings(Order, frozen=True, tag="ratings export"):
    """Write all rated games and verdicts to a new FILE.

    Anybody can compute the ratings again from it: tictactoe-client verify FILE
    """

    file: Annotated[str, click.Argument(["file"], type=click.Path(resolve_path=True))]
    outcome = "Wrote {games} games to {file}, digest {digest}"

    async def run_here(self, server: ServerParts) -> Any:
        answer, content = await server.service(Ladders).export()
        try:
            await run_in_daemon(lambda: _write_new(Path(self.file), content))
        except OSError as error:
            raise OrderRefused(f"Cannot write {self.file}: {error.strerror}.") from None
        return {**answer, "file": self.file}


def _write_new(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)


def _make(parts: Parts) -> Iterable[Service]:
    ladders = Ladders(parts.core, () if parts.settings.hides_names else parts.settings.of(RatingOptions).ladders)
    return (ladders, LadderPages(ladders))


FEATURE: Final = Feature(
    make=_make,
    tables=(ENTRIES, LADDERS),
    orders=(VoidGame, VoidPlayer, UndoVerdict, VerifyRatings, ExportRatings),
    options=RatingOptions,
)
