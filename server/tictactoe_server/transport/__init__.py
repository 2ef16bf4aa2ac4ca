"""Sockets and frames: bytes in, texts out, and no word of rooms."""
