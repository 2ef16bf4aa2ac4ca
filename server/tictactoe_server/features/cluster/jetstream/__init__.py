"""The store of a cluster in NATS JetStream."""
