"""Hypothesis without its deadline: how long an example takes says nothing about the engine's correctness."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
