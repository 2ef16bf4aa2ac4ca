"""What is known of all rooms at once: the lobby, who waits for a match, who has which seats."""
