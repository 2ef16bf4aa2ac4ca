"""Attacks on a real server on the loopback, while its neighbours play."""
