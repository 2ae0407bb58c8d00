"""Still more pairs for check_real_pairs.py: work that moves to where no step is.
"""
from made_fixes import *  # noqa: F403: its programs, Pair, of


def tables(p, steps, once):
    """Tables for each step: made in it, or for all steps before the first one."""
    if once:
        for _ in range(steps):
            p.kernel("make_tables(float*)", 2 * MS, 1024)
        p.sync()
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, 1 << 20)
        if not once:
            p.kernel("make_tables(float*)", 2 * MS, 1024)
        forward(p, 5)
        p.finish(4)


MOVES = [
    Pair("tables are made before the loop, nothing is marked", (of(tables, False), of(tables, True)), {UNKNOWN}, set(), 40, (False, False), doubt=True),
]
