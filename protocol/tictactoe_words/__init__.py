"""What people read: the sentences of each language, and how rooms, tournaments and ladders are described. Pure, no I/O.

All clients share this package. The server imports only what it renders itself. Each module is imported by its own name,
so that importing `tictactoe_words.catalogue` does not load the messages.
"""
