"""Ratings as a fold over a log of games and verdicts, and what shows that the log was changed. Pure, no I/O.

`log` has what is folded and `ladder` the fold, for one game by `glicko` or `plackett_luce`; `shown` is who is shown of
it. `checkpoints` are signed marks on the log, by `ed25519`, and
`exported` checks a log that was written to a file.
"""
