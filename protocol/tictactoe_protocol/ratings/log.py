"""The log behind the ratings: rated games, verdicts on them, and entries that order both. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

MOST_GAMES: Final = 500
"""The largest number of games in one entry."""


class RatedGame(Struct, frozen=True, rename={"id": "game_id"}):
    """A rated game between two players.

    Attributes:
        at: The end of the game in ms since 1970, UTC.
        rules: The key of the ladder, which is the name of the rules.
        players: The ids of the players. The first one made the first move, or in an opening the last choice.
        score: The first player's points: 1, 0.5 or 0.
    """

    id: str
    at: int
    rules: str
    players: tuple[str, str]
    score: float


class Verdict(Struct, frozen=True, omit_defaults=True):
    """An operator's decision about rated games.

    - ``void game``: the game `of` does not count.
    - ``void player``: no game of the player `of` that ended at `since` or later counts.
    - ``merge``: games of the player `of` count for the player `into`.
    - ``undo``: the verdict `undoes` does not count; that verdict may be an ``undo``, too.

    Attributes:
        seq: The number of the verdict, from 1.
        at: The time of the verdict in ms since 1970.
        by: The author of the verdict, such as ``operator``.
        since: A time in ms since 1970.
    """

    seq: int
    at: int
    by: str
    kind: Literal["void game", "void player", "merge", "undo"]
    reason: str
    of: str = ""
    since: int = 0
    into: str = ""
    undoes: int = 0


class Entry(Struct, frozen=True, omit_defaults=True):
    """One step in the log: either the ids of games, sorted by end and id, or one verdict.

    The constructor raises ValueError for an entry with both, with neither, or with too many games.
    """

    games: tuple[str, ...] = ()
    verdict: Verdict | None = None

    def __post_init__(self) -> None:
        if (self.verdict is None) != bool(self.games) or len(self.games) > MOST_GAMES:
            raise ValueError(f"An entry has up to {MOST_GAMES} games, or one verdict.")


class Judge:
    """Applies verdicts to games, whether these were rated before or after the verdicts.

    A merge that would close a cycle is ignored. If a player is merged twice, the later merge counts.
    """

    def __init__(self, verdicts: Iterable[Verdict]) -> None:
        self._void: set[str] = set()
        self._since: dict[str, int] = {}
        self._into: dict[str, str] = {}
        for verdict in _list_standing(verdicts):
            if verdict.kind == "void game":
                self._void.add(verdict.of)
            elif verdict.kind == "void player":
                self._since[verdict.of] = min(verdict.since, self._since.get(verdict.of, verdict.since))
            elif verdict.kind == "merge" and verdict.of not in self._names(verdict.into):
                self._into[verdict.of] = verdict.into

    def judge(self, game: RatedGame) -> RatedGame | None:
        """Return the game with its players merged, or None if it is void or both players are the same person."""
        if game.id in self._void:
            return None
        if not self._since and not self._into:
            return game
        first, second = ([*self._names(player)] for player in game.players)
        if first[-1] == second[-1] or any(game.at >= self._since.get(name, game.at + 1) for name in first + second):
            return None
        return replace(game, players=(first[-1], second[-1]))

    def _names(self, player: str) -> Iterator[str]:
        """Yield `player`, then the player into which `player` was merged, and so on."""
        yield player
        while player in self._into:
            player = self._into[player]
            yield player


def list_verdicts(entries: Iterable[Entry]) -> tuple[Verdict, ...]:
    """Return the verdicts in `entries`, in order."""
    return tuple(entry.verdict for entry in entries if entry.verdict is not None)


def _list_standing(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts that have not been undone, in order."""
    ordered, undone = sorted(verdicts, key=lambda one: one.seq), set[int]()
    for one in reversed(ordered):
        if one.kind == "undo" and one.seq not in undone:
            undone.add(one.undoes)
    return [one for one in ordered if one.seq not in undone]
