"""The public HTTP API: rooms and games as JSON, once or as a stream."""
