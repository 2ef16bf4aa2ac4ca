"""Regular backups of a running server."""
