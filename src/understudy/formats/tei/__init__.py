"""Plays in TEI."""
