"""Published cross-tables of tournaments: who got what against whom, and what their publishers made of it.

A row is a name, its results against all in the order of the rows, one game or two, and the points. ``=`` is a draw and
``*`` oneself; ``.`` a game that was not played yet. `values` are published tie-break values, by names; `order` are
names as the publisher ranked those who had as many points by direct encounter, wins or Sonneborn-Berger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from tictactoe_protocol.standings import Game

HALVES = {"1": 2, "=": 1, "0": 0, "+": 2, "-": 0, "U": 2, "H": 1, "Z": 0}


class CrossTable(NamedTuple):
    """One tournament, with the page that has it."""

    title: str
    source: str
    rows: tuple[tuple[str, str, float], ...]
    values: Mapping[str, float] = MappingProxyType({})
    order: tuple[tuple[str, ...], ...] = ()
    shared: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.rows]

    def results(self, name: str) -> list[str]:
        """Return the results of a player against each row."""
        return {row: results.split() for row, results, _ in self.rows}[name]

    @property
    def games(self) -> list[Game]:
        """All games, each once."""
        return list(chain.from_iterable(self._games_of(row) for row in range(len(self.rows))))

    def _games_of(self, row: int) -> list[Game]:
        name = self.names[row]
        games = []
        for column in range(row):
            other = self.names[column]
            for mine, theirs in zip(self.results(name)[column], self.results(other)[row], strict=True):
                if mine in "1=0":
                    games.append(Game(name, other, HALVES[mine], HALVES[theirs]))
        return games


HASTINGS_1984 = CrossTable(
    "60th Hastings Premier 1984/85",
    "britbase.info, 198412hast-viewer.html (John Saunders); values in its column SOS",
    (
        ("Sveshnikov", "* = 0 = 1 = 0 1 1 1 1 1 1 =", 9),
        ("Plaskett", "= * 1 = 0 1 1 1 0 = 1 = 0 1", 8),
        ("Djuric", "1 0 * = = = 1 0 = = 1 = 1 1", 8),
        ("Benjamin", "= = = * = 0 1 1 0 = 1 = 1 1", 8),
        ("Fedorowicz", "0 1 = = * = = = = = = 1 1 1", 8),
        ("Flear", "= 0 = 1 = * 0 0 1 1 1 = 1 =", 7.5),
        ("Gutman", "1 0 0 0 = 1 * 0 1 1 0 1 0 1", 6.5),
        ("Kupreichik", "0 0 1 0 = 1 1 * 0 = 0 = 1 1", 6.5),
        ("Abramovic", "0 1 = 1 = 0 0 1 * = 0 1 = 0", 6),
        ("Farago", "0 = = = = 0 0 = = * = = 1 =", 5.5),
        ("Watson", "0 0 0 0 = 0 1 1 1 = * = 0 =", 5),
        ("Martin", "0 = = = 0 = 0 = 0 = = * 1 0", 4.5),
        ("Ravikumar", "0 1 0 0 0 0 1 0 = 0 1 0 * 1", 4.5),
        ("Hebert", "= 0 0 0 0 = 0 0 1 = = 1 0 *", 4),
    ),
    {
        "Plaskett": 51,
        "Djuric": 48.75,
        "Benjamin": 48,
        "Fedorowicz": 47.5,
        "Gutman": 40.5,
        "Kupreichik": 39.5,
        "Martin": 28.75,
        "Ravikumar": 26.5,
    },
)

UZ_CHESS_CUP_2025 = CrossTable(
    "UzChess Cup Masters 2025",
    "chess-results.com/tnr1175851.aspx, as the test data of lichess-org/scalachess have it: uzchesscup.pgn and .txt",
    (
        ("Praggnanandhaa", "* 1 1 1 0 0 = 1 = =", 5.5),
        ("Abdusattorov", "0 * = = 1 1 0 1 = 1", 5.5),
        ("Sindarov", "0 = * = = 1 = = 1 1", 5.5),
        ("Erigaisi", "0 = = * = = 1 1 = =", 5),
        ("Maghsoodloo", "1 0 = = * = 1 0 = =", 4.5),
        ("Rapport", "1 0 0 = = * = = = 1", 4.5),
        ("Yakubboev", "= 1 = 0 0 = * = = 1", 4.5),
        ("Vokhidov", "0 0 = 0 1 = = * 1 =", 4),
        ("Nepomniachtchi", "= = 0 = = = = 0 * =", 3.5),
        ("Aravindh", "= 0 0 = = 0 0 = = *", 2.5),
    ),
    {
        "Praggnanandhaa": 25.25,
        "Abdusattorov": 22.5,
        "Sindarov": 22.25,
        "Erigaisi": 21.5,
        "Maghsoodloo": 20.5,
        "Rapport": 18.75,
        "Yakubboev": 19.5,
        "Vokhidov": 16.5,
        "Nepomniachtchi": 16,
        "Aravindh": 11.25,
    },
    order=(("Praggnanandhaa", "Abdusattorov", "Sindarov"), ("Maghsoodloo", "Rapport", "Yakubboev")),
)

FOUR_PLAYERS = CrossTable(
    "Viererturnier, 6 March 2015",
    "schachgesellschaft.de/2015/03/06, with its column SoBerg; the second place is shared",
    (
        ("Goerke", "* 1 1 0", 2),
        ("Peschel", "0 * = 1", 1.5),
        ("Busse", "0 = * 1", 1.5),
        ("Vranidis", "1 0 0 *", 1),
    ),
    {"Goerke": 3, "Peschel": 1.75, "Busse": 1.75, "Vranidis": 2},
    shared=(("Peschel", "Busse"),),
)

LINARES_2009 = CrossTable(
    "Linares 2009",
    "chessgames.com, tid=67236; chess.com, grischuk-wins-linares-2009-on-tiebreak: direct encounter, then more wins",
    (
        ("Grischuk", "** == =0 == 1= 1= 1= ==", 8),
        ("Ivanchuk", "== ** == == == == 11 ==", 8),
        ("Carlsen", "=1 == ** 1= == =0 =0 =1", 7.5),
        ("Anand", "== == 0= ** 1= 1= 0= ==", 7),
        ("Radjabov", "0= == == 0= ** == =1 ==", 6.5),
        ("Wang Yue", "0= == =1 0= == ** == ==", 6.5),
        ("Aronian", "0= 00 =1 1= =0 == ** 1=", 6.5),
        ("Dominguez", "== == =0 == == == 0= **", 6),
    ),
    order=(("Grischuk", "Ivanchuk"), ("Radjabov", "Wang Yue", "Aronian")),
)

AVRO_1938 = CrossTable(
    "AVRO 1938",
    "chessgames.com, tid=79229: Keres was declared the winner by a better tie-break",
    (
        ("Keres", "** 1= == == == 1= 1= ==", 8.5),
        ("Fine", "0= ** 1= 11 10 10 == 1=", 8.5),
        ("Botvinnik", "== 0= ** 1= =0 1= =1 ==", 7.5),
        ("Alekhine", "== 00 0= ** 1= == =1 =1", 7),
        ("Euwe", "== 01 =1 0= ** 0= 01 1=", 7),
        ("Reshevsky", "0= 01 0= == 1= ** == 1=", 7),
        ("Capablanca", "0= == =0 =0 10 == ** 1=", 6),
        ("Flohr", "== 0= == =0 0= 0= 0= **", 4.5),
    ),
    order=(("Keres", "Fine"),),
)

CANDIDATES_2016 = CrossTable(
    "Candidates 2016, after 13 of 14 rounds",
    "chessdailynews.com, karjakin-or-caruana-will-challenge-carlsen: level, Karjakin would win by one more win",
    (
        ("Caruana", "** =. =1 == == == =1 ==", 7.5),
        ("Karjakin", "=. ** 10 == == == 1= =1", 7.5),
        ("Anand", "=0 01 ** == 1. =1 =0 1=", 7),
        ("Giri", "== == == ** == == == =.", 6.5),
        ("Svidler", "== == 0. == ** =1 == ==", 6.5),
        ("Aronian", "== == =0 == =0 ** 1. 1=", 6.5),
        ("Nakamura", "=0 0= =1 == == 0. ** 11", 6.5),
        ("Topalov", "== =0 0= =. == 0= 00 **", 4),
    ),
    order=(("Karjakin", "Caruana"),),
)

SIX_IN_A_SWISS = CrossTable(
    "Swiss of six, three rounds, 6 March 2015",
    "schachgesellschaft.de/2015/03/06, ranked by Buchholz; empty cells follow from rows",
    (
        ("Meckel", "* 1 1 1 . .", 3),
        ("Skiber", "0 * . 1 1 .", 2),
        ("Fraenzel", "0 . * . 1 1", 2),
        ("Kaiser", "0 0 . * . 1", 1),
        ("Falge", ". 0 0 . * 1", 1),
        ("Schubert", ". . 0 0 0 *", 0),
    ),
    order=(("Skiber", "Fraenzel"), ("Kaiser", "Falge")),
)

ROUND_ROBINS = HASTINGS_1984, UZ_CHESS_CUP_2025, FOUR_PLAYERS, LINARES_2009, AVRO_1938, CANDIDATES_2016

# M. Held, exercises on FIDE's tie-break regulations of 2023. A round is an opponent's number, w or b, and the result,
# ``+`` and ``-`` by forfeit; or without an opponent ``H`` or ``Z`` by request, half a point or none, and ``U`` free.
SIXTEEN_IN_A_SWISS = (
    ("9w1 13b= 2w= 15b1 4w=", 11.0, 8.0, 2),
    ("10b1 7w1 1b= 16w1 3b=", 12.0, 9.5, 3),
    ("11w= 6b1 8w1 4b= 2w=", 13.0, 10.5, 2),
    ("12b1 H 13w1 3w= 1b=", 11.5, 9.75, 2),
    ("13w0 15b0 11w1 7b= 10w1", 7.5, 4.25, 2),
    ("14b0 3w0 U 10w1 8b1", 11.0, 6.5, 3),
    ("15w1 2b0 16b0 5w= 11b0", 12.5, 3.25, 1),
    ("16b= 14w1 3b0 13w1 6w0", 12.0, 5.25, 2),
    ("1b0 10w0 H 11b- U", 7.5, 2.25, 1),
    ("2w0 9b1 15w0 6b0 5b0", 11.5, 1.5, 1),
    ("3b= 16w0 5b0 9w+ 7w1", 12.0, 5.75, 2),
    ("4w0 U 14w+ Z Z", 9.5, 4.0, 2),
    ("5b1 1w= 4b0 8b0 14w0", 12.0, 4.25, 1),
    ("6w1 8b0 12b- Z 13b1", 9.0, 4.5, 2),
    ("7b0 5w1 10b1 1w0 16b0", 11.0, 3.5, 2),
    ("8w= 11b1 7w1 2b0 15w1", 11.0, 7.25, 3),
)
"""The rounds of players from 1, and Buchholz cut 1, Sonneborn-Berger and WIN."""

SIX_WITH_A_FORFEIT = (
    ("5w= 2w1 3b1 4w0 6b1", 9.25),
    ("6w1 1b0 5w1 3w= 4b1", 6.25),
    ("4w1 6b1 1w0 2b= 5w1", 6.25),
    ("3b0 5b0 6w= 1b1 2w0", 4.25),
    ("1b= 4w1 2b0 6w- 3b0", 3.25),
    ("2b0 3w0 4b= 5b+ 1w0", 2.25),
)
"""A round robin, with Sonneborn-Berger."""


def read_rounds(rows: Sequence[str]) -> list[Game]:
    """Return the games of players who are named by their numbers, each once."""
    games = []
    for number, row in enumerate(rows, 1):
        for round, (result, told) in enumerate(((one[-1], one) for one in row.split()), 1):
            opponent = int(told[:-2] or 0)
            if not opponent:
                games.append(Game(str(number), None, HALVES[result], 0, is_played=False, round=round))
            elif number < opponent:
                other = rows[opponent - 1].split()[round - 1][-1]
                is_played = result not in "+-"
                games.append(Game(str(number), str(opponent), HALVES[result], HALVES[other], is_played, round))
    return games
