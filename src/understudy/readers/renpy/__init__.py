"""Scripts of visual novels made with Ren'Py."""

from understudy.readers.renpy.reading import READER

__all__ = ["READER"]
