"""What is answered in plain HTTP: the page in a browser and its parts, and text for terminals."""
