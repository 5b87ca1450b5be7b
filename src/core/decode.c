/* The public decoders and walks: they find the layout, body, trailer and context of a record or
 * feature and call the function that schema/ made from its table.  Also here: names derived from
 * attrs, layouts of attrs, and the conversion of clocks.
 *
 * perfile_stream_sample() is the hot path.  For common sample types it calls a specialized decoder,
 * and it does not clear the struct between samples of one type; see below. */
#include "base/error.h"
#include "core/layout.h"
#include "core/swap.h"
#include "core/session.h"
#include "core/state.h"
#include "core/stream.h"
#include "perfile/catalogue.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "core/command.h"
#include "schema/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

static inline bool is_as_stored(const perfile_record *r)
{
    return r->session && r->session->as_stored;
}

/* Makes the error for a record with an unknown layout. */
static perfile_status unusable(const perfile_record *r, uint32_t damage, perfile_error *err)
{
    return pf_fail_damage(err, damage, pf_row_of(r)->name, r->offset);
}

/* The same as pf_record_parts() without the event: if all events have equal layouts, it need not be
 * looked up. */
static inline perfile_status split_record(const perfile_record *r, pf_parts *p, perfile_error *err)
{
    uint32_t damage;
    p->event = NULL;
    p->layout = pf_layout_of(r, &damage);
    if (damage)
        return unusable(r, damage, err);
    pf_record_split(r, p->layout, is_as_stored(r), &p->body, &p->trailer);
    return PERFILE_OK;
}

perfile_status pf_record_parts(const perfile_record *r, pf_parts *p, perfile_error *err)
{
    pf_attribution a = pf_attribution_of(r);
    p->event = a.event;
    p->layout = a.layout;
    if (a.damage)
        return unusable(r, a.damage, err);
    pf_record_split(r, p->layout, is_as_stored(r), &p->body, &p->trailer);
    return PERFILE_OK;
}

/* A branch stack without entries occurs with and without hw_idx.  If reading it does not consume
 * the record exactly, and reading it without hw_idx does, there is no hw_idx. */
static void choose_hw_idx(const perfile_record *r, perfile_bytes body, pf_context *k)
{
    perfile_sample s = {0};
    pf_cursor c = pf_cur(body, is_swapped(r));
    pf_decode_sample(k, &c, &s);
    if (s.branch_stack.nr != 0 || (!c.bad && !s.has_extra))
        return;
    perfile_sample without = {0};
    c = pf_cur(body, is_swapped(r));
    k->no_hw_idx = true;
    pf_decode_sample(k, &c, &without);
    if (c.bad || without.has_extra)
        k->no_hw_idx = false;
}

static inline pf_context context_of(const perfile_record *r, const pf_parts *p)
{
    pf_context k = pf_context_of(p->layout);
    k.misc = r->misc;
    k.as_stored = is_as_stored(r);
    if (r->type == PERFILE_RECORD_SAMPLE && k.sample_type & PERFILE_SAMPLE_BRANCH_STACK &&
        k.branch_sample_type & PERFILE_BRANCH_HW_INDEX)
        choose_hw_idx(r, p->body, &k);
    return k;
}

pf_context pf_record_context(const perfile_record *r, const pf_parts *p)
{
    return context_of(r, p);
}

/* Decodes into `out` directly if the caller's struct has our size.  Otherwise the caller was built
 * with another version of the header: then this decodes into `full` and copies the common part. */
static inline perfile_status decode_into(const pf_context *k, pf_cursor *c, const pf_row *row,
                                         void *full, void *out, size_t size, uint64_t offset,
                                         perfile_error *err)
{
    void *to = size == row->size ? out : full;
    memset(to, 0, row->size);
    row->decode(k, c, to);
    if (c->bad)
        return pf_fail_damage(err, c->bad, row->name, offset);
    if (to != out) {
        memset(out, 0, size);
        memcpy(out, full, size < row->size ? size : row->size);
    }
    return PERFILE_OK;
}

/* Returns the specialized decoder for the sample `r`; NULL if there is none for its sample_type, or
 * if `r` is not a sample. */
