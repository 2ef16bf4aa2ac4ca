"""The table of a tournament, computed from its pairings, and the export of a whole tournament."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from tictactoe_protocol import events
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, Results, Tie, rank, spell_halves, standings
from tictactoe_server.features.tournaments.event import Event
from tictactoe_server.features.tournaments.knock_out import matches_of, rounds_of, winner_of


def rows(event: Event) -> tuple[events.EventRow, ...]:
    """Return the table, best first. Rows contain the tie-breaks that decided their place."""
    field, breaks = {one.player: one for one in event.field}, SWISS if event.kind == "swiss" else ROUND_ROBIN
    if event.kind == "knock_out":
        matches = _Matches(event)
        table = tuple(row._replace(tie=(matches.tie(row.player),)) for row in rank(matches, ()))
    else:
        table = standings([*field], event.counted_games(), breaks)
    return tuple(
        events.EventRow(row.place, row.player, one.name, one.bot, row.points, row.played, row.tie, one.status)
        for row, one in ((row, field[row.player]) for row in table)
    )


class _Matches(Results):
    """Ranks the players of a knock-out by matches won; players who never played are last.

    Attributes:
        won: The number of matches won, by player.
        scores: The scores of each player's matches, such as ``1½-½``, or ``+`` for a bye.
    """

    def __init__(self, event: Event) -> None:
        super().__init__([entrant.player for entrant in event.field], event.counted_games())
        self.won = dict.fromkeys(self.players, 0)
        self.scores: dict[str, list[str]] = {player: [] for player in self.players}
        for games in matches_of(event.pairings):
            winner = winner_of(event, games)
            halves = {player: sum(game.result_for(player) for game in games) for player in games[0].players.values()}
            for player in halves:
                self.won[player] += player == winner
                score = "-".join(spell_halves(halves[one]) for one in (player, *(halves.keys() - {player})))
                self.scores[player].append(score if len(halves) > 1 else "+")

    def first_key(self, player: str) -> tuple[int, int]:
        return -self.won[player], not self.won[player] and not self.played[player]

    def tie(self, player: str) -> Tie:
        return Tie("matches", self.won[player], ", ".join(self.scores[player]))


class WholePairing(Struct, frozen=True):
    """A pairing with its result.

    Attributes:
        number: The pairing's name for people and in records, such as ``1.2``.
        names: The names of the players by mark.
        room: The code of the room, which may have closed.
    """

    id: str
    number: str
    round: int
    players: dict[str, str]
    names: dict[str, str]
    state: events.PairingState
    result: events.PairingResult | None
    reason: str | None
    by: str | None
    game_id: str | None
    room: str | UnsetType = UNSET


class WholeEvent(Struct, frozen=True):
    """A tournament with its whole table and all pairings.

    Attributes:
        expected: The unused names on the roster.
        bracket: The matches of a knock-out, by round.
        needed: As in `EventState`.
        present: The number of players present.
        away: How long each absent player has been away, in ms, by player id.
        games: The progress of the running games, by id of the pairing.
    """

    event: str
    title: str
    kind: events.EventKind
    status: events.EventStatus
    round: int
    seq: int
    table: tuple[events.EventRow, ...]
    pairings: tuple[WholePairing, ...]
    expected: tuple[str, ...] | UnsetType = UNSET
    bracket: tuple[tuple[events.EventMatch, ...], ...] | UnsetType = UNSET
    needed: int | UnsetType = UNSET
    present: int | UnsetType = UNSET
    away: dict[str, int] | UnsetType = UNSET
    games: dict[str, events.EventGame] | UnsetType = UNSET


def whole_of(event: Event) -> WholeEvent:
    """Return the public fields of a tournament; `present`, `away` and `games` stay unset."""
    names = {entrant.player: entrant.name for entrant in event.entrants}
    pairings = tuple(
        WholePairing(
            **pairing.message_fields,
            number=events.round_of(pairing.id),
            names={mark: names[id] for mark, id in pairing.players.items() if id in names},
            room=pairing.room or UNSET,
        )
        for pairing in event.pairings
    )
    head = event.code, event.title, event.kind, event.status, event.round, event.seq
    more = event.expected or UNSET, rounds_of(event) or UNSET, event.needed or UNSET
    return WholeEvent(*head, rows(event), pairings, *more)
