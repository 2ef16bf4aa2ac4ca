"""Folds a file of `tictactoe-server ratings export` again, and prints the digest: `python -m tools.refold FILE`.

It is written from `docs/protocol/ratings.md` alone, and imports nothing of the server, the client or what both share:
a second opinion on them. With --without PLAYER it leaves out all games of that id, and all verdicts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

S = 173.7178
PERIOD_MS = 86_400_000 / 0.21436
C = 347.4 / 8.33

Game = dict[str, Any]
Ladder = dict[str, Any]


def main() -> None:
    """Print the digest of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--without", metavar="PLAYER", help="leave out all games of this id, and all verdicts")
    options = parser.parse_args()
    print(digest_of(fold(read_games(options.file, without=options.without))))


def read_games(file: Path, *, without: str | None = None) -> list[Game]:
    """Return the games that count, in the order of the log, with the players they count for."""
    with file.open(encoding="utf-8") as text:
        games, verdicts = split(text)
    if without is not None:
        return [game for game in games if without not in game["players"]]
    return judge(games, verdicts)


def split(text: Iterable[str]) -> tuple[list[Game], list[dict[str, Any]]]:
    """Return all games and all verdicts of the lines of a file."""
    lines = [json.loads(line) for line in text]
    games = [game for line in lines if line["type"] == "games" for game in line["games"]]
    verdicts = [line["verdict"] for line in lines if line["type"] == "verdict"]
    return games, sorted(verdicts, key=lambda verdict: int(verdict["seq"]))


def judge(games: Iterable[Game], verdicts: list[dict[str, Any]]) -> list[Game]:
    """Return the games that are left by all verdicts together."""
    undone: set[int] = set()
    for one in reversed(verdicts):
        if one["kind"] == "undo" and one["seq"] not in undone:
            undone.add(one.get("undoes", 0))
    void_games, void_since, merged = set(), dict[str, int](), dict[str, str]()

    def names_of(player: str) -> list[str]:
        names = [player]
        while names[-1] in merged:
            names.append(merged[names[-1]])
        return names

    for one in verdicts:
        kind, of = one["kind"], one.get("of", "")
        if one["seq"] in undone:
            continue
        if kind == "void game":
            void_games.add(of)
        elif kind == "void player":
            void_since[of] = min(one.get("since", 0), void_since.get(of, math.inf))
        elif kind == "merge" and of not in names_of(one.get("into", "")):
            merged[of] = one.get("into", "")
    left = []
    for game in games:
        names = [names_of(player) for player in game["players"]]
        players = [own[-1] for own in names]
        is_void = any(game["at"] >= void_since.get(name, math.inf) for own in names for name in own)
        if game["id"] not in void_games and not is_void and len(set(players)) == len(players):
            left.append(game | {"players": players})
    return left


def fold(games: Iterable[Game]) -> dict[str, Ladder]:
    """Return all ladders, by their rules."""
    ladders: dict[str, Ladder] = {}
    for game in games:
        ladder = ladders.setdefault(game["rules"], {"games": 0, "edge": 0.0, "learnt": 5.0, "last": "", "players": {}})
        rate(ladder, game)
    return ladders


def rate(ladder: Ladder, game: Game) -> None:
    """Rate one game."""
    names, places = game["players"], game["places"]
    start = (1500.0, 350.0, 0.06) if len(names) == 2 else (1500.0, 25 * C / 3, 0.0)
    for name in names:
        ladder["players"].setdefault(name, {"number": start, "at": 0, "wins": 0, "draws": 0, "losses": 0})
    rows = [ladder["players"][name] for name in names]
    numbers = (rate_two if len(names) == 2 else rate_several)(ladder, rows, places, game["at"])
    best = min(places)
    for row, number, place in zip(rows, numbers, places, strict=True):
        row["number"], row["at"] = number, max(row["at"], game["at"])
        row["losses" if place != best else "wins" if places.count(best) == 1 else "draws"] += 1
    ladder["games"] += 1
    ladder["last"] = (ladder["last"] + ("=" if len(set(places)) == 1 else "+"))[-200:]


