"""Challenges to other players, and blocks against them."""
