"""Files that outlast a run: configuration, seats, players, game records, logs."""
