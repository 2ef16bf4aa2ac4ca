"""Players that are programs: they hold seats, see the same states and send the same commands as people.

What they think is computed outside the event loop, so that nobody's move ever waits for it.
"""
