"""Cups: local tournaments between engines and bots, without a server."""
