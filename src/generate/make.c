/* Fills structs with values; see make.h.
 *
 * A value is given, or chosen (choose.c).  Conditions of the tables are C
 * expressions, so their values cannot be computed here.  They are chosen at random; the encoder
 * says which of them is wrong, and the struct is made again with the other value
 * (pf_make_change()). */
#include "generate/choose.h"

#include <string.h>

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

static perfile_status list_of(pf_maker *m, const pf_step *s, perfile_list *list, perfile_error *err)
{
    const size_t width = pf_struct_shapes[s->member->of].size;
    size_t n = pf_choose_count(m, s->member, s->of);
    void *p;
    if (m->given && pf_given_items(m->given, &m->place, s->member->name, &n))
        given_of(m, s->member);
    perfile_status st = pf_arena_get(&m->arena, (n + 1) * width, &p, err);
    *list = (perfile_list){.bytes = {p, n * width}, .n = n, .given = n ? (uint32_t)width : 0};
    return st;
}

static perfile_status value_of(pf_maker *m, const pf_step *s, perfile_error *err)
{
    const pf_given_member *given = given_of(m, s->member);
    return given ? pf_given_store(given, m->given->line, s->member, &m->arena, s->at, err)
                 : pf_choose_value(m, s, err);
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
