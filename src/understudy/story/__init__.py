"""The story: its types and its file, what one of its characters knows at a moment, and how all of it is worded."""