def rate_two(ladder: Ladder, rows: list[Any], places: list[int], at: int) -> list[Any]:
    """Return the numbers of two players after a game."""
    score = 0.5 if places[0] == places[1] else 1.0 if places[0] < places[1] else 0.0
    periods = [max(0.0, (at - row["at"]) / PERIOD_MS) if row["at"] else 0.0 for row in rows]
    one, other = (rest(row["number"], time - 1) for row, time in zip(rows, periods, strict=True))
    odds = exp(ladder["edge"])
    both = math.sqrt(one[1] ** 2 + other[1] ** 2)
    expected = expect(both, other[0] - one[0], odds)
    ladder["learnt"] += expected * (1 - expected)
    ladder["edge"] += (score - expected) / ladder["learnt"]
    return [
        meet(one, other, score, odds, min(1.0, periods[0])),
        meet(other, one, 1 - score, 1 / odds, min(1.0, periods[1])),
    ]


def rest(number: Any, periods: float) -> Any:
    """Return a number after so many periods without a game."""
    if periods <= 0:
        return number
    rating, deviation, volatility = number
    return rating, min(350.0, math.sqrt(deviation**2 + periods * (S * volatility) ** 2)), volatility


def weigh(deviation: float) -> float:
    """Return how much a game against somebody with this deviation tells."""
    return 1 / math.sqrt(1 + 3 * (deviation / (S * math.pi)) ** 2)


def expect(deviation: float, ahead: float, odds: float) -> float:
    """Return the points against one who is so many points ahead."""
    return 1 / (1 + exp(weigh(deviation) * ahead / S) / odds)


def meet(own: Any, other: Any, score: float, odds: float, periods: float) -> Any:
    """Return the number of one of two after a game."""
    rating, deviation, volatility = own
    if deviation < 110 and other[1] > 160:
        return rest(own, periods)
    g, e = weigh(other[1]), expect(other[1], other[0] - rating, odds)
    v = 1 / (g * g * e * (1 - e))
    delta, phi2, s = v * g * (score - e), (deviation / S) ** 2, volatility**2
    for _ in range(4):
        t = phi2 + v + s
        s = volatility**2 * exp(s * (delta**2 - t) / (8 * t**2))
    new = 1 / (1 / (phi2 + s * periods) + 1 / v)
    moved = rating + S * new * g * (score - e)
    return min(4000.0, max(400.0, moved)), min(350.0, max(45.0, S * math.sqrt(new))), min(0.1, math.sqrt(s))


def rate_several(ladder: Ladder, rows: list[Any], places: list[int], at: int) -> list[Any]:
    """Return the numbers of three to six players after a game."""
    q = [row["number"][1] ** 2 + (25 * C / 300) ** 2 for row in rows]
    big = math.sqrt(sum(one + (25 * C / 6) ** 2 for one in q))
    x = [exp((row["number"][0] - 1500) / big) for row in rows]
    found = []
    for me, row in enumerate(rows):
        rise = told = 0.0
        for k, place in enumerate(places):
            if place <= places[me]:
                h = x[me] / sum(strength for strength, behind in zip(x, places, strict=True) if behind >= place)
                rise += ((k == me) - h) / places.count(place)
                told += h * (1 - h) / places.count(place)
        left = max(0.0001, 1 - q[me] * math.sqrt(q[me]) / big**3 * told)
        found.append((row["number"][0] + q[me] / big * rise, math.sqrt(q[me] * left), row["number"][2]))
    return found


def exp(x: float) -> float:
    """Return e to the power of x, in the way that is the same on every machine."""
    y, power = x / 1024, 1.0
    for divisor in range(7, 0, -1):
        power = 1 + y / divisor * power
    for _ in range(10):
        power *= power
    return power


def digest_of(ladders: dict[str, Ladder]) -> str:
    """Return the digest of all ladders."""
    digest = hashlib.sha256()
    for key in sorted(ladders):
        ladder = ladders[key]
        lines = [[key, ladder["games"], whole(ladder["edge"]), whole(ladder["learnt"]), ladder["last"]]]
        for row in ladder["players"].values():
            lines.append([*map(whole, row["number"]), row["at"], row["wins"], row["draws"], row["losses"]])
        for line in lines:
            digest.update(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def whole(value: float) -> int:
    """Return a number in millionths, as the digest has it."""
    return round(value * 1_000_000)


if __name__ == "__main__":
    main()
