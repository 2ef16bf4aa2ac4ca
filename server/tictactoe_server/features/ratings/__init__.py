"""Ladders of rated games."""
