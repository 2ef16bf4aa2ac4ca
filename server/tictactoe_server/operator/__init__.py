"""What the operator does with a running server: orders, bans, draining, maintenance and the log."""
