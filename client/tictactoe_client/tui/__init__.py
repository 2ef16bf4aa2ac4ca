"""The full-screen client: pages that draw themselves as text, on a canvas that sends only what changed.

A page is a picture made from what is known, and a handler for keys; none of them imports the library that owns the
terminal. That one is imported by `canvas` and `app` alone, which load when the first screen opens.
"""
