"""Operation of the server: orders, metrics, bans, backups, draining and periodic cleanup."""
