"""What is stored, as documents and tables, and how a stored value changes."""
