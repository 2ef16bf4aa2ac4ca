"""The search for three or more players, which assumes that all others play together against the searching player.

This is the paranoid algorithm (Sturtevant and Korf, On Pruning Techniques for Multi-Player Games, 2000). As the others
form one side, alpha-beta prunes as for two players, which max^n (Luckhardt and Irani, 1986) does not allow. A win
cannot be prevented by the others together, a loss can be forced by them, and any other position is a draw. The scores
are defined as in `tictactoe_engine.search.duel`, but always for the searching player.
"""

from __future__ import annotations

from tictactoe_engine.search.duel import INFINITE, LIKELY, WIN, Searcher
from tictactoe_engine.search.grid import bits_of
from tictactoe_engine.search.task import union_of

Stones = tuple[int, ...]
"""The padded bitboards of the active players in turn order, beginning with the searching player."""


class Coalition(Searcher):
    """A search for one player against all others, on a grid without misère."""

    __slots__ = ()

    def score_move(self, stones: Stones, player: int, move: int, depth: int, alpha: int, beta: int) -> int:
        """Return the score after `move` (one bit) by the player with the index `player` in `stones`."""
        if self._grid.completing(stones[player]) & move:
            left = (self._grid.cells & ~union_of(stones)).bit_count()
            return -(WIN + left - 1) if player else WIN + left - 1
        after = (*stones[:player], stones[player] | move, *stones[player + 1 :])
        return self.search(after, (player + 1) % len(stones), depth - 1, alpha, beta)

    def search(self, stones: Stones, player: int, depth: int, alpha: int, beta: int) -> int:
        """Return the score of a position without a winner and with `player` (0 is the searching player) to move."""
        self._meter.spend()
        grid = self._grid
        free = grid.cells & ~union_of(stones)
        if not free:
            return 0
        moves = grid.playable(free)
        if grid.completing(stones[player]) & moves:
            left = free.bit_count()
            return -(WIN + left - 1) if player else WIN + left - 1
        lowest, highest = self._bounds(stones, free)
        if lowest >= beta or lowest == highest:
            return lowest
        if highest <= alpha:
            return highest
        alpha, beta = max(alpha, lowest), min(beta, highest)
        low, high, _ = self._recall((stones, player), depth)
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        if depth <= 0:
            self.horizon_hits += 1
            guess = self._patterns.estimate_of_many(stones, player) if self._patterns else 0
            return min(max(guess, lowest), highest)
        hits = self.horizon_hits
        moves = self._needed(stones, player, moves)
        ordered = self.ordered(stones, player, moves)
        best = self._best_of(stones, player, ordered, depth, max(alpha, low), min(beta, high))
        if self._width is not None and moves.bit_count() > self._width:
            best = _unproven(best, player)
        self._remember((stones, player), hits, depth, best, max(alpha, low), min(beta, high))
        return best

    def ordered(self, stones: Stones, player: int, moves: int) -> list[int]:
        """Return the moves to search, in order from the most promising."""
        own = stones[player]
        others = [bitboard for index, bitboard in enumerate(stones) if index != player]
        if self._width is not None and self._patterns is not None and moves.bit_count() > self._width:
            self.horizon_hits += 1
            return self._patterns.candidates(own, others, moves, self._width)
        threatened = union_of(map(self._grid.completing, others))
        makers = self._patterns.threat_makers(own, self._grid.cells & ~union_of(stones)) if self._patterns else 0
        ranks = self._ranks
        return sorted(bits_of(moves), key=lambda bit: (not threatened & bit, not makers & bit, ranks[bit]))

    def _best_of(self, stones: Stones, player: int, moves: list[int], depth: int, alpha: int, beta: int) -> int:
        best = INFINITE if player else -INFINITE
        for move in moves:
            score = self.score_move(stones, player, move, depth, alpha, beta)
            if player:
                best = min(best, score)
                beta = min(beta, best)
            else:
                best = max(best, score)
                alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best

    def _needed(self, stones: Stones, player: int, moves: int) -> int:
        """Return the moves to search.

        If the next player is an opponent who threatens to complete a line, only one move that stops a line is returned.
        """
        following = (player + 1) % len(stones)
        if player and following:
            return moves
        threatened = self._grid.completing(stones[following]) & moves
        return threatened & -threatened or moves

    def _bounds(self, stones: Stones, free: int) -> tuple[int, int]:
        grid, left = self._grid, free.bit_count()
        highest = WIN + left - 1 if grid.has_line(stones[0] | free) else 0
        can_lose = any(grid.has_line(other | free) for other in stones[1:])
        return -(WIN + left - 1) if can_lose else 0, highest


def _unproven(score: int, player: int) -> int:
    """Return `score`; reduce a win or loss to an estimate if `player` may have a better move among the unsearched."""
    if player and score >= WIN:
        return score - WIN + LIKELY
    if not player and score <= -WIN:
        return score + WIN - LIKELY
    return score
