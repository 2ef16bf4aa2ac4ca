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
_WHY: Final = click.Option(["--reason"], required=True, metavar="TEXT", help="The reason, for the log.")


def _parse_ladders(text: str) -> tuple[str, ...]:
    names = () if text == "off" else tuple(text.split(","))
    for name in names:
        if name not in PRESETS:
            raise click.BadParameter(f"There are no rules {name!r}: there are {', '.join(PRESETS)}.")
        if len(PRESETS[name].marks) != 2:
            raise click.BadParameter(f"{name} has {len(PRESETS[name].marks)} players, and only games of two are rated.")
    return names


@dataclass(frozen=True, slots=True)
class RatingOptions(Options):
    """The presets with rated games."""

    section = "Rated games"

    ladders: tuple[str, ...] = option(
        "Rules with rated games, as in connect-four,four; off for none. With --lobby marks there are none.",
        _parse_ladders,
        "off|NAMES",
        default=_LADDERS,
        typed=",".join(_LADDERS),
    )


class _Judging(Order, frozen=True):
    said = "Verdict {seq} counts; all ratings are folded again. To undo it: ratings undo {seq}"


class VoidGame(_Judging, frozen=True, tag="ratings void-game"):
    """Take GAME, the id in states and histories, out of the ratings."""

    game: Annotated[str, click.Argument(["game"])]
    reason: Annotated[Reason, _WHY]

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Ladders).judge("void game", without_stop(self.reason), of=self.game)


class VoidPlayer(_Judging, frozen=True, tag="ratings void-player"):
    """Take all rated games of PLAYER, an id or a claimed name, out of the ratings."""

    player: Annotated[str, click.Argument(["player"])]
    reason: Annotated[Reason, _WHY]
    seconds: Annotated[Seconds | None, time_option("since", "Only games of the last 12h, 7d. [default: all]")] = None

    async def run_here(self, server: ServerParts) -> Row:
        since = 0 if self.seconds is None else round((clock.wall() - self.seconds) * 1000)
        return await server.service(Ladders).judge(
            "void player", without_stop(self.reason), of=self.player, since=since
        )


class UndoVerdict(_Judging, frozen=True, tag="ratings undo"):
    """Undo the verdict with this number."""

    seq: Annotated[int, click.Argument(["seq"], type=int)]
    reason: Annotated[Reason, _WHY]

    async def run_here(self, server: ServerParts) -> Row:
        return await server.service(Ladders).judge("undo", without_stop(self.reason), undoes=self.seq)


class VerifyRatings(Order, frozen=True, tag="ratings verify"):
    """Fold all games and verdicts again, and compare the result with the current ratings."""

    said = "Games: {games}. They fold to the current ratings, with the digest {digest}"

    async def run_here(self, server: ServerParts) -> Row:
        answer = await server.service(Ladders).verify()
        if answer["digest"] != answer["folded"]:
            raise OrderRefused("The ratings are {digest}, but their games fold to {folded}.".format_map(answer))
        return answer


class ExportRatings(Order, frozen=True, tag="ratings export"):
    """Write all rated games and verdicts to a new FILE, which `tictactoe-client verify FILE` folds again."""

    file: Annotated[str, click.Argument(["file"], type=click.Path(resolve_path=True))]
    said = "Games: {games}. They are in {file}, with the digest {digest}"

    async def run_here(self, server: ServerParts) -> Any:
        answer, content = await server.service(Ladders).export()
        try:
            await run_in_daemon(lambda: _write_new(Path(self.file), content))
        except OSError as error:
            raise OrderRefused(f"{self.file} cannot be written: {error.strerror}.") from None
        return {**answer, "file": self.file}


def _write_new(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)


def _make(parts: Parts) -> Iterable[Service]:
    ladders = Ladders(() if parts.settings.hides_names else parts.settings.of(RatingOptions).ladders)
    return (ladders, LadderPages(ladders))


FEATURE: Final = Feature(
    make=_make,
    tables=(ENTRIES, LADDERS),
    orders=(VoidGame, VoidPlayer, UndoVerdict, VerifyRatings, ExportRatings),
    options=RatingOptions,
)
