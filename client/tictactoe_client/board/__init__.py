"""Boards drawn as lines of text, at every size; pure."""
