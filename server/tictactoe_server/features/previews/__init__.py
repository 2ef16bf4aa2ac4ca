"""Pictures for links."""
