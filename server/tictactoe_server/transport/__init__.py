"""Sockets, WebSocket frames, plain HTTP and rate limits. This package knows nothing about rooms."""
