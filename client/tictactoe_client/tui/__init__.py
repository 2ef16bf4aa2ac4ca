"""The full screen: screens of the terminal library, each of which hears the server and draws what it knows.

`app` is the program, `screen` what all screens are, `room` the board; nothing is imported before the first one opens.
"""
