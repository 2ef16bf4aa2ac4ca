"""Several servers that share one store: which of them serves a room, and what they tell each other."""
