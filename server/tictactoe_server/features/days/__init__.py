"""Games over days: players move when they have time, and hear when it is their turn."""
