/* Any bytes as an ELF file with debug information, read by perfile-symbolizer.  Whatever happens to
 * that program, this process gets an answer or none, in time. */
#define _GNU_SOURCE /* memfd_create() */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ensure.h"
#include "symbol/state.h"

enum {
    RUNS = 64,
    MOST_SECONDS = 4
}; /* inputs per program, which keeps each file open; seconds per input */

static perfile_symbols symbols; /* the part that dwarf.c needs */
static unsigned runs;

static void ask(pf_dwarf *d, uint64_t at)
{
    pf_dwarf_place places[PF_PLACES_MOST];
    const size_t n = pf_dwarf_find(d, at, at & 1, places);
    ENSURE(n <= PF_PLACES_MOST);
    for (size_t i = 0; i < n; i++) {
        ENSURE(!places[i].function || strlen(places[i].function) < PF_PLACE_TEXT);
        ENSURE(!places[i].file || strlen(places[i].file) < PF_PLACE_TEXT);
    }
}

/* Opens the file and asks about addresses at its beginning and some that its bytes contain. */
static void check(int fd, const uint8_t *data, size_t size)
{
    static pf_elf_opened f;
    pf_dwarf *d = NULL;
    f.file = (pf_symfile){.fd = fd, .size = size};
    if (pf_elf_open(&f.elf, &f.file, &symbols.budget) != PERFILE_OK)
        return;
    if (pf_dwarf_open_file(&symbols, &f, &d) == PERFILE_OK && d) {
        for (uint64_t at = 0; at < 0x200; at += 0x25)
            ask(d, at);
        for (unsigned i = 0; i < 4; i++) {
            uint64_t at;
            memcpy(&at, data + size / 4 * i, sizeof at);
            ask(d, at);
        }
    }
    pf_dwarf_close(d);
    pf_elf_close(&f.elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct timespec before, after;
    if (size < 64)
        return 0;
    if (runs % RUNS == 0) {
        if (runs)
            pf_helper_free(&symbols.helper);
        symbols.budget = (pf_budget){.limit = 64 << 20};
        pf_helper_init(&symbols.helper, &symbols.budget);
    }
    runs++;
    symbols.helper.left = 500000000;
    const int fd = memfd_create("dwarf", MFD_CLOEXEC);
    ENSURE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    ENSURE(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
    check(fd, data, size);
    ENSURE(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
    ENSURE(after.tv_sec - before.tv_sec <= MOST_SECONDS);
    close(fd);
    return 0;
}
