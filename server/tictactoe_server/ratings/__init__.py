"""Whom one plays next: challenges, and what is rated."""
