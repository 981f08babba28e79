"""Dialogue in Markdown."""
