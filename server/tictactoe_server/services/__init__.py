"""What peers ask, and every answer."""
