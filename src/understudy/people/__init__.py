"""What a text tells of its people: whom a line is said to, ties, feelings and facts, found with their sources."""
