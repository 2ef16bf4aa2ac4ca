"""What lasts from one run to the next: configuration, seats, players, records of games, logs."""
