"""Engines that speak the Gomocup protocol: one that plays here as a guest, and ours for others."""
