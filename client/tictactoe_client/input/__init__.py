"""What people type: what it means, and what becomes of it in a room."""
