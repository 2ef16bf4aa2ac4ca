"""Engine testing: play as a guest in a room, or run local tournaments ("cups") between engines and bots.

No other package imports this one. Its entry points add the commands `brain` and `cup` to `tictactoe-client`.
"""
