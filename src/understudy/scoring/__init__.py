"""Scoring more lines than fit one process: files are cut into parts, and workers score a part each.

`lines` reads lines, `asked` says what to score them with, `parts` cuts files, `tables` writes and joins scores,
`output` keeps what is done, and `engine` has it all done by Daft: on this machine's cores, or on a Ray cluster.
"""

from __future__ import annotations

from understudy.scoring.lines import Span, pieces

__all__ = ["Span", "pieces"]
