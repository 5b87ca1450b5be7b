/* Any bytes as the zone of a chunk and as the map of a META chunk.  Decoders stay in bounds, and
 * decoded values encode to bytes that decode to the same.  A zone never denies one of its members.
 * A map that is added to another replaces it key by key. */
#include "ensure.h"

#include <string.h>

#include "archive/meta.h"

static perfile_bytes bytes_of(const pf_buffer *b)
{
    return (perfile_bytes){b->ptr, b->len};
}

static void ensure_same(const pf_buffer *a, const pf_buffer *b)
{
    ENSURE(a->len == b->len && (a->len == 0 || memcmp(a->ptr, b->ptr, a->len) == 0));
}

static void check_set(const pf_zone_set *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        ENSURE(i == 0 || s->at[i] > s->at[i - 1]);
        ENSURE(pf_zone_set_has(s, s->at[i]) && pf_zone_set_meets(s, s->at[i], UINT32_MAX));
        ENSURE(!s->known || i == 0 || s->at[i] == s->at[i - 1] + 1 ||
               !pf_zone_set_has(s, s->at[i] - 1));
    }
}

static void check_zone(perfile_bytes input)
{
    static pf_zone z; /* one for all inputs, as for all chunks of an archive */
    pf_buffer once = {0}, twice = {0};
    perfile_error err = {0};
    const perfile_status st = pf_zone_decode(input, &z, &err);
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_CORRUPT && err.message[0]));
    if (st == PERFILE_OK) {
        check_set(&z.tids);
        check_set(&z.pids);
        check_set(&z.cpus);
        for (uint32_t i = 0; i < z.types.n; i++)
            ENSURE(z.types.at[i].key > UINT32_MAX ||
                   pf_zone_has_type(&z, (uint32_t)z.types.at[i].key));
        ENSURE(!z.has_data_times || z.apart == z.records ||
               pf_zone_meets_times(&z, z.data_last, z.data_last));
        ENSURE(pf_zone_encode(&z, &once, NULL) == PERFILE_OK);
        ENSURE(once.len <= 9 * input.len + 9);
        ENSURE(pf_zone_decode(bytes_of(&once), &z, NULL) == PERFILE_OK);
        ENSURE(pf_zone_encode(&z, &twice, NULL) == PERFILE_OK);
        ensure_same(&once, &twice);
    }
    pf_buffer_free(&once);
    pf_buffer_free(&twice);
}

static void check_parts(const pf_meta *m)
{
    for (uint32_t i = 0; i < m->n_parts; i++) {
        const pf_meta_part *p = &m->parts[i];
        ENSURE(pf_meta_part_of(m, p->number) == p);
        ENSURE(!p->name || pf_meta_part_name_is_safe(
                               (perfile_bytes){(const uint8_t *)p->name, strlen(p->name)}));
    }
}

static void check_meta(perfile_bytes input)
{
    static const uint8_t older[] = "\xa2\x64host\x61h\x65parts\xa1\x07\xa1\x64size\x05";
    pf_meta m = {0}, again = {0}, later = {0};
    pf_buffer once = {0}, twice = {0};
    perfile_error err = {0};
    const perfile_status st = pf_meta_decode(input, &m, &err);
    ENSURE(st == PERFILE_OK ||
           ((st == PERFILE_E_CORRUPT || st == PERFILE_E_LIMIT) && err.message[0]));
    check_parts(&m);
    ENSURE(pf_meta_decode((perfile_bytes){older, sizeof older - 1}, &later, NULL) == PERFILE_OK);
    ENSURE(pf_meta_decode(input, &later, NULL) == st);
    if (st == PERFILE_OK) {
        ENSURE(pf_meta_encode(&m, &once, NULL) == PERFILE_OK);
        ENSURE(pf_meta_decode(bytes_of(&once), &again, NULL) == PERFILE_OK);
        ENSURE(pf_meta_encode(&again, &twice, NULL) == PERFILE_OK);
        ensure_same(&once, &twice);
        ENSURE(m.host ? strcmp(later.host, m.host) == 0 : strcmp(later.host, "h") == 0);
        ENSURE(pf_meta_part_of(&later, 7)->has_size);
        ENSURE(later.n_parts == m.n_parts + !pf_meta_part_of(&m, 7));
    } else {
        ENSURE(m.n_parts == 0 && !m.creator && !m.has_events);
        ENSURE(strcmp(later.host, "h") == 0 && later.n_parts == 1 && later.parts[0].size == 5);
    }
    check_parts(&later);
    pf_meta_clear(&m);
    pf_meta_clear(&again);
    pf_meta_clear(&later);
    pf_buffer_free(&once);
    pf_buffer_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const perfile_bytes input = {data, size};
    check_zone(input);
    check_meta(input);
    return 0;
}
