/* Fills structs with values; see make.h.
 *
 * A value follows from the kind and the width of its member.  Conditions of the tables are C
 * expressions, so their values cannot be computed here.  They are chosen at random; the encoder
 * says which of them is wrong, and the struct is made again with the other value
 * (pf_make_change()). */
#include "generate/make.h"

#include <string.h>

#include "perfile/encode.h"
#include "schema/command.h"

/* Returns a name of the shape as the encoder has it in errors. */
static const char *shape_name(const pf_row_shape *outer, unsigned of)
{
    return of < PF_N_SHAPES ? pf_struct_shapes[of].name : outer->name;
}

bool pf_make_change(pf_maker *m, const char *where)
{
    for (unsigned i = 0; i < m->n_conditions; i++) {
        pf_made_condition *c = &m->conditions[i];
        const size_t n = strlen(c->shape);
        if (strncmp(where, c->shape, n) == 0 && where[n] == '.' &&
            strcmp(where + n + 1, c->member) == 0) {
            c->value = !c->value;
            c->forced = true;
            return true;
        }
    }
    return false;
}

/* Returns the condition; a new one at its first use, NULL if there are too many. */
static pf_made_condition *condition_of(pf_maker *m, const char *shape, const char *member)
{
    for (unsigned i = 0; i < m->n_conditions; i++)
        if (m->conditions[i].shape == shape && m->conditions[i].member == member)
            return &m->conditions[i];
    if (m->n_conditions == PF_MADE_CONDITIONS)
        return NULL;
    pf_made_condition *c = &m->conditions[m->n_conditions++];
    *c = (pf_made_condition){.shape = shape, .member = member};
    return c;
}

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

/* Returns the member of the statement that is given for `member` at this place, and notes that it
 * is used; NULL if its value is to be chosen. */
static const pf_given_member *given_of(pf_maker *m, const pf_member *member)
{
    const int at = m->given ? pf_given_find(m->given, &m->place, member->name) : -1;
    if (at < 0)
        return NULL;
    m->used[at / 64] |= UINT64_C(1) << at % 64;
    return &m->given->at[at];
}

/* Returns how many items an array has. */
static size_t count_of(pf_maker *m, const pf_member *member, unsigned of)
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
    const size_t n = count_of(m, member, s->of);
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
    const size_t n = count_of(m, s->member, s->of);
    void *p;
    perfile_status st = pf_arena_get(&m->arena, (n + 1) * sizeof(perfile_bytes), &p, err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        ((perfile_bytes *)p)[i] = text_of(m, s->member);
    *strings = perfile_strings_of(p, n);
    return st;
}

static perfile_status list_of(pf_maker *m, const pf_step *s, perfile_list *list, perfile_error *err)
{
    const size_t width = pf_struct_shapes[s->member->of].size;
    size_t n = count_of(m, s->member, s->of);
    void *p;
    if (m->given && pf_given_items(m->given, &m->place, s->member->name, &n))
        given_of(m, s->member);
    perfile_status st = pf_arena_get(&m->arena, (n + 1) * width, &p, err);
    *list = (perfile_list){.bytes = {p, n * width}, .n = n, .given = n ? (uint32_t)width : 0};
    return st;
}

static perfile_status value_of(pf_maker *m, const pf_step *s, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    const pf_given_member *given = given_of(m, s->member);
    if (given)
        return pf_given_store(given, m->given->line, s->member, &m->arena, s->at, err);
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
        return st;
    }
}

/* Values that depend on other members of the struct. */

enum { CLOCKID_END = 96 /* bytes of the shortest attr that has `clockid` */ };

static void finish_attr(const pf_maker *m, perfile_attr *a)
{
    const uint64_t has_clock = UINT64_C(1) << PERFILE_ATTR_BIT_USE_CLOCKID;
    const bool reaches = m->attr_size >= CLOCKID_END;
    a->size = m->attr_size;
    a->flags = m->has_clock && reaches ? a->flags | has_clock : a->flags & ~has_clock;
    a->clockid = m->has_clock && reaches ? m->clock : 0;
    const uint64_t often = a->sample_freq | a->sample_period;
    const uint32_t wakeup = a->wakeup_watermark | a->wakeup_events;
    a->is_freq = a->flags >> PERFILE_ATTR_BIT_FREQ & 1;
    a->is_watermark = a->flags >> PERFILE_ATTR_BIT_WATERMARK & 1;
    a->sample_freq = a->is_freq ? often : 0;
    a->sample_period = a->is_freq ? 0 : often;
    a->wakeup_watermark = a->is_watermark ? wakeup : 0;
    a->wakeup_events = a->is_watermark ? 0 : wakeup;
}

/* Computes what the table computes from other members (CALC), and makes numbers that have to agree
 * with others do so. */
