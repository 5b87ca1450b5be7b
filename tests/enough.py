"""Whether a script tried enough, and what it could not try: enough.bash for Python."""
import os

CORPUS = os.environ["PERFILE_CORPUS"]
EVERY = int(os.environ.get("PERFILE_EVERY", "1"))


def enough(what, count, least, own):
    """Whether `count` of `what` are `least` with the corpus, or `own` without it; one in
    $PERFILE_EVERY of that when only so many captures are looked at."""
    has_corpus = os.path.isdir(CORPUS)
    needed = (least if has_corpus else own) // EVERY
    if count < needed:
        print("too few %s: %d, at least %d" % (what, count, needed))
        return False
    if not has_corpus and count < least:
        print("not tried: %s: %d of at least %d, there is no corpus" % (what, count, least))
    return True
