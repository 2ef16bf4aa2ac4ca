"""Backups of a server's data, and the commands that restore, check, recover and move it."""
