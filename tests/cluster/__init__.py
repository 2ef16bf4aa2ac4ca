"""A cluster of several machines on one: nodes of NATS and servers, as real processes on the loopback."""
