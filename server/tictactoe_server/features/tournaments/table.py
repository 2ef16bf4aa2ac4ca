"""The table of a tournament, computed from its pairings."""

from __future__ import annotations

from tictactoe_protocol import events
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, Results, Tie, rank, spell_halves, standings
from tictactoe_server.features.tournaments.event import Event
from tictactoe_server.features.tournaments.knock_out import matches_of, winner_of


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
