"""Files that outlast a run: configuration, players and their seats, game records, logs."""
