"""What a result says: its parts, for page, command and reader, and as one HTML file."""
