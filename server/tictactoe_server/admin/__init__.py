"""Operation of the server: the operator's orders, bans, draining, logs and periodic cleanup."""
