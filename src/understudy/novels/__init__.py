"""Prose: its chapters, paragraphs and quotations, the people in it, and who says each quotation to whom.

Works on text alone and knows nothing of stories: `formats.prose` makes one of what is found here.
"""
