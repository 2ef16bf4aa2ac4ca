"""What strangers do to a server, each done to a real one on the loopback, while its neighbours play."""
