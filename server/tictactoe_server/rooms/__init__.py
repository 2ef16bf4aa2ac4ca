"""Rooms as immutable values: applying a command returns the next room, without I/O, clocks, randomness or logging."""
