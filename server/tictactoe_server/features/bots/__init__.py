"""The server's bots, and the demonstration game on the first page.

Bots hold seats, receive states and send commands like people. Worker processes choose the bots' moves, so that a search
does not delay other moves.
"""
