"""Where engines and the computer are tried out: as guests in a room, and in cups against each other.

Nothing imports this package. It adds the commands `brain` and `cup` to `tictactoe-client`, as entry points of it.
"""
