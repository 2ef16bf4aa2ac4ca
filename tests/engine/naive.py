"""A plain minimax over positions to compare the searches with: slow, short and evidently correct."""

from tictactoe_engine import Position

Score = tuple[int, int]
"""1, 0 or -1 for a win, draw or loss, and the plies until then (0 for draws)."""

Memo = dict[tuple[str, str, str | None, str, bool], Score]


def naive_score(position: Position, mark: str, memo: Memo) -> Score:
    """Return the score of `mark` when all others play together against it; a memo serves one set of rules."""
    if position.outcome is not None:
        winner = position.outcome.winner
        return (0 if winner is None else 1 if winner == mark else -1), 0
    is_choice = bool(position.options)
    key = (mark, position.board, position.turn, position.active_marks, is_choice)
    if key not in memo:
        if is_choice:  # the chooser takes the better side
            scores = [naive_score(position.choose(side), side, memo) for side in position.rules.marks]
        else:
            scores = [later(naive_score(position.play(cell), mark, memo)) for cell in position.legal_cells]
        memo[key] = max(scores, key=preference) if position.turn == mark else min(scores, key=preference)
    return memo[key]


def later(score: Score) -> Score:
    result, plies = score
    return result, plies + 1 if result else 0


def preference(score: Score) -> tuple[int, int]:
    """Sort losses before draws before wins, and among them quick losses and slow wins first."""
    result, plies = score
    return result, -result * plies


def open_positions(position: Position) -> dict[str, Position]:
    """Return every reachable position without a result, by its board."""
    found = {position.board: position}
    waiting = [position]
    while waiting:
        current = waiting.pop()
        for cell in current.legal_cells:
            following = current.play(cell)
            if following.outcome is None and following.board not in found:
                found[following.board] = following
                waiting.append(following)
    return found
