/* The tables of a profile (see profile.h), and the objects of mappings. */
#include "profile/profile.h"

#include <string.h>

#include "base/error.h"

/* Makes all tables empty. */
static bool init_tables(pf_profile *p, uint64_t seed)
{
    const struct {
        pf_intern *table;
        size_t width, key;
    } tables[] = {
        {&p->objects, sizeof(pf_object), offsetof(pf_object, first)},
        {&p->functions, sizeof(pf_function), offsetof(pf_function, mangled)},
        {&p->frames, sizeof(pf_call_frame), offsetof(pf_call_frame, function)},
        {&p->stacks, sizeof(pf_call_stack), sizeof(pf_call_stack)},
        {&p->labels, sizeof(pf_label), sizeof(pf_label)},
        {&p->sums, sizeof(pf_sum), offsetof(pf_sum, samples)},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        *tables[i].table = (pf_intern){
            .seed = seed, .budget = &p->budget, .width = tables[i].width, .key = tables[i].key};
    p->last_label_number = PF_INTERN_NONE;
    memset(p->recent, 0, sizeof p->recent);
    /* Number 0 is the empty stack.  No other stack has its key, because PF_INTERN_NONE is not a
     * frame. */
    const pf_call_stack empty = {PF_EMPTY_STACK, PF_INTERN_NONE};
    return pf_intern_add(&p->stacks, &empty) == PF_EMPTY_STACK;
}

bool pf_profile_init(pf_profile *p, uint64_t limit)
{
    const uint64_t seed = pf_index_seed(p);
    *p = (pf_profile){.budget.limit = limit};
    p->texts = (pf_texts){.seed = seed, .budget = &p->budget};
    return init_tables(p, seed);
}

static void free_tables(pf_profile *p)
{
    pf_intern_free(&p->objects);
    pf_intern_free(&p->functions);
    pf_intern_free(&p->frames);
    pf_intern_free(&p->stacks);
    pf_intern_free(&p->labels);
    pf_intern_free(&p->sums);
}

void pf_profile_free(pf_profile *p)
{
    pf_texts_free(&p->texts);
    free_tables(p);
}

bool pf_profile_forget(pf_profile *p)
{
    free_tables(p);
    return init_tables(p, p->texts.seed);
}

perfile_status pf_profile_fail(pf_profile *p, perfile_error *err)
{
    if (!p->budget.refused)
        return pf_fail_nomem(err, "profile");
    p->budget.refused = false;
    return pf_fail(err, PERFILE_E_LIMIT, "profile_bytes",
                   "stacks and names need more than %llu bytes",
                   (unsigned long long)p->budget.limit);
}

const char *pf_profile_text(pf_profile *p, const char *text)
{
    return pf_texts_keep(&p->texts, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

uint32_t pf_profile_frame(pf_profile *p, uint32_t object, uint32_t code, uint64_t offset)
{
    const pf_call_frame frame = {.offset = offset, .object = object, .code = (uint16_t)code};
    return pf_intern_add(&p->frames, &frame);
}

uint32_t pf_profile_stack(pf_profile *p, uint32_t parent, uint32_t frame)
{
    const pf_call_stack stack = {parent, frame};
    return pf_intern_add(&p->stacks, &stack);
}

uint32_t pf_profile_function(pf_profile *p, uint32_t object, uint64_t start, const char *name,
                             const char *mangled)
{
    const pf_function key = {.name = pf_profile_text(p, name), .start = start, .object = object};
    mangled = mangled && mangled != name ? pf_profile_text(p, mangled) : key.name;
    if (!key.name || !mangled)
        return PF_INTERN_NONE;
    const size_t before = p->functions.n;
    const uint32_t number = pf_intern_add(&p->functions, &key);
    if (p->functions.n != before)
        ((pf_function *)pf_intern_at(&p->functions, number))->mangled = mangled;
    return number;
}

uint32_t pf_profile_inlined(pf_profile *p, uint32_t frame, uint32_t inlined, const char *function)
{
    pf_call_frame key = *pf_profile_frame_at(p, frame);
    key.inlined = (uint16_t)inlined;
    const size_t before = p->frames.n;
    const uint32_t called = pf_profile_function(p, key.object, PF_INLINED_START, function, NULL);
    uint32_t number = called != PF_INTERN_NONE ? pf_intern_add(&p->frames, &key) : PF_INTERN_NONE;
    if (number != PF_INTERN_NONE && p->frames.n != before)
        ((pf_call_frame *)pf_intern_at(&p->frames, number))->function = called + 1;
    return number;
}

/* Returns true if `name` begins with `start`. */
static bool begins(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Returns true if offsets in the mapping are meaningless, so that addresses are used instead: in
 * the kernel, which is not a file, and in memory. */
static bool is_without_offsets(const perfile_mapping *m)
{
    return m->generated || begins(m->name, "[kernel.") || begins(m->name, "[guest.kernel.") ||
           begins(m->name, "[stack") || begins(m->name, "/SYSV") || strcmp(m->name, "[heap]") == 0;
}

uint64_t pf_object_offset(const perfile_mapping *m, uint64_t addr)
{
    if (is_without_offsets(m))
        return addr;
    return m->kind == PERFILE_MAPPING_SYMBOL ? addr - m->addr : addr - m->addr + m->pgoff;
}

uint64_t pf_object_address(const pf_object *object, uint64_t offset)
{
    if (object->by_address)
        return offset;
    /* All offsets exceed their addresses by the offset of address 0 (modulo 2^64). */
    return offset - pf_object_offset(&object->first, 0);
}

uint32_t pf_profile_object(pf_profile *p, const perfile_mapping *m)
{
    pf_object object = {.kind = m->kind, .build_id_size = m->build_id_size};
    object.name = pf_texts_keep(&p->texts, perfile_mapping_dso(m));
    if (!object.name)
        return PF_INTERN_NONE;
    memcpy(object.build_id, m->build_id, m->build_id_size);
    const size_t before = p->objects.n;
    uint32_t number = pf_intern_add(&p->objects, &object);
    if (p->objects.n != before) {
        pf_object *added = pf_intern_at(&p->objects, number);
        added->first = *m;
        added->first.name = pf_profile_text(p, m->name);
        if (!added->first.name)
            return PF_INTERN_NONE;
        added->by_address = is_without_offsets(m);
    }
    return number;
}

bool pf_object_is_jit(const pf_object *object)
{
    const char *slash = strrchr(object->name, '/');
    const char *name = slash ? slash + 1 : object->name;
    const size_t n = strlen(name);
    return (begins(name, "perf-") && n > 4 && strcmp(name + n - 4, ".map") == 0) ||
           (begins(name, "jitted-") && n > 3 && strcmp(name + n - 3, ".so") == 0);
}

uint32_t pf_profile_label(pf_profile *p, const pf_label *label)
{
    if (p->last_label_number != PF_INTERN_NONE && memcmp(label, &p->last_label, sizeof *label) == 0)
        return p->last_label_number;
    p->last_label = *label;
    return p->last_label_number = pf_intern_add(&p->labels, label);
}

bool pf_profile_count(pf_profile *p, uint32_t label, uint32_t stack, uint64_t period)
{
    return pf_profile_add(p, label, stack, 1, period);
}

bool pf_profile_add(pf_profile *p, uint32_t label, uint32_t stack, uint64_t samples,
                    uint64_t period)
{
    struct pf_recent_sum *recent =
        &p->recent[(stack * 0x9e3779b1U ^ label * 0x85ebca6bU) >> 16 & (PF_RECENT_SUMS - 1)];
    if (!recent->number || recent->stack != stack || recent->label != label) {
        const pf_sum key = {.label = label, .stack = stack};
        uint32_t number = pf_intern_add(&p->sums, &key);
        if (number == PF_INTERN_NONE)
            return false;
        *recent = (struct pf_recent_sum){label, stack, number + 1};
    }
    pf_sum *sum = pf_intern_at(&p->sums, recent->number - 1);
    pf_sum_add(&sum->samples, samples);
    pf_sum_add(&sum->period, period);
    return true;
}

/* Interned items: an array of items, and a hash table of their numbers with linear probing, at most
 * half full. */

enum { FIRST_ITEMS = 64 };

/* Returns the slot of the item with this key, or the free slot where it would be added. */
static struct pf_intern_slot *slot_of(const pf_intern *t, const void *key, uint32_t hash)
{
    size_t at = hash & (t->n_slots - 1);
    while (t->slots[at].number &&
           (t->slots[at].hash != hash ||
            memcmp(pf_intern_at(t, t->slots[at].number - 1), key, t->key) != 0))
        at = (at + 1) & (t->n_slots - 1);
    return &t->slots[at];
}

/* Moves the entries to a table of twice the size. */
static bool grow_slots(pf_intern *t)
{
    const size_t n_slots = t->n_slots ? t->n_slots * 2 : 2 * FIRST_ITEMS;
    struct pf_intern_slot *slots = pf_budget_alloc(t->budget, n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->n_slots; i++) {
        size_t at = t->slots[i].hash & (n_slots - 1);
        if (!t->slots[i].number)
            continue;
        while (slots[at].number)
            at = (at + 1) & (n_slots - 1);
        slots[at] = t->slots[i];
    }
    pf_budget_free(t->budget, t->slots, t->n_slots, sizeof *t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    return true;
}

/* Makes room for one more item, and keeps the hash table at most half full. */
static bool reserve(pf_intern *t)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap + t->cap / 2 : FIRST_ITEMS;
        void *items = cap < PF_INTERN_NONE
                          ? pf_budget_realloc(t->budget, t->items, t->cap, cap, t->width)
                          : NULL;
        if (!items)
            return false;
        t->items = items;
        t->cap = cap;
    }
    return t->n < t->n_slots / 2 || grow_slots(t);
}

uint32_t pf_intern_add(pf_intern *t, const void *key)
{
    const uint32_t hash = (uint32_t)pf_index_hash(t->seed, key, t->key);
    if (t->n_slots) {
        uint32_t found = slot_of(t, key, hash)->number;
        if (found)
            return found - 1;
    }
    if (!reserve(t))
        return PF_INTERN_NONE;
    uint8_t *item = pf_intern_at(t, (uint32_t)t->n);
    memset(item, 0, t->width);
    memcpy(item, key, t->key);
    *slot_of(t, key, hash) = (struct pf_intern_slot){(uint32_t)t->n + 1, hash};
    return (uint32_t)t->n++;
}

void pf_intern_free(pf_intern *t)
{
    pf_budget_free(t->budget, t->items, t->cap, t->width);
    pf_budget_free(t->budget, t->slots, t->n_slots, sizeof *t->slots);
    t->items = NULL;
    t->slots = NULL;
    t->n = t->cap = t->n_slots = 0;
}

bool pf_profile_path(const pf_profile *p, uint32_t stack, pf_stack_path *path)
{
    path->n = 0;
    while (stack != PF_EMPTY_STACK) {
        const pf_call_stack *s = pf_profile_stack_at(p, stack);
        if (path->n == path->cap) {
            const size_t cap = path->cap ? path->cap * 2 : 256;
            uint32_t *grown = pf_realloc(path->at, cap, sizeof *grown);
            if (!grown)
                return false;
            path->at = grown;
            path->cap = cap;
        }
        path->at[path->n++] = s->frame;
        stack = s->parent;
    }
    return true;
}
