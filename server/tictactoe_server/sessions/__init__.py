"""One peer's conversation: its messages in their order, and how many there may be."""
