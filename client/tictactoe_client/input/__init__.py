"""Parses user input and carries out its commands in a room."""
