"""Tournaments, which the protocol and the code call events.

`event`, `commands`, `swiss`, `knock_out` and `table` are pure: they use no sockets, clock or randomness.
"""
