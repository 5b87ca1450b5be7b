/* A fuzz target for a reader of perf.data that is not perfile, with captures that
 * libperfile-fuzz mutates.
 *
 *     clang -g -fsanitize=fuzzer,address -DWITH_LIBFUZZER fuzz_a_reader.c -lperfile-fuzz \
 *         $(pkg-config --cflags --libs perfile) -o fuzz_a_reader
 *     mkdir -p corpus
 *     ./fuzz_a_reader -dict=/usr/share/perfile/fuzz/perfile.dict \
 *         corpus /usr/share/perfile/fuzz/seeds
 *
 * Put your reader in place of read_capture().  Without libFuzzer this is a program that mutates
 * each FILE some thousand times:
 *
 *     fuzz_a_reader FILE ... */
#ifdef WITH_LIBFUZZER
#define PERFILE_FUZZ_LIBFUZZER
#endif
#include <perfile-fuzz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20, ROUNDS = 2000 };

/* A naive reader: counts the records of a file in the byte order of this machine.  Leave out one of
 * its comparisons, and the fuzzer finds a crash. */
static size_t count_records(const uint8_t *data, size_t size)
{
    uint64_t at, left;
    size_t n = 0;
    if (size < 104 || memcmp(data, "PERFILE2", 8) != 0)
        return 0;
    memcpy(&at, data + 40, sizeof at);
    memcpy(&left, data + 48, sizeof left);
    if (at > size || left > size - at)
        return 0;
    for (uint16_t bytes; left >= 8; n++, at += bytes, left -= bytes) {
        memcpy(&bytes, data + at + 6, sizeof bytes);
        if (bytes < 8 || bytes > left)
            break;
    }
    return n;
}

static size_t (*const read_capture)(const uint8_t *data, size_t size) = count_records;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)read_capture(data, size);
    return 0;
}

#ifndef WITH_LIBFUZZER
static uint8_t seed_bytes[ROOM], bytes[ROOM];

/* The input of the reader is a heap block of exactly its size, so that AddressSanitizer or valgrind
 * see each byte that is read after its end. */
static int try_once(size_t size)
{
    uint8_t *block = malloc(size ? size : 1);
    if (!block)
        return -1;
    memcpy(block, bytes, size);
    LLVMFuzzerTestOneInput(block, size);
    free(block);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long n = 0;
    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: fuzz_a_reader FILE ...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return EXIT_FAILURE;
        }
        size_t size = fread(seed_bytes, 1, sizeof seed_bytes, f);
        fclose(f);
        for (unsigned seed = 0; seed < ROUNDS; seed++, n++) {
            memcpy(bytes, seed_bytes, size);
            if (try_once(perfile_fuzz_mutate(bytes, size, sizeof bytes, seed)) != 0)
                return EXIT_FAILURE;
        }
    }
    printf("%lu mutated captures\n", n);
    return EXIT_SUCCESS;
}
#endif
