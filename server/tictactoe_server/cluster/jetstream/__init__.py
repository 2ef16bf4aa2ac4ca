"""The store of several servers: rooms, players and finished games in one JetStream of three NATS nodes.

This package alone knows NATS, and nothing here is imported by a server that keeps its data on its own disk.
"""
