"""Ratings, computed by a fold over a log of games and verdicts. Pure, no I/O."""
