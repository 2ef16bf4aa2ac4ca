"""Analyses of positions, and reviews of finished games."""
