/* Any bytes as a capture to mutate, to cross with its mutation, and to repair.  Results are in
 * bounds, and the same when made twice.  A capture that perfile opens is opened after the repair,
 * too; repairing twice is repairing once. */
#include <perfile-fuzz.h>
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"

enum { MOST_MORE = 256 };

static bool opens(const uint8_t *bytes, size_t size)
{
    const perfile_open_options options = {.size = sizeof options, .limits = &small_limits};
    perfile_source *source;
    perfile_stream *s;
    ENSURE(perfile_source_memory((perfile_bytes){bytes, size}, "input", &source, NULL) ==
           PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    perfile_stream_close(s);
    return true;
}

/* A heap block of exactly `room` bytes that begins with a copy of the input, so that each access
 * outside is caught. */
static uint8_t *copy(const uint8_t *bytes, size_t size, size_t room)
{
    uint8_t *block = malloc(room ? room : 1);
    ENSURE(block);
    if (size && room)
        memcpy(block, bytes, size < room ? size : room);
    return block;
}

static void check_repair(const uint8_t *data, size_t size)
{
    uint8_t *once = copy(data, size, size);
    size_t n = perfile_fuzz_repair(once, size, size);
    ENSURE(n <= size);
    ENSURE(!opens(data, size) || opens(once, n));
    uint8_t *twice = copy(once, n, n);
    ENSURE(perfile_fuzz_repair(twice, n, n) == n);
    ENSURE(n == 0 || memcmp(once, twice, n) == 0);
    free(twice);
    free(once);
}

static void check_cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                             size_t room, unsigned seed)
{
    uint8_t *once = copy(NULL, 0, room), *twice = copy(NULL, 0, room);
    size_t n = perfile_fuzz_cross_over(a, a_size, b, b_size, once, room, seed);
    ENSURE(n <= room);
    ENSURE(perfile_fuzz_cross_over(a, a_size, b, b_size, twice, room, seed) == n);
    ENSURE(n == 0 || memcmp(once, twice, n) == 0);
    free(twice);
    free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    unsigned seed = (unsigned)choose(&c, 4);
    size_t room = c.left + (size_t)choose(&c, 1) % MOST_MORE;
    if (c.left && seed % 8 == 0)
        room = c.left / 2; /* what does not fit is cut off */
    uint8_t *in = copy(data, c.left, c.left);
    uint8_t *once = copy(in, c.left, room), *twice = copy(in, c.left, room);
    size_t n = perfile_fuzz_mutate(once, c.left, room, seed);
    ENSURE(n <= room);
    ENSURE(perfile_fuzz_mutate(twice, c.left, room, seed) == n);
    ENSURE(n == 0 || memcmp(once, twice, n) == 0);
    check_cross_over(in, c.left, once, n, room, seed);
    check_cross_over(once, n, in, c.left, room, seed);
    check_repair(in, c.left);
    check_repair(once, n);
    free(twice);
    free(once);
    free(in);
    return 0;
}
