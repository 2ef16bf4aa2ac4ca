"""What the server's operator sees and does: figures, bans, an orderly end, and the socket over which orders come."""
