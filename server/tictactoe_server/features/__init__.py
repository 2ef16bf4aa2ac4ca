"""What a server can do besides hosting games; see `all`."""
