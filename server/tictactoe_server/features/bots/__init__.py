"""The server's bots, which hold seats, see states and send commands as people do, and the demonstration.

Worker processes choose their moves, so that no other move waits.
"""
