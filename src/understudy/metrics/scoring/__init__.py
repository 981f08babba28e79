"""Scoring files of lines too large for one process: files are split into parts, and workers score a part each.

`inputs` reads lines and splits files into parts, `request` says which metrics to score them with, `output` writes the
scores of each part and resumes stopped runs, `worker` scores a part, and `engine` distributes parts to workers with
Daft: on this machine's cores, or on a Ray cluster.
"""

from __future__ import annotations

from understudy.metrics.scoring.inputs import LineSpan, pieces

__all__ = ["LineSpan", "pieces"]
