"""Previews: pictures for links."""
