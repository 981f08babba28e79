"""EPUB: a book as a zip archive of XHTML documents. Its prose goes where plain prose goes."""

from understudy.formats.epub.reading import READER, epub_text

__all__ = ["READER", "epub_text"]
