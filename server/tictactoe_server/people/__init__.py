"""Players' accounts and names, and the limits on what each player may do."""
