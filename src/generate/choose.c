/* Chooses values: they follow from the kind and the width of the member. */
#include "generate/choose.h"

#include <string.h>

#include "perfile/encode.h"
#include "schema/command.h"

/* Numbers. */

/* Returns a number of any of `bits` bits: most are small, some are at the ends of the range. */
static uint64_t any_number(pf_maker *m, unsigned bits)
{
    const uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t any = pf_random_next(&m->dice);
    switch (any >> 60) {
    case 0:
        return 0;
    case 1:
        return most;
    case 2:
        return most / 2 + 1;
    case 3:
    case 4:
        return any & most;
    default:
        return any % 1000 & most;
    }
}

/* Returns one of the named values of a kind, each in turn. */
static uint64_t named_value(pf_maker *m, const perfile_vocabulary *v)
{
    return v->words[m->turn++ % v->n].value;
}

/* Returns a word of bit fields with any values in those that are not reserved. */
static uint64_t parts_value(pf_maker *m, const perfile_vocabulary *v, unsigned bits)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        const unsigned width = b->width < 63 ? b->width : 63;
        if (b->name[0] != '_' && b->shift + width <= bits && pf_random_below(&m->dice, 2))
            word |= pf_random_below(&m->dice, UINT64_C(1) << width) << b->shift;
    }
    return word;
}

static uint64_t number_of(pf_maker *m, const pf_member *member)
{
    const unsigned bits = 8 * pf_type_width(member->type);
    const perfile_vocabulary *words = pf_kind_words(member->kind);
    switch (member->kind) {
    case PERFILE_KIND_TIME:
        return m->time += 1 + pf_random_below(&m->dice, 1000);
    case PERFILE_KIND_EVENT_ID:
        return m->ids[pf_random_below(&m->dice, m->n_ids)];
    case PERFILE_KIND_CPU:
    case PERFILE_KIND_BUFFER_INDEX:
    case PERFILE_KIND_THREAD_INDEX:
        return pf_random_below(&m->dice, m->n_cpus);
    case PERFILE_KIND_PID:
    case PERFILE_KIND_TID:
        return 1 + pf_random_below(&m->dice, 50000);
    case PERFILE_KIND_ATTR_INDEX:
        return pf_random_below(&m->dice, m->n_events);
    case PERFILE_KIND_SIZE:
        return pf_random_below(&m->dice, 100);
    case PERFILE_KIND_ADDR:
    case PERFILE_KIND_RANGE:
        return pf_random_below(&m->dice, UINT64_C(1) << 35) << 12 &
               (bits == 64 ? UINT64_MAX : UINT32_MAX);
    default:
        break;
    }
    if (words && words->n && words->words)
        return named_value(m, words);
    if (words && words->n)
        return parts_value(m, words, bits);
    return any_number(m, bits);
}

static void store(uint8_t *to, unsigned type, uint64_t v)
{
    const uint8_t v8 = (uint8_t)v;
    const uint16_t v16 = (uint16_t)v;
    const uint32_t v32 = (uint32_t)v;
    const void *from[] = {[1] = &v8, [2] = &v16, [4] = &v32, [8] = &v};
    memcpy(to, from[pf_type_width(type)], pf_type_width(type));
}

/* Texts, bytes and arrays. */

static perfile_bytes text_of(pf_maker *m, const pf_member *member)
{
    static const char *const words[] = {
        "perf",        "a",     "0-3",        "with space", "quote\"back\\slash",
        "caf\xc3\xa9", "tab\t", "not\xffutf8"};
    /* Long enough that the first word is not taken for the protection of an MMAP2. */
    static const char *const paths[] = {"/usr/lib/x.so", "[kernel.kallsyms]_text", "//anon",
                                        "/tmp/caf\xc3\xa9", "/tmp/\xff"};
    enum { WORDS = sizeof words / sizeof words[0], PATHS = sizeof paths / sizeof paths[0] };
    const char *word = member->kind == PERFILE_KIND_PATH ? paths[pf_random_below(&m->dice, PATHS)]
                       : member->kind == PERFILE_KIND_COMM
                           ? words[pf_random_below(&m->dice, 2)]
                           : words[pf_random_below(&m->dice, WORDS)];
    return (perfile_bytes){(const uint8_t *)word, strlen(word)};
}

