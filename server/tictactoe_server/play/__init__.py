"""Handlers for players' requests: hello, entering rooms, moves, chat, the lobby and past games."""
