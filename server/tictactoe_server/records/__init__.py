"""The stored documents and tables, and the changes of stored values."""
