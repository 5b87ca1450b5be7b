/* Mutates captures for fuzz tests of programs that read perf.data.
 *
 * A fuzzer that knows no format changes bytes, and most of its inputs end at a size or an offset
 * that no longer fits.  These functions know the format by the tables of libperfile: they change
 * fields to values that are interesting for their kind, insert, duplicate, remove, swap and resize
 * records, add and drop features, and keep the rest readable.  They work on captures in the form of
 * a file or of a pipe, of both byte orders; from other bytes they make other bytes.
 *
 * They are in a library of their own, libperfile-fuzz.a, which needs libperfile:
 *
 *     target_link_libraries(program PRIVATE perfile::fuzz perfile::perfile)
 *     cc program.c -lperfile-fuzz $(pkg-config --cflags --libs perfile)
 *
 * share/perfile/fuzz/ has a dictionary (perfile.dict) and small captures (seeds/) to begin with.
 *
 * For libFuzzer, one file of the target defines PERFILE_FUZZ_LIBFUZZER before it includes this
 * header: then the header defines LLVMFuzzerCustomMutator() and LLVMFuzzerCustomCrossOver().  For
 * AFL++, a file that is compiled to a shared library (AFL_CUSTOM_MUTATOR_LIBRARY) defines
 * PERFILE_FUZZ_AFL: then the header defines afl_custom_init(), afl_custom_fuzz(),
 * afl_custom_post_process() and afl_custom_deinit().  No header of either fuzzer is needed.
 *
 * What holds for all functions:
 *
 * - Any bytes may be given.  Nothing outside of the given bytes is read, and nothing outside of the
 *   given room is written.  No function fails: what cannot be done is left out.
 * - The same bytes, sizes and seed give the same bytes on each machine, with the same version of
 *   the library.  There is no state between calls.  Different threads may call at the same time, on
 *   different buffers.
 * - The caller owns all buffers.  Nothing is kept after a call.
 * - Time is at most proportional to the size of the input.  perfile_fuzz_mutate() opens the
 *   capture to know its events, with at most 16 MiB of memory for these; the others allocate
 *   nothing. */
#ifndef PERFILE_FUZZ_H
#define PERFILE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes the `size` bytes of a capture at `data`, in place, by one to four mutations chosen by
 * `seed`.  There is room for `max_size` bytes; if `size` is more, the rest is cut off.  Bytes from
 * `size` to `max_size` need not be initialized.  Returns the new size in bytes, at most
 * `max_size`.
 *
 * About one mutation in ten takes bytes whatever they mean.  Most results can still be opened, many
 * have a damaged record. */
size_t perfile_fuzz_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Makes a capture of two others: a copy of `a` at `out`, in which 1 to 16 records that follow each
 * other in `b` are between the records of `a`, or in place of some of them.  If the byte orders
 * differ, the headers of these records are exchanged and their bodies are not.  If one of the
 * captures has no record, or there is no room, the result is the beginning of `a` and the end of
 * `b`.
 *
 * `out` has room for `max_out` bytes and overlaps neither `a` nor `b`.  Returns the bytes written,
 * at most `max_out`. */
size_t perfile_fuzz_cross_over(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                               uint8_t *out, size_t max_out, unsigned seed);

/* Makes the outer structure of a capture agree with the bytes that are there, after a mutation that
 * did not know of it: a magic that is not known, the size of the header, sections that end after
 * the file (they are cut), the size of attrs, records that end after their section, features that
 * the table has no room for.  Contents are not changed, and nothing is changed that agrees:
 * repairing twice gives the bytes of repairing once.  Bytes that do not look like a capture stay as
 * they are.
 *
 * Works in place on `size` bytes at `data`; there is room for `max_size` bytes.  Returns the new
 * size, which is the smaller of the two. */
size_t perfile_fuzz_repair(uint8_t *data, size_t size, size_t max_size);

#ifdef __cplusplus
}
#endif

#ifdef PERFILE_FUZZ_LIBFUZZER

#ifdef __cplusplus
extern "C" {
#endif

/* Provided by libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_out, unsigned seed);

/* One mutation in four is one of libFuzzer's, which know values that the target compared with, and
 * the dictionary.  Half of these are repaired. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t n;
    if (seed % 4 != 0)
        return perfile_fuzz_mutate(data, size, max_size, seed);
    n = LLVMFuzzerMutate(data, size, max_size);
    return seed % 8 ? perfile_fuzz_repair(data, n, max_size) : n;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t max_out, unsigned seed)
{
    return perfile_fuzz_cross_over(a, a_size, b, b_size, out, max_out, seed);
}

#ifdef __cplusplus
}
#endif

#endif

#ifdef PERFILE_FUZZ_AFL

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that grow. */
typedef struct perfile_fuzz_bytes {
    uint8_t *at;
    size_t room;
} perfile_fuzz_bytes;

/* What AFL++ passes from call to call: results, which have to be there until the next call of the
 * same function, and the seed of the next mutation. */
typedef struct perfile_fuzz_afl {
    perfile_fuzz_bytes mutated, repaired;
    unsigned seed;
} perfile_fuzz_afl;

void *afl_custom_init(void *afl, unsigned seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t max_size);
size_t afl_custom_post_process(void *data, uint8_t *bytes, size_t size, uint8_t **out);

/* Returns NULL if there is no memory. */
void *afl_custom_init(void *afl, unsigned seed)
{
    perfile_fuzz_afl *state = (perfile_fuzz_afl *)calloc(1, sizeof *state);
    (void)afl;
    if (state)
        state->seed = seed;
    return state;
}

void afl_custom_deinit(void *data)
{
    perfile_fuzz_afl *state = (perfile_fuzz_afl *)data;
    if (state) {
        free(state->mutated.at);
        free(state->repaired.at);
    }
    free(state);
}

/* Makes a copy with room for `room` bytes, at least `size`; returns NULL if there is no memory. */
static uint8_t *perfile_fuzz_copy(perfile_fuzz_bytes *to, const uint8_t *bytes, size_t size,
                                  size_t room)
{
    if (!to->at || room > to->room) {
        uint8_t *more = (uint8_t *)realloc(to->at, room ? room : 1);
        if (!more)
            return NULL;
        to->at = more;
        to->room = room;
    }
    if (size)
        memcpy(to->at, bytes, size);
    return to->at;
}

/* One input in eight is a cross-over with another of the queue.  Returns 0, which AFL++ skips, if
 * there is no memory. */
size_t afl_custom_fuzz(void *data, uint8_t *bytes, size_t size, uint8_t **out, uint8_t *other,
                       size_t other_size, size_t max_size)
{
    perfile_fuzz_afl *state = (perfile_fuzz_afl *)data;
    unsigned seed = state->seed++;
    size = size < max_size ? size : max_size;
    *out = perfile_fuzz_copy(&state->mutated, bytes, size, max_size);
    if (!*out)
        return 0;
    if (other && other_size && seed % 8 == 0)
        return perfile_fuzz_cross_over(bytes, size, other, other_size, *out, max_size, seed);
    return perfile_fuzz_mutate(*out, size, max_size, seed);
}

/* The target sees the repaired input, and the queue keeps the one before. */
size_t afl_custom_post_process(void *data, uint8_t *bytes, size_t size, uint8_t **out)
{
    perfile_fuzz_afl *state = (perfile_fuzz_afl *)data;
    *out = perfile_fuzz_copy(&state->repaired, bytes, size, size);
    if (*out)
        return perfile_fuzz_repair(*out, size, size);
    *out = bytes;
    return size;
}

#ifdef __cplusplus
}
#endif

#endif

#endif
