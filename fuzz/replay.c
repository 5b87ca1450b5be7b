/* main() for a fuzz target without libFuzzer: runs it on each file named, and on each file of each
 * folder named (one level).  An input that cannot be read, and no input at all, are failures: a
 * replay that never reached its inputs proves nothing. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long n_inputs;

static int complain(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return -1;
}

/* The input is a heap block of exactly its size, so that an overread is caught. */
static int replay_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return complain(path);

    uint8_t *data = malloc(size ? size : 1);
    size_t got = data ? fread(data, 1, size, f) : 0;
    int result = 0;
    if (!data || got != size) {
        result = complain(path);
    } else {
        n_inputs++;
        /* Named before the run: after a crash the last line is the culprit. */
        fprintf(stderr, "replay: %s (%zu bytes)\n", path, size);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    fclose(f);
    return result;
}

static int replay_folder(const char *path)
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
        }
    }
    closedir(dir);
    return result;
}

int main(int argc, char **argv)
{
    int result = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0) {
            result = complain(argv[i]);
            continue;
        }
        int one =
            S_ISDIR(st.st_mode) ? replay_folder(argv[i]) : replay_file(argv[i], (size_t)st.st_size);
        if (one != 0)
            result = one;
    }
    if (n_inputs == 0) {
        fprintf(stderr, "replay: no input\n");
        result = -1;
    }
    fprintf(stderr, "replay: %lu inputs\n", n_inputs);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
