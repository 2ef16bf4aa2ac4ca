"""The export and the erasure of a player's data."""
