"""Challenges to other players, and blocks that hide challenges and chat."""
