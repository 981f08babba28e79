"""Tests leave nothing in the user's cache of encodings, and find nothing there."""

from __future__ import annotations

import os
import tempfile

os.environ["UNDERSTUDY_CACHE"] = tempfile.mkdtemp(prefix="understudy-tests-")
