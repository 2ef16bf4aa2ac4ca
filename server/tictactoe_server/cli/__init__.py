"""The command line: the options and the server process."""
