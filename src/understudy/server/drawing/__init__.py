"""Pictures of a character at a moment, as SVG text.

All data comes from a persona or from `spoiler_free`, so a picture never shows what comes after its moment. Colours are
CSS classes of `static/drawing.css`: inside a page they follow its light or dark theme; a standalone picture includes
that file.
"""