static void finish_struct(pf_maker *m, unsigned of, uint8_t *base)
{
    perfile_weight *weight = (perfile_weight *)(void *)base;
    perfile_regs_user *user = (perfile_regs_user *)(void *)base;
    perfile_regs_intr *intr = (perfile_regs_intr *)(void *)base;
    perfile_cpu_map_data *map = (perfile_cpu_map_data *)(void *)base;
    perfile_mem_node *node = (perfile_mem_node *)(void *)base;
    perfile_stack_user *stack = (perfile_stack_user *)(void *)base;
    perfile_bpf_prog_info_entry *program = (perfile_bpf_prog_info_entry *)(void *)base;
    perfile_bpf_btf_entry *btf = (perfile_bpf_btf_entry *)(void *)base;
    switch (of) {
    case PF_SHAPE_stack_user:
        stack->size = stack->data.len;
        stack->dyn_size = stack->has_data ? pf_random_below(&m->dice, stack->data.len + 1) : 0;
        break;
    case PF_SHAPE_bpf_prog_info_entry:
        program->info_len = (uint32_t)program->info.len;
        program->data_len = (uint32_t)program->data.len;
        break;
    case PF_SHAPE_group_desc_entry:
        ((perfile_group_desc_entry *)(void *)base)->nr_members = 1;
        break;
    case PF_SHAPE_bpf_btf_entry:
        btf->data_size = (uint32_t)btf->data.len;
        break;
    case PF_SHAPE_weight:
        weight->word = weight->has_full ? 0
                       : m->given       ? weight->var1_dw | (uint64_t)weight->var2_w << 32 |
                                        (uint64_t)weight->var3_w << 48
                                  : pf_random_next(&m->dice);
        weight->var1_dw = (uint32_t)weight->word;
        weight->var2_w = (uint16_t)(weight->word >> 32);
        weight->var3_w = (uint16_t)(weight->word >> 48);
        break;
    case PF_SHAPE_regs_user:
        user->mask = user->has_regs && m->layout ? m->layout->sample_regs_user : 0;
        break;
    case PF_SHAPE_regs_intr:
        intr->mask = intr->has_regs && m->layout ? m->layout->sample_regs_intr : 0;
        break;
    case PF_SHAPE_cpu_map_data:
        map->long_size = map->is_mask ? 8 : 0;
        if (map->end_cpu < map->start_cpu)
            map->end_cpu = map->start_cpu;
        break;
    case PF_SHAPE_mem_node:
        node->nbits = 64 * node->bitmap.n;
        break;
    case PF_SHAPE_attr:
        finish_attr(m, (perfile_attr *)(void *)base);
        break;
    default:
        break;
    }
}

/* Decides a condition.  Bits of `present` are given by the event.  Members that are newer than the
 * tables (has_extra) are made only where the encoder demands them. */
static void decide(pf_maker *m, const pf_row_shape *outer, const pf_step *s)
{
    if (s->member->what == PF_MEMBER_SAMPLE) {
        memcpy(s->at, &m->present, sizeof m->present);
        return;
    }
    bool rolled = pf_random_below(&m->dice, 2) && strcmp(s->member->name, "has_extra") != 0;
    pf_made_condition *c = condition_of(m, shape_name(outer, s->of), s->member->name);
    const bool decided = m->given && pf_given_decides(m->given, &m->place, s->member, &rolled);
    if (c && (decided || !c->forced))
        c->value = rolled;
    *s->at = c ? c->value : rolled;
}

perfile_status pf_make(pf_maker *m, const pf_row_shape *shape, unsigned of, void *out,
                       perfile_error *err)
{
    pf_members visit;
    pf_step s;
    perfile_status st = PERFILE_OK;
    const pf_place place = m->place;
    pf_members_begin(&visit, shape, of, out);
    while (st == PERFILE_OK && pf_members_next(&visit, &s)) {
        switch (s.what) {
        case PF_STEP_CONDITION:
            decide(m, shape, &s);
            break;
        case PF_STEP_VALUE:
            st = value_of(m, &s, err);
            break;
        case PF_STEP_LIST:
            st = list_of(m, &s, (perfile_list *)(void *)s.at, err);
            break;
        case PF_STEP_ITEM_END:
        case PF_STEP_STRUCT_END:
            finish_struct(m, s.of, s.base);
            break;
        default:
            break;
        }
        if (m->given)
            pf_place_step(&m->place, &s);
    }
    m->place = place;
    if (st == PERFILE_OK)
        finish_struct(m, of, out);
    return st;
}

/* Fails if a given id is not of the event of the record: a reader would find another event. */
static perfile_status check_id(const pf_maker *m, const pf_given_member *given, const pf_step *s,
                               perfile_error *err)
{
    uint64_t id;
    if (s->member->kind != PERFILE_KIND_EVENT_ID || !m->layout ||
        pf_type_width(s->member->type) != 8)
        return PERFILE_OK;
    memcpy(&id, s->at, sizeof id);
    for (uint32_t i = 0; i < m->n_ids; i++)
        if (m->ids[i] == id)
            return PERFILE_OK;
    return pf_spec_fail(m->given->line, err, "%.60s: %.40s is not an id of the event", given->path,
                        given->value);
}

perfile_status pf_make_given(pf_maker *m, const pf_row_shape *shape, unsigned of, void *out,
                             perfile_error *err)
{
    pf_members visit;
    pf_step s;
    perfile_status st = PERFILE_OK;
    const pf_place place = m->place;
    pf_members_begin(&visit, shape, of, out);
    while (st == PERFILE_OK && pf_members_next(&visit, &s)) {
        const pf_given_member *given =
            s.what == PF_STEP_VALUE || s.what == PF_STEP_LIST ? given_of(m, s.member) : NULL;
        if (given)
            st = pf_given_store(given, m->given->line, s.member, &m->arena, s.at, err);
        if (given && st == PERFILE_OK)
            st = check_id(m, given, &s, err);
        pf_place_step(&m->place, &s);
    }
    m->place = place;
    return st;
}
