"""The optional parts of the server, which the module `all` lists."""
