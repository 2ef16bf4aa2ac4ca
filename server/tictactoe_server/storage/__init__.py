"""Where rooms, players and finished games live. Safety comes from compare-and-set alone, never from who wrote last."""
