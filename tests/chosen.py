"""chosen.bash for Python: which of many cases a script tries, when they take too long to be tried each time."""
import os
import random
import sys

CASES = int(os.environ.get("PERFILE_CASES") or 1)
SEED = int(os.environ.get("PERFILE_SEED") or random.randrange(10000))
if CASES > 1:
    print("one case of %d, PERFILE_SEED=%d" % (CASES, SEED), file=sys.stderr)
calls = SEED


def chosen():
    """True for each $PERFILE_CASES-th call."""
    global calls
    calls += 1
    return calls % CASES == 0
