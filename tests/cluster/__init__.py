"""A cluster on one machine: NATS nodes and servers as real processes on the loopback interface."""
