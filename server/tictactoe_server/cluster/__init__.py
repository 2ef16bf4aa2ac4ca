"""Several servers that share their players and rooms, and keep them in one store."""
