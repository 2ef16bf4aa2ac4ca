"""Broadcasts: to the watchers of rooms and the subscribers of topics."""
