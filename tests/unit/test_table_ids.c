/* Ids of content are those of format/tables.md, whose vectors another program computed
 * (tests/interop/xxh3.py). */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfile/perfile.h"
#include "profile/profile.h"
#include "tables/tables.h"

enum { MOST = 1024 };

/* The words of a vector, and its id. */
typedef struct vector {
    char what[16], of[MOST], id[64];
} vector;

/* Reads a row "| what | `words` | `id` |". */
static bool read_vector(const char *line, vector *v)
{
    return sscanf(line, "| %15[a-z] | `%1023[^`]` | `%63[^`]` |", v->what, v->of, v->id) == 3;
}

static int64_t module_of(const char *of)
{
    uint8_t build_id[MOST / 2];
    size_t n = 0;
    unsigned byte;
    if (strncmp(of, "path ", 5) == 0)
        return pf_id_of_module((perfile_bytes){0}, of + 5);
    assert_int_equal(strncmp(of, "build_id ", 9), 0);
    for (of += 9; sscanf(of, "%2x", &byte) == 1; of += 2)
        build_id[n++] = (uint8_t)byte;
    return pf_id_of_module((perfile_bytes){build_id, n}, "not this");
}

static unsigned code_of(const char *mode)
{
    static const char *const words[] = {[PF_CODE_UNKNOWN] = "unknown",
                                        [PF_CODE_USER] = "user",
                                        [PF_CODE_JIT] = "jit",
                                        [PF_CODE_KERNEL] = "kernel"};
    unsigned code = 0;
    while (code < sizeof words / sizeof words[0] && strcmp(words[code], mode) != 0)
        code++;
    return code;
}

static int64_t frame_of(const char *of)
{
    int64_t module;
    uint64_t offset;
    unsigned depth;
    char mode[16], function[64];
    const int n = sscanf(of, "%" SCNd64 " %" SCNx64 " %15s %u %63s", &module, &offset, mode, &depth,
                         function);
    assert_true(n >= 4);
    return pf_id_of_frame(module, offset, code_of(mode), depth, n == 5 ? function : NULL);
}

static int64_t stack_of(char *of)
{
    int64_t id = 0;
    char *at;
    while ((at = strrchr(of, ' '))) {
        id = pf_id_of_stack(id, strtoll(at, NULL, 10));
        *at = '\0';
    }
    return pf_id_of_stack(id, strtoll(of, NULL, 10));
}

static void capture_of(const char *of, char hex[33])
{
    static uint8_t bytes[256 * 64];
    const size_t n = strtoul(of, NULL, 10) * 256;
    assert_true(n <= sizeof bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)i;
    perfile_source *source = NULL;
    assert_int_equal(perfile_source_memory((perfile_bytes){bytes, n}, "", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(pf_id_of_source(source, hex, NULL), PERFILE_OK);
    perfile_source_close(source);
}

static void check(vector *v)
{
    char id[64];
    int64_t number = 0;
    if (strcmp(v->what, "capture") == 0)
        capture_of(v->of, id);
    else if (strcmp(v->what, "module") == 0)
        number = module_of(v->of);
    else if (strcmp(v->what, "frame") == 0)
        number = frame_of(v->of);
    else
        number = stack_of(v->of);
    if (strcmp(v->what, "capture") != 0)
        snprintf(id, sizeof id, "%" PRId64, number);
    assert_string_equal(id, v->id);
}

static void vectors_of_the_page(void **state)
{
    char path[4096], line[4096];
    vector v;
    unsigned n = 0;
    (void)state;
    const char *source = getenv("PERFILE_SOURCE");
    snprintf(path, sizeof path, "%s/format/tables.md", source ? source : ".");
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    while (fgets(line, sizeof line, page))
        if (read_vector(line, &v)) {
            check(&v);
            n++;
        }
    fclose(page);
    assert_true(n >= 16);
}

static void ids_of_nothing(void **state)
{
    (void)state;
    char hex[33];
    capture_of("0", hex); /* of no bytes: it is one all the same */
    assert_int_equal(strlen(hex), 32);
    assert_true(pf_id_of_frame(0, 1, PF_CODE_USER, 1, NULL) !=
                pf_id_of_frame(0, 1, PF_CODE_USER, 0, NULL));
    assert_true(pf_id_of_stack(pf_id_of_stack(0, 1), 2) != pf_id_of_stack(pf_id_of_stack(0, 2), 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_page),
        cmocka_unit_test(ids_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
