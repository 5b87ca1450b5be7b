"""chosen.bash for Python: which of many cases a script tries, when they take too long to be tried each time."""
import os
import random
import sys

CASES = int(os.environ.get("PERFILE_CASES") or 1)
SEED = int(os.environ.get("PERFILE_SEED") or random.randrange(10000))
if CASES > 1:
    print("one case of %d, PERFILE_SEED=%d" % (CASES, SEED), file=sys.stderr)
numbers = random.Random(SEED)
calls = taken = 0


def chosen():
    """True for one of each $PERFILE_CASES calls, each time another one of them: cases that come in turns are all met."""
    global calls, taken
    if calls % CASES == 0:
        taken = calls + numbers.randrange(CASES)
    calls += 1
    return calls - 1 == taken
