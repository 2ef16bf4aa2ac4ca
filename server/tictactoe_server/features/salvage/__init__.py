"""Checks, repairs and copies of a server's data by commands that need no running server."""
