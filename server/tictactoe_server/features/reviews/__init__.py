"""Analyses of positions and reviews of games."""
