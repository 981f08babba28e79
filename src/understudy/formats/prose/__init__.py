"""Novels and stories: running text, in which people speak between quotation marks. Its reader is in `reading`."""
