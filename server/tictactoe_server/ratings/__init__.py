"""Ratings: what is rated and kept of it, the fold over it, and what people ask and are told."""
