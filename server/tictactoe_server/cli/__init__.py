"""The command line: options, the process of a server, and the other commands."""
