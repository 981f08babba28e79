"""Novels with annotated quotations (PDNC): who is in them, and who says what."""
