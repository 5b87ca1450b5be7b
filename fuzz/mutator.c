/* The mutator of libperfile-fuzz for the targets whose inputs are captures with choices after them:
 * the capture is mutated by it, the choices by libFuzzer.  CHOICES is the number of their bytes.
 * With PERFILE_FUZZ_PLAIN in the environment libFuzzer mutates everything, to compare what either
 * finds. */
#include <perfile-fuzz.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 64 };

_Static_assert(CHOICES <= MOST_CHOICES, "room for the choices");

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_out, unsigned seed);

static bool is_plain(void)
{
    static int plain = -1;
    if (plain < 0)
        plain = getenv("PERFILE_FUZZ_PLAIN") != NULL;
    return plain;
}

static size_t captured(size_t size)
{
    return size > CHOICES ? size - CHOICES : 0;
}

/* Of sixteen mutations, four are libFuzzer's, which know the values that the target compared with,
 * and one of the choices only. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint8_t tail[MOST_CHOICES + 1];
    size_t n = captured(size);
    if (is_plain() || n == 0 || max_size < size || seed % 4 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (CHOICES && seed % 16 == 1) {
        (void)LLVMFuzzerMutate(data + n, CHOICES, CHOICES);
        return size;
    }
    memcpy(tail, data + n, CHOICES);
    n = perfile_fuzz_mutate(data, n, max_size - CHOICES, seed);
    memcpy(data + n, tail, CHOICES);
    return n + CHOICES;
}

/* Returns 0 for no result: libFuzzer then tries something else, at last its own cross-over. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_out, unsigned seed)
{
    if (is_plain() || captured(a_size) == 0 || captured(b_size) == 0 || max_out <= CHOICES)
        return 0;
    size_t n = perfile_fuzz_cross_over(a, captured(a_size), b, captured(b_size), out,
                                       max_out - CHOICES, seed);
    memcpy(out + n, a + a_size - CHOICES, CHOICES);
    return n + CHOICES;
}
