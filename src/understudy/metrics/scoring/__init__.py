"""Scoring files of lines: in this process, or in parts that workers score, where they are too large for one.

`inputs` reads lines and splits files into parts, `lines` scores them one after another, `engine` distributes parts to
workers with Daft, on this machine's cores or on a Ray cluster, and `output` has the worker that scores a part, and
writes the scores so that a stopped run can go on.
"""
