"""The public HTTP API: rooms, their games, and events as JSON, and link previews."""
