"""What is done about damage in a database: it is told from other errors, and what can be read goes into a new one."""
