/* Every prefix and every damaged byte of small perfmon buffers (those of samples/captures) through
 * all operations: tests/perfmon_laws.h has what must hold, among it that every whole record in
 * front of the damage is read.
 *
 * Where $PERFILE_CASES is set, as under sanitizers, one of so many is tried, others each time;
 * $PERFILE_SEED takes those of another run again, and an argument tries all. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "perfmon_laws.h"

enum { MOST = 4096 };

static size_t load(const char *name, uint8_t *bytes)
{
    const char *home = getenv("PERFILE_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/captures/%s", home ? home : ".", name);
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(bytes, 1, MOST, f) : 0;
    if (f)
        fclose(f);
    if (n == 0 || n == MOST) {
        fprintf(stderr, "%s: cannot be read, or is too long\n", path);
        exit(1);
    }
    return n;
}

static unsigned long cases = 1, turn;

static void choose_cases(void)
{
    const char *text = getenv("PERFILE_CASES"), *again = getenv("PERFILE_SEED");
    cases = text ? strtoul(text, NULL, 10) : 1;
    cases = cases ? cases : 1;
    turn = (again ? strtoul(again, NULL, 10) : (unsigned long)time(NULL)) % cases;
    if (cases > 1)
        printf("one case of %lu, PERFILE_SEED=%lu\n", cases, turn);
}

/* In a block of its own size: who reads behind it is caught. */
static void check(const uint8_t *bytes, size_t n, uint64_t chosen)
{
    if (++turn % cases != 0)
        return;
    uint8_t *block = malloc(n ? n : 1);
    ENSURE(block);
    if (n)
        memcpy(block, bytes, n);
    perfmon_laws((perfile_bytes){block, n}, chosen, PERFMON_LAWS);
    free(block);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1)
        choose_cases();
    static const char *const names[] = {"perfmon-all.cpuperf", "perfmon-sampling.cpuperf",
                                        "perfmon-counting.cpuperf", "perfmon-totals.cpuperf"};
    uint8_t bytes[MOST];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t n = load(names[i], bytes);
        uint64_t damages = 0;
        for (size_t k = 0; k <= n; k++)
            check(bytes, k, damages++);
        for (size_t at = 0; at < n; at++) {
            const uint8_t good = bytes[at];
            const uint8_t bad[] = {0, 0xff, good ^ 1, good ^ 0x80};
            for (size_t k = 0; k < sizeof bad; k++, damages++) {
                bytes[at] = bad[k];
                check(bytes, n, damages);
            }
            bytes[at] = good;
        }
        printf("%s: %zu bytes, %" PRIu64 " damages\n", names[i], n, damages);
    }
    return 0;
}
