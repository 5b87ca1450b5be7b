/* main() for a fuzz target without libFuzzer: runs it on each named file, and on each file of each
 * named directory (one level).  An input that cannot be read, or no input at all, is a failure: a
 * replay that never reached its inputs proves nothing.
 *
 * The arguments after "--choices=N" are directories with recorded captures.  Each capture,
 * truncated if it is long, is an input as well: the last N bytes of a seed are appended to it,
 * those of the next seed for the next capture.  With "--choices=words" it is the part after the
 * last NUL of the seed.  Missing directories are skipped, because these captures are optional. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_TAILS = 512,
    MOST_TAIL = 256,
    MOST_CAPTURE = 16 << 10, /* the rest is cut off */
    MOST_DEPTH = 4           /* of nested directories */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long n_inputs, n_captures;
static const char *choices; /* NULL while inputs are seeds */
static struct {
    uint8_t bytes[MOST_TAIL];
    size_t n;
} tails[MOST_TAILS];
static size_t n_tails;

static int complain(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return -1;
}

/* Stores the end of a seed: as many bytes as any target uses for choices. */
static void keep_tail(const uint8_t *data, size_t size)
{
    if (n_tails == MOST_TAILS)
        return;
    size_t n = size < MOST_TAIL ? size : MOST_TAIL;
    memcpy(tails[n_tails].bytes, data + size - n, n);
    tails[n_tails++].n = n;
}

/* Returns the choices of the next seed. */
static size_t next_tail(const uint8_t **tail)
{
    *tail = NULL;
    if (n_tails == 0)
        return 0;
    size_t which = n_captures % n_tails, n = tails[which].n, want = 1;
    if (strcmp(choices, "words") != 0)
        want = (size_t)strtoul(choices, NULL, 10);
    else /* the last byte is a separate choice, whatever its value */
        while (want < n && tails[which].bytes[n - want - 1])
            want++;
    want += strcmp(choices, "words") == 0 && want < n; /* the NUL itself */
    if (want > n)
        want = n;
    *tail = tails[which].bytes + n - want;
    return want;
}

/* The input is a heap block of exactly its size, so that an overread is caught. */
static int replay_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return complain(path);

    const uint8_t *tail = NULL;
    size_t more = 0;
    if (choices) {
        size = size < MOST_CAPTURE ? size : MOST_CAPTURE;
        more = next_tail(&tail);
    }
    uint8_t *data = malloc(size + more ? size + more : 1);
    size_t got = data ? fread(data, 1, size, f) : 0;
    int result = 0;
    if (!data || got != size) {
        result = complain(path);
    } else {
        if (more)
            memcpy(data + size, tail, more);
        if (choices)
            n_captures++;
        else
            keep_tail(data, size);
        n_inputs++;
        /* Printed before the run: after a crash the last line names the input. */
        fprintf(stderr, "replay: %s (%zu bytes)\n", path, size);
        LLVMFuzzerTestOneInput(data, size + more);
    }
    free(data);
    fclose(f);
    return result;
}

static int replay_folder(const char *path, unsigned depth)
{
    DIR *dir = opendir(path);
    if (!dir)
        return complain(path);

    int result = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        char file[4096];
        struct stat st;
        int n = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof file) {
            errno = ENAMETOOLONG;
            result = complain(path);
        } else if (stat(file, &st) != 0) {
            result = complain(file);
        } else if (S_ISREG(st.st_mode) && replay_file(file, (size_t)st.st_size) != 0) {
            result = -1;
        } else if (S_ISDIR(st.st_mode) && choices && depth < MOST_DEPTH &&
                   replay_folder(file, depth + 1) != 0) {
            result = -1;
        }
    }
    closedir(dir);
    return result;
}

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return choices && errno == ENOENT ? 0 : complain(path);
    return S_ISDIR(st.st_mode) ? replay_folder(path, 0) : replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
    static const char option[] = "--choices=";
    int result = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], option, sizeof option - 1) == 0)
            choices = argv[i] + sizeof option - 1;
        else if (replay(argv[i]) != 0)
            result = -1;
    }
    if (n_inputs == 0) {
        fprintf(stderr, "replay: no input\n");
        result = -1;
    }
    fprintf(stderr, "replay: %lu inputs, %lu of them recorded captures\n", n_inputs, n_captures);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
