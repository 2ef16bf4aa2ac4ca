"""Ratings and whom one plays next: what is rated and kept of it, the fold over it, challenges and seeks."""
