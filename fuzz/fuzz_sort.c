/* Any bytes, sorted.  Every readable record comes out once, and none is earlier than the one before
 * it.  A reader that takes samples as bytes gets the same. */
#include <string.h>

#include "../tests/sorted.h"
#include "core/stream.h"
#include "ensure.h"
#include "limits.h"
#include "schema/rows.h"

static perfile_stream *open_bytes(perfile_bytes bytes, uint32_t on_damage)
{
    perfile_open_options options = {
        .size = sizeof options, .on_damage = on_damage, .limits = &small_limits};
    perfile_source *source;
    perfile_stream *s;
    ENSURE(perfile_source_memory(bytes, "input", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) == PERFILE_OK)
        return s;
    perfile_source_close(source);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *block = malloc(size ? size : 1);
    ENSURE(block);
    if (size)
        memcpy(block, data, size);
    uint32_t on_damage = PERFILE_ON_DAMAGE_STOP + (size ? data[size - 1] % 3U : 0);
    perfile_bytes bytes = {block, size};
    sorted_bag in = {0}, out = {0};
    /* Fragments have the time that was known when they came, even if their event is described after
     * them. */
    sorted_state state = {.no_wholes = true};
    perfile_sort_options options = {.size = sizeof options,
                                    .max_memory = PERFILE_SORT_LEAST_MEMORY};
    perfile_stream *s = open_bytes(bytes, on_damage);
    perfile_status plain = s ? sorted_read(s, &in, NULL) : PERFILE_END;
    perfile_stream_close(s);
    s = open_bytes(bytes, on_damage);
    if (s) {
        ENSURE(perfile_sort(s, &options, &s, NULL) == PERFILE_OK);
        perfile_status st = sorted_read(s, &out, &state);
        ENSURE(st == plain);
        if (st == PERFILE_END) {
            ENSURE(state.steps_back == 0);
            ENSURE(memcmp(&in, &out, sizeof in) == 0);
        }
        perfile_stream_close(s);
    }
    free(block);
    return 0;
}
