"""Preview pictures for links."""
