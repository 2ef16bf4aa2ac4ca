"""Several servers that share one store: which server owns each room, and the messages between the servers."""
