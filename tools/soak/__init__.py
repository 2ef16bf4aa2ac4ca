"""Long runs on a real cluster."""
