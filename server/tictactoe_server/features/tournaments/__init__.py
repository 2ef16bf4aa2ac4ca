"""Tournaments ("events") as values, and the service that runs them.

`event`, `commands`, `swiss`, `knock_out`, `matching` and `table` are pure: no sockets, clock or randomness.
"""
