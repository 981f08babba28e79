"""Transcripts as found: plain text and web pages, with all the mess they come in."""
