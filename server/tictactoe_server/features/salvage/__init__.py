"""Commands that check, repair and copy a server's data without a running server."""
