"""Scripts of visual novels made with Ren'Py."""

from understudy.formats.renpy.reading import READER

__all__ = ["READER"]
