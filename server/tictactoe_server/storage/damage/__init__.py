"""What can be read of a damaged database goes into a new one; `schema` tells damage from other errors."""