static perfile_status bytes_of(pf_maker *m, const pf_member *member, perfile_bytes *bytes,
                               perfile_error *err)
{
    enum { SPARE = 16 /* a caller may make it longer by so many */ };
    void *p;
    size_t n = (size_t)pf_random_below(&m->dice, 40);
    if (member->kind == PERFILE_KIND_BUILD_ID)
        n = 20;
    if (member->kind == PERFILE_KIND_STACK)
        n = 8 + 8 * (size_t)pf_random_below(&m->dice, 8);
    if (member->kind == PERFILE_KIND_RAW) /* with its size, a u32, a multiple of 8 */
        n = 4 + 8 * (n / 8);
    if (strcmp(member->name, "aux") == 0)
        n = n / 8 * 8;
    if (strcmp(member->name, "extra") == 0) /* members that are newer than the tables */
        n = m->attr_size > PF_ATTR_OURS ? m->attr_size - PF_ATTR_OURS : 8;
    if (strcmp(member->name, "tag") == 0) /* of a BPF program: the only bytes of fixed length */
        n = 8;
    perfile_status st = pf_arena_get(&m->arena, n + SPARE, &p, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)p)[i] = (uint8_t)pf_random_next(&m->dice);
    *bytes = (perfile_bytes){p, n};
    return PERFILE_OK;
}

size_t pf_choose_count(pf_maker *m, const pf_member *member, unsigned of)
{
    if (member->kind == PERFILE_KIND_REG && m->layout)
        return (size_t)__builtin_popcountll(of == PF_SHAPE_regs_user ? m->layout->sample_regs_user
                                                                     : m->layout->sample_regs_intr);
    if (member->element == PERFILE_STORED_S32 ||
        (member->type == PERFILE_STORED_LIST && member->of == PF_SHAPE_topology_cpu))
        return m->n_cpus; /* of CPU_TOPOLOGY, an item for each CPU */
    if (member->type == PERFILE_STORED_LIST && member->of == PF_SHAPE_read_entry)
        return m->empty_groups ? 0 : 1 + (size_t)pf_random_below(&m->dice, 3);
    return (size_t)pf_random_below(&m->dice, 4);
}

static perfile_status words_of(pf_maker *m, const pf_step *s, perfile_words *words,
                               perfile_error *err)
{
    const pf_member *member = s->member;
    const size_t n = pf_choose_count(m, member, s->of);
    const pf_member item = {.type = member->element, .kind = member->kind};
    void *p;
    perfile_status st = pf_arena_get(&m->arena, (n + 1) * sizeof(uint64_t), &p, err);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = number_of(m, &item);
        if (member->element == PERFILE_STORED_S32)
            ((int32_t *)p)[i] = (int32_t)pf_random_below(&m->dice, 4);
        else
            ((uint64_t *)p)[i] = v;
    }
    *words =
        member->element == PERFILE_STORED_S32 ? perfile_words_s32(p, n) : perfile_words_u64(p, n);
    return PERFILE_OK;
}

static perfile_status strings_of(pf_maker *m, const pf_step *s, perfile_strings *strings,
                                 perfile_error *err)
{
    const size_t n = pf_choose_count(m, s->member, s->of);
    void *p;
    perfile_status st = pf_arena_get(&m->arena, (n + 1) * sizeof(perfile_bytes), &p, err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        ((perfile_bytes *)p)[i] = text_of(m, s->member);
    *strings = perfile_strings_of(p, n);
    return st;
}

perfile_status pf_choose_value(pf_maker *m, const pf_step *s, perfile_error *err)
{
    switch (s->member->type) {
    case PERFILE_STORED_TEXT:
        *(perfile_bytes *)(void *)s->at = text_of(m, s->member);
        return PERFILE_OK;
    case PERFILE_STORED_BLOB:
        return bytes_of(m, s->member, (perfile_bytes *)(void *)s->at, err);
    case PERFILE_STORED_WORDS:
        return words_of(m, s, (perfile_words *)(void *)s->at, err);
    case PERFILE_STORED_STRINGS:
        return strings_of(m, s, (perfile_strings *)(void *)s->at, err);
    default:
        if (s->member->kind != PERFILE_KIND_COUNT && !(s->member->flags & PERFILE_FIELD_CALC))
            store(s->at, s->member->type, number_of(m, s->member));
        return PERFILE_OK;
    }
}
