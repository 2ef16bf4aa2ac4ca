"""Reviews and analyses of games."""
