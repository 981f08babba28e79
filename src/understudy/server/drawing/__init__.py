"""Pictures of a character at a moment, as SVG text made from plain data.

Everything drawn comes from a persona or from `spoiler_free`: a picture never shows what lies after its moment. Colours
are classes of `static/drawing.css`: inside a page they follow its light or dark theme; a standalone picture carries
that file.
"""
