"""Prose: novels and other running text in which people speak."""
