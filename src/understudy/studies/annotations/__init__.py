"""What annotators say of a chapter: rows as they are typed, what they mean, how far people agree, and the cast file."""
