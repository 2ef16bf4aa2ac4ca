"""Draws boards as lines of text, in every size; pure functions."""
