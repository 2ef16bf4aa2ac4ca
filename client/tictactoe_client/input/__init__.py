"""Parses what the user types, and carries out commands in a room."""
