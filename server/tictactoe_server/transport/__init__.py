"""Sockets, frames, HTTP and limits, without knowledge of rooms."""
