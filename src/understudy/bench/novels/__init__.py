"""Novels with annotated quotations (PDNC): who is in them, and who says what. `understudy bench novels`.

cast         how well the cast found agrees with the annotated one
quotations   how well the quotations found agree
speakers     models to judge novels by, each one that has not seen the novel
reading      a novel read from its text alone
bench        the rows and the manifest
"""

from understudy.bench.novels.bench import NovelBench, bench_novels

__all__ = ["NovelBench", "bench_novels"]
