"""Ratings as a fold over a log of games and verdicts, and what makes the log hard to change in silence. Pure, no I/O.

Whoever has the log folds it to the same ratings: `glicko` and `plackett_luce` for one game, `ladder` for all of them.
"""
