"""The whole server in virtual time, on a simulated network and disk, repeatable by its seed."""