static inline pf_usual_fn *usual_of(const perfile_record *r)
{
    const perfile_session *s = r->session;
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF || !s)
        return NULL;
    if (s->shared)
        return s->usual;
    const perfile_layout *layout = is_swapped(r) ? NULL : pf_attribution_of(r).layout;
    return layout ? pf_usual_sample(layout->sample_type) : NULL;
}

/* Decodes `r`, a record of the type that `row` describes.  `full` has room for its struct. */
static perfile_status decode_by_row(const perfile_record *r, const pf_row *row, void *full,
                                    void *out, size_t size, perfile_error *err)
{
    pf_parts p;
    perfile_status st = split_record(r, &p, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = context_of(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    return decode_into(&k, &c, row, full, out, size, r->offset, err);
}

/* See core/swap.h. */
bool pf_record_own(const perfile_record *r, unsigned need, pf_own *own)
{
    const pf_row *row = pf_row_of(r);
    pf_any_record any;
    pf_parts p;
    *own = (pf_own){0};
    if (!row || (row->has & need) != need || pf_record_parts(r, &p, NULL) != PERFILE_OK)
        return false;
    pf_context k = context_of(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    memset(&any, 0, row->size);
    row->decode(&k, &c, &any);
    if (!c.bad)
        row->own(&any, own);
    return !c.bad;
}

static __attribute__((noinline)) perfile_status
decode_sample(const perfile_record *r, perfile_sample *out, size_t size, perfile_error *err)
{
    perfile_sample full;
    return decode_by_row(r, &pf_record_table[PF_AT_sample], &full, out, size, err);
}

/* The size is read from the table so that the compiler does not know it.  The inline code that it
 * would emit for a known size takes twice as long as all the decoding; the library's memset() does
 * not. */
static inline void clear(perfile_sample *out)
{
    memset(out, 0, pf_record_table[PF_AT_sample].size);
}

static inline perfile_status sample_decode(const perfile_record *r, void *out, size_t size,
                                           perfile_error *err)
{
    pf_usual_fn *usual = size == sizeof(perfile_sample) ? usual_of(r) : NULL;
    if (!usual)
        return decode_sample(r, out, size, err);
    clear(out);
    return usual(r->body, out) ? PERFILE_OK : decode_sample(r, out, size, err);
}

static perfile_status decode_trailer(const perfile_record *record, void *out, size_t size,
                                     perfile_error *err)
{
    static const pf_row row = {
        .name = "sample_id", .size = sizeof(perfile_sample_id), PF_ROW_FUNCTIONS(sample_id)};
    pf_parts p;
    perfile_sample_id full;
    perfile_status st = split_record(record, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (!p.trailer.len)
        return PERFILE_END;
    pf_context k = context_of(record, &p);
    pf_cursor c = pf_cur(p.trailer, is_swapped(record));
    return decode_into(&k, &c, &row, &full, out, size, record->offset, err);
}

/* Decodes the trailer, which has no record type of its own, and fails for other types.  Also called
 * for a record without a row: a file may use the number of PERFILE_TYPE_SAMPLE_ID as a type. */
static __attribute__((noinline)) perfile_status
decode_other(const perfile_record *r, uint32_t type, void *out, size_t size, perfile_error *err)
{
    if (type == PERFILE_TYPE_SAMPLE_ID)
        return decode_trailer(r, out, size, err);
    if (r->type == type)
        return pf_fail(err, PERFILE_E_USAGE, "record.type", "no table has records of type %u",
                       type);
    return pf_fail(err, PERFILE_E_USAGE, "record.type", "record of type %u, not %u", r->type, type);
}

perfile_status perfile_decode(const perfile_record *r, uint32_t type, void *out, size_t size,
                              perfile_error *err)
{
    const pf_row *row = pf_row_of(r);
    pf_any_record full;
    if (r->type != type)
        return decode_other(r, type, out, size, err);
    if (type == PERFILE_RECORD_SAMPLE) /* types of other families have other numbers */
        return sample_decode(r, out, size, err);
    if (!row)
        return decode_other(r, type, out, size, err);
    return decode_by_row(r, row, &full, out, size, err);
}

static __attribute__((noinline)) perfile_status
stream_sample(perfile_stream *s, const perfile_record *r, perfile_error *err)
{
    pf_usual_fn *usual = usual_of(r);
    s->sampled_by = NULL;
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF)
        return perfile_decode(r, PERFILE_RECORD_SAMPLE, &s->sample, sizeof s->sample, err);
    if (usual)
        clear(&s->sample);
    if (!usual || !usual(r->body, &s->sample))
        return decode_sample(r, &s->sample, sizeof s->sample, err);
    s->sampled_by = usual;
    return PERFILE_OK;
}

/* If the same specialized decoder decoded the last sample, the struct is not cleared: that decoder
 * writes the same members again, and all others are still zero. */
perfile_status perfile_stream_sample(perfile_stream *s, const perfile_record *r,
                                     const perfile_sample **sample, perfile_error *err)
{
    pf_usual_fn *usual = s->session->usual;
    *sample = &s->sample;
    if (usual && usual == s->sampled_by && r->type == PERFILE_RECORD_SAMPLE &&
        r->family == PERFILE_FAMILY_PERF && usual(r->body, &s->sample))
        return PERFILE_OK;
    return stream_sample(s, r, err);
}

/* Features have no layout; CPU_TOPOLOGY needs the number of CPUs. */
static pf_context feature_context(const perfile_feature *f)
{
    pf_context k = {.as_stored = pf_session_as_stored(f->session),
                    .nr_cpus_avail = f->session ? pf_session_n_cpus(f->session) : 0};
    return k;
}

static perfile_status feature_usable(const perfile_feature *f, perfile_error *err)
{
    if (!f->damage)
        return PERFILE_OK;
    const char *name = pf_feature_name(f->number);
    return pf_fail_damage(err, f->damage, name ? name : "feature", f->offset);
}

/* Room for the decoded struct of any feature. */
typedef union any_feature {
#define FEATURE(id, number, name, source, contract, doc) perfile_##id as_##id;
#include "perfile/format/features.def"
} any_feature;

perfile_status perfile_decode_feature(const perfile_feature *f, uint32_t type, void *out,
                                      size_t size, perfile_error *err)
{
    any_feature full;
    const pf_row *row = pf_feature_row(type);
    if (f->number != type)
        return pf_fail(err, PERFILE_E_USAGE, "feature.number", "feature %u, not %u", f->number,
                       type);
    if (!row)
        return pf_fail(err, PERFILE_E_USAGE, "feature.number", "no table has feature %u", type);
    perfile_status st = feature_usable(f, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = feature_context(f);
    pf_cursor c = pf_cur(f->payload, f->flags & PERFILE_REC_SWAPPED);
    return decode_into(&k, &c, row, &full, out, size, f->offset, err);
}

/* The space for an attr limits its size. */
static pf_context attr_context(perfile_bytes bytes)
{
    pf_context k = {.attr_size = bytes.len > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes.len};
    return k;
}

perfile_status perfile_attr_decode(perfile_bytes bytes, bool swapped, perfile_attr *out,
                                   size_t size, perfile_error *err)
{
    static const pf_row row = {
        .name = "attr", .size = sizeof(perfile_attr), PF_ROW_FUNCTIONS(attr)};
    perfile_attr full;
    pf_context k = attr_context(bytes);
    pf_cursor c = pf_cur(bytes, swapped);
    return decode_into(&k, &c, &row, &full, out, size, 0, err);
}

/* A visitor of an older header would have fewer functions.  There is no older one so far, so its
 * size must be ours. */
static perfile_status check_visitor(const perfile_visitor *v, uint32_t flags, perfile_error *err)
{
    const uint32_t known = PERFILE_WALK_CONTRACT | PERFILE_WALK_PADDING;
    const uint32_t unknown = flags & ~known;
    if (v->size >= sizeof *v && !unknown)
        return PERFILE_OK;
    if (unknown)
        return pf_fail(err, PERFILE_E_USAGE, "walk.flags", "unknown flags: 0x%x", unknown);
    return pf_fail(err, PERFILE_E_USAGE, "visitor", "size is %zu, not set by sizeof", v->size);
}

static perfile_status walk_trailer(const perfile_record *r, const pf_parts *p, uint32_t flags,
                                   const perfile_visitor *visitor, void *user, perfile_error *err)
{
    if (!p->trailer.len)
        return PERFILE_END;
    pf_context k = context_of(r, p);
    uint64_t shift = 8 + (uint64_t)(p->trailer.ptr - r->body.ptr);
    pf_walker w = {visitor, user, p->trailer.ptr, shift, flags};
    pf_cursor c = pf_cur(p->trailer, is_swapped(r));
    pf_walk_sample_id(&k, &c, &w);
    return c.bad ? pf_fail_damage(err, c.bad, "sample_id", r->offset) : PERFILE_OK;
}

perfile_status perfile_record_walk(const perfile_record *r, uint32_t flags,
                                   const perfile_visitor *visitor, void *user, perfile_error *err)
{
    pf_parts p;
    const pf_row *row = pf_row_of(r);
    perfile_status st = check_visitor(visitor, flags & ~(uint32_t)PERFILE_WALK_TRAILER, err);
    if (st == PERFILE_OK)
        st = split_record(r, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (flags & PERFILE_WALK_TRAILER)
        return walk_trailer(r, &p, flags, visitor, user, err);
    pf_context k = context_of(r, &p);
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    pf_walker w = {visitor, user, c.pos, pf_family_header(r->family), flags};
    bool known = row && (row->contract || !(flags & PERFILE_WALK_CONTRACT));
    (known ? row->walk : pf_walk_unknown)(&k, &c, &w);
    if (c.bad)
        return pf_fail_damage(err, c.bad, row ? row->name : "record", r->offset);
    if (flags & PERFILE_WALK_PADDING && pf_cur_left(&c))
        pf_walk_padding(&k, &c, &w);
    return PERFILE_OK;
}

perfile_status perfile_feature_walk(const perfile_feature *feature, uint32_t flags,
                                    const perfile_visitor *visitor, void *user, perfile_error *err)
{
    perfile_status st = check_visitor(visitor, flags, err);
    if (st == PERFILE_OK)
        st = feature_usable(feature, err);
    if (st != PERFILE_OK)
        return st;
    const pf_row *row = pf_feature_row(feature->number);
    pf_context k = feature_context(feature);
    pf_cursor c = pf_cur(feature->payload, feature->flags & PERFILE_REC_SWAPPED);
    pf_walker w = {visitor, user, c.pos, 0, flags};
    bool known = row && (row->contract || !(flags & PERFILE_WALK_CONTRACT));
    (known ? row->walk : pf_walk_unknown)(&k, &c, &w);
    if (c.bad)
        return pf_fail_damage(err, c.bad, row ? row->name : "feature", feature->offset);
    if (flags & PERFILE_WALK_PADDING && pf_cur_left(&c))
        pf_walk_padding(&k, &c, &w);
    return PERFILE_OK;
}

perfile_status perfile_attr_walk(perfile_bytes stored, bool swapped, uint32_t flags,
                                 const perfile_visitor *visitor, void *user, perfile_error *err)
{
    perfile_status st = check_visitor(visitor, flags, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = attr_context(stored);
    pf_cursor c = pf_cur(stored, swapped);
    pf_walker w = {visitor, user, c.pos, 0, flags};
    pf_walk_attr(&k, &c, &w);
    return c.bad ? pf_fail_damage(err, c.bad, "attr", 0) : PERFILE_OK;
}

/* Derives the name that perf would print for an event without a name, from type, config and flags:
 * "cycles:u", "L1-dcache-load-misses", "sched:sched_switch", "cpu_core/cycles/".  P:
 * tools/perf/util/evsel.c, evsel__name(). */

/* Text in a buffer of fixed size; the excess is cut off. */
typedef struct line {
    char *text;
    size_t size;
    size_t len;
} line;

static void put(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends formatted text. */
static void put(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(l->text + l->len, l->size - l->len, format, args);
    va_end(args);
    if (n > 0)
        l->len += (size_t)n < l->size - l->len ? (size_t)n : l->size - l->len - 1;
}

/* Returns the name of a value in a vocabulary of format/words.def, or NULL. */
static const char *word(const char *vocabulary, uint64_t value)
{
    const perfile_vocabulary *v = pf_vocabulary_find(vocabulary);
    return v ? perfile_vocabulary_word(v, value) : NULL;
}

/* Returns a bit of the attr's flags; `bit` is PERFILE_ATTR_BIT_…. */
static bool flag(const perfile_attr *attr, unsigned bit)
{
    return attr->flags >> bit & 1;
}

/* "cpu/", or "pmu-type-8/" for a PMU without a name. */
static void put_pmu(line *l, const perfile_session *s, uint32_t type)
{
    const char *pmu = pf_session_pmu_name(s, type);
    if (pmu)
        put(l, "%s/", pmu);
    else
        put(l, "pmu-type-%u/", type);
}

/* "PMU/config=0x…,config1=0x…/": the form that perf accepts for any event of a PMU. */
static void put_config(line *l, const perfile_session *s, const perfile_attr *attr)
{
    put_pmu(l, s, attr->type);
    put(l, "config=0x%llx", (unsigned long long)attr->config);
    if (attr->config1)
        put(l, ",config1=0x%llx", (unsigned long long)attr->config1);
    if (attr->config2)
        put(l, ",config2=0x%llx", (unsigned long long)attr->config2);
    if (attr->config3)
        put(l, ",config3=0x%llx", (unsigned long long)attr->config3);
    put(l, "/");
}

/* The kernel's header says cpu-cycles and branch-instructions; perf prints "cycles" and
 * "branches". */
static const char *hardware_word(uint64_t config)
{
    enum { CPU_CYCLES = 0, BRANCH_INSTRUCTIONS = 4 };
    if (config == CPU_CYCLES)
        return "cycles";
    if (config == BRANCH_INSTRUCTIONS)
        return "branches";
    return word("hardware", config);
}

/* Hardware cache events: config has cache id, operation and result, 8 bits each.  Returns false if
 * there is no such event. */
static bool put_cache(line *l, uint64_t config)
{
    enum { PREFETCH = 2 };
    unsigned op = config >> 8 & 0xff;
    unsigned result = config >> 16 & 0xff;
    const char *cache = word("hw_cache_id", config & 0xff);
    const char *access = word("hw_cache_op", op);
    if (!cache || !access || result > 1 || config >> 24)
        return false;
    if (result)
        put(l, "%s-%s-misses", cache, access);
    else
        put(l, "%s-%s%s", cache, access, op == PREFETCH ? "es" : "s");
    return true;
}

/* "mem:0xADDR:rwx". */
static void put_breakpoint(line *l, const perfile_attr *attr)
{
    put(l, "mem:0x%llx:%s%s%s", (unsigned long long)attr->config1, attr->bp_type & 1 ? "r" : "",
        attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
}

/* On hybrid systems the upper half of config is the PMU: "cpu_core/cycles/". */
static bool put_generic(line *l, const perfile_session *s, const perfile_attr *attr)
{
    uint32_t pmu = (uint32_t)(attr->config >> 32);
    uint64_t config = attr->config & UINT32_MAX;
    size_t start = l->len;
    if (pmu)
        put_pmu(l, s, pmu);
    const char *name = attr->type == PERFILE_TYPE_HARDWARE ? hardware_word(config) : NULL;
    if (name)
        put(l, "%s", name);
    else if (attr->type == PERFILE_TYPE_HARDWARE || !put_cache(l, config)) {
        l->len = start;
        return false;
    }
    if (pmu)
        put(l, "/");
    return true;
}

void pf_name_modifiers(const perfile_attr *attr, char *text, size_t size)
{
    bool user = flag(attr, PERFILE_ATTR_BIT_EXCLUDE_USER);
    bool kernel = flag(attr, PERFILE_ATTR_BIT_EXCLUDE_KERNEL);
    bool hv = flag(attr, PERFILE_ATTR_BIT_EXCLUDE_HV);
    unsigned precise = attr->flags >> PERFILE_ATTR_BIT_PRECISE_IP & 3;
    char modifiers[8] = "";
    line m = {modifiers, sizeof modifiers, 0};
    if (user != kernel)
        put(&m, user ? "k" : "u");
    else if (user && !hv)
        put(&m, "h");
    put(&m, "%.*s", (int)precise, "ppp");
    if (flag(attr, PERFILE_ATTR_BIT_EXCLUDE_HOST) && !flag(attr, PERFILE_ATTR_BIT_EXCLUDE_GUEST))
        put(&m, "G");

    line l = {text, size, strlen(text)};
    if (m.len)
        put(&l, "%s%s", l.len && text[l.len - 1] == '/' ? "" : ":", modifiers);
}

void pf_name_derive(const perfile_session *s, const perfile_attr *attr, char *text, size_t size)
{
    line l = {text, size, 0};
    text[0] = 0;
    switch (attr->type) {
    case PERFILE_TYPE_HARDWARE:
    case PERFILE_TYPE_HW_CACHE:
        if (put_generic(&l, s, attr))
            break;
        put(&l, "%s/config=0x%llx/", attr->type == PERFILE_TYPE_HARDWARE ? "hardware" : "hw-cache",
            (unsigned long long)attr->config);
        break;
    case PERFILE_TYPE_SOFTWARE: {
        const char *name = word("software", attr->config);
        if (name)
            put(&l, "%s", name);
        else
            put(&l, "software/config=0x%llx/", (unsigned long long)attr->config);
        break;
    }
    case PERFILE_TYPE_TRACEPOINT: {
        const pf_tracepoint *t = pf_tracepoint_names_find(&s->names.tracepoints, attr->config);
        if (t)
            put(&l, "%.*s:%.*s", t->system.len < size ? (int)t->system.len : (int)size,
                (const char *)t->system.ptr, t->name.len < size ? (int)t->name.len : (int)size,
                (const char *)t->name.ptr);
        else
            put(&l, "tracepoint:%llu", (unsigned long long)attr->config);
        return; /* tracepoints have no modifiers */
    }
    case PERFILE_TYPE_RAW:
        put(&l, "r%llx", (unsigned long long)attr->config);
        break;
    case PERFILE_TYPE_BREAKPOINT:
        put_breakpoint(&l, attr);
        break;
    default:
        put_config(&l, s, attr);
        break;
    }
    pf_name_modifiers(attr, text, size);
}

/* Layouts: the positions of fields in samples and trailers, by sample_type. */

/* K: the 64-bit fields at the beginning of a sample, in stored order, which differs from the order
 * of the bits. */
static const uint8_t sample_order[] = {
    PF_SLOT_IDENTIFIER, PF_SLOT_IP,        PF_SLOT_TID, PF_SLOT_TIME,   PF_SLOT_ADDR,
    PF_SLOT_ID,         PF_SLOT_STREAM_ID, PF_SLOT_CPU, PF_SLOT_PERIOD,
};

/* K: the fields of a trailer, last one first. */
static const uint8_t trailer_order[] = {
    PF_SLOT_IDENTIFIER, PF_SLOT_CPU, PF_SLOT_STREAM_ID, PF_SLOT_ID, PF_SLOT_TIME, PF_SLOT_TID,
};

void pf_layout_make(perfile_layout *layout, const perfile_attr *attr)
{
    *layout = (perfile_layout){
        .sample_type = attr->sample_type,
        .read_format = attr->read_format,
        .branch_sample_type = attr->branch_sample_type,
        .sample_regs_user = attr->sample_regs_user,
        .sample_regs_intr = attr->sample_regs_intr,
        .sample_id_all = attr->flags >> PERFILE_ATTR_BIT_SAMPLE_ID_ALL & 1,
    };
    memset(layout->sample_slot, -1, sizeof layout->sample_slot);
    memset(layout->trailer_slot, -1, sizeof layout->trailer_slot);

    int8_t slot = 0;
    for (size_t i = 0; i < sizeof sample_order; i++)
        if (attr->sample_type >> sample_order[i] & 1)
            layout->sample_slot[sample_order[i]] = slot++;

    if (!layout->sample_id_all)
        return;
    slot = 0;
    for (size_t i = 0; i < sizeof trailer_order; i++)
        if (attr->sample_type >> trailer_order[i] & 1)
            layout->trailer_slot[trailer_order[i]] = ++slot;
    layout->trailer_slots = (uint8_t)slot;
    layout->trailer_size = (uint8_t)(8 * slot);
}

/* The slots follow from these members, so they need not be compared. */
bool pf_layout_equal(const perfile_layout *a, const perfile_layout *b)
{
    return a->sample_type == b->sample_type && a->read_format == b->read_format &&
           a->branch_sample_type == b->branch_sample_type &&
           a->sample_regs_user == b->sample_regs_user &&
           a->sample_regs_intr == b->sample_regs_intr && a->sample_id_all == b->sample_id_all;
}

/* Conversion between the hardware clock (TSC and the like) and the session clock.
 * The arithmetic is that of linux/perf_event.h (cap_user_time_zero), modulo 2^64 throughout. */

/* Within these limits no product below overflows 64 bits, except where the result is meant to wrap.
 */
static perfile_status check(const perfile_clock *c, perfile_error *err)
{
    if (!c->has_conversion)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "clock.has_conversion",
                       "the clock has no conversion from the hardware clock");
    if (c->shift > 32)
        return pf_fail(err, PERFILE_E_CORRUPT, "clock.shift", "shift %llu is above 32",
                       (unsigned long long)c->shift);
    if (c->mult > UINT32_MAX)
        return pf_fail(err, PERFILE_E_CORRUPT, "clock.mult", "mult %llu does not fit 32 bits",
                       (unsigned long long)c->mult);
    return PERFILE_OK;
}

uint64_t pf_ticks_to_ns(int64_t ticks, uint64_t shift, uint64_t mult)
{
    if (ticks <= 0)
        return 1;
    const uint64_t quot = (uint64_t)ticks >> shift;
    const uint64_t rem = (uint64_t)ticks & ((UINT64_C(1) << shift) - 1);
    uint64_t ns;
    if (__builtin_mul_overflow(quot, mult, &ns) ||
        __builtin_add_overflow(ns, rem * mult >> shift, &ns) || ns == PERFILE_NO_TIME)
        return PERFILE_NO_TIME - 1; /* centuries away: the clock is damaged */
    return ns ? ns : 1;
}

static perfile_status time_of(const perfile_clock *clock, uint64_t cycles, uint64_t *time,
                              perfile_error *err)
{
    perfile_status st = check(clock, err);
    if (st != PERFILE_OK)
        return st;
    if (clock->is_short)
        cycles = clock->cycles + ((cycles - clock->cycles) & clock->mask);
    uint64_t quot = cycles >> clock->shift;
    uint64_t rem = cycles & ((UINT64_C(1) << clock->shift) - 1);
    *time = clock->zero + quot * clock->mult + (rem * clock->mult >> clock->shift);
    return PERFILE_OK;
}

static perfile_status cycles_of(const perfile_clock *clock, uint64_t time, uint64_t *cycles,
                                perfile_error *err)
{
    perfile_status st = check(clock, err);
    if (st != PERFILE_OK)
        return st;
    if (clock->mult == 0)
        return pf_fail(err, PERFILE_E_CORRUPT, "clock.mult", "mult is 0: no time has a cycle");
    uint64_t since = time - clock->zero;
    uint64_t quot = since / clock->mult;
    uint64_t rem = since % clock->mult;
    *cycles = (quot << clock->shift) + (rem << clock->shift) / clock->mult;
    return PERFILE_OK;
}

perfile_status perfile_clock_convert(const perfile_clock *clock, bool to_cycles, uint64_t in,
                                     uint64_t *out, perfile_error *err)
{
    return to_cycles ? cycles_of(clock, in, out, err) : time_of(clock, in, out, err);
}
