"""Ladders of rated games, and challenges."""
