"""Who is shown something without playing: watchers of rooms, and whoever follows a topic."""
