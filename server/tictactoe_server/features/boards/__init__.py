"""The boards of running games, shown in the lobby."""
