"""Export and erasure of a player's data."""
