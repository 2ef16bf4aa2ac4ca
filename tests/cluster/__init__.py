"""A cluster of several machines on one: nodes of NATS, servers and a balancer, as real processes on the loopback."""
