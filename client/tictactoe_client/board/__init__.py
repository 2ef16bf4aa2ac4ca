"""Boards as lines of text, in every size; pure."""
