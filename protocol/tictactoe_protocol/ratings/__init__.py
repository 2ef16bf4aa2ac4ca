"""Ratings as a fold over a log of games and verdicts. Pure, no I/O."""
