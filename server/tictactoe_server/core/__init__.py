"""What is going on now: the rooms of this process, who is in them, and the one path of every change."""
