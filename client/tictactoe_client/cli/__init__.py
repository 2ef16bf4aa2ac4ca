"""What the commands do, the options that they share, and how a run ends."""
