"""What a server can do besides hosting games. Only `all` and `server` import these packages."""
