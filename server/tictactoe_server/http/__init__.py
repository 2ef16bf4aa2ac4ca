"""Responses in plain HTTP: the page for browsers and its files, and text for terminals."""
