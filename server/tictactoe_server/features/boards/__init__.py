"""Boards of running games for people in the lobby."""
