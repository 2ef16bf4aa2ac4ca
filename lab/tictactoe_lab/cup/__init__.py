"""A cup: engines and bots against each other on this machine, without a server."""
