/* Relayout: to the same layout it changes nothing; what a field is dropped from, or an id comes
 * into, shows all other fields as before, in either byte order. */
#include "testing.h"

#include "core/layout.h"
#include "core/swap.h"
#include "instances.h"
#include "recorded.h"
#include "schema/rows.h"
#include "transform/relayout.h"
#include "transcript.h"
#include "core/command.h"

enum { INSTANCES = 400, ROOM = 1 << 20 };

static const uint64_t event_id = UINT64_C(0x1122334455667788);
static uint8_t out[ROOM + PF_RELAYOUT_MAX_GROWTH];
static unsigned n_same, n_dropped, n_added, n_odd;

/* The top-level fields of samples and trailers by bit, from the table. */
typedef struct row {
    uint64_t bit; /* 0: a field of the bit before */
    const char *name;
} row;
static const row rows[] = {
#define SAMPLE(id, bit)                         {PERFILE_SAMPLE_##bit, NULL},
#define FIELD(id, type, name, kind, doc)        {0, #name},
#define BLOB(id, name, kind, length, doc)       {0, #name},
#define WORDS(id, type, name, kind, count, doc) {0, #name},
#define USE(id, element, name, form, doc)       {0, #name},
#define WHEN(id, name, condition)               {UINT64_MAX, NULL},
#include "perfile/format/sample.def"
};

/* What is left out of a transcript. */
typedef struct shown {
    transcript t;
    uint64_t bits;        /* of sample_type: top-level fields */
    const char *nested;   /* a field anywhere, or NULL */
    unsigned depth, skip; /* skip: the depth at which something began that is left out */
    bool body_of_other;   /* no sample: names there are of no bit */
} shown;

static bool is_of(uint64_t bits, const char *name)
{
    uint64_t bit = 0;
    if (bits & (PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT) &&
        strcmp(name, "weight") == 0)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].name)
            bit = rows[i].bit == UINT64_MAX ? 0 : rows[i].bit;
        else if (bit & bits && strcmp(rows[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool left_out(shown *s, const perfile_field *f)
{
    if (s->skip)
        return true;
    bool out_of_it = (s->depth == 0 && !s->body_of_other && is_of(s->bits, f->name)) ||
                     (s->nested && strcmp(s->nested, f->name) == 0);
    return out_of_it;
}

static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    shown *s = user;
    if (!left_out(s, f))
        transcript_visitor.value(&s->t, f, v);
}

static void on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    shown *s = user;
    if (left_out(s, f)) {
        if (!s->skip)
            s->skip = s->depth + 1;
    } else {
        transcript_visitor.begin(&s->t, f, v);
    }
    s->depth++;
}

static void on_end(void *user, const perfile_field *f)
{
    shown *s = user;
    s->depth--;
    if (!s->skip)
        transcript_visitor.end(&s->t, f);
    else if (s->skip == s->depth + 1)
        s->skip = 0;
}

static const perfile_visitor visitor = {sizeof visitor, on_value, on_begin, on_end};

/* Body and trailer without what is left out. */
static perfile_status show(const perfile_record *r, shown *s)
{
    s->body_of_other = r->type != PERFILE_RECORD_SAMPLE;
    perfile_status st = perfile_record_walk(r, PERFILE_WALK_PADDING, &visitor, s, NULL);
    s->body_of_other = false;
    if (st == PERFILE_OK) {
        tell_number(&s->t, "trailer", 0);
        st = perfile_record_walk_trailer(r, 0, &visitor, s, NULL);
    }
    return st;
}

static perfile_record made(const perfile_record *r, size_t n, const perfile_session *session)
{
    perfile_record m = *r;
    m.header = out;
    m.body = (perfile_bytes){out + 8, n - 8};
    m.session = session;
    return m;
}

/* A session of one event with that layout. */
static perfile_session *session_of(const perfile_layout *l, bool swap)
{
    const build_attr_plan plan = {
        .size = 144,
        .sample_type = l->sample_type,
        .read_format = l->read_format,
        .branch = l->branch_sample_type,
        .regs_user = l->sample_regs_user,
        .regs_intr = l->sample_regs_intr,
        .flags = (uint64_t)l->sample_id_all << PERFILE_ATTR_BIT_SAMPLE_ID_ALL,
    };
    return roll_session(&plan, swap, 0);
}

static bool has_trailer(const perfile_record *r, const perfile_layout *l)
{
    perfile_bytes body, trailer;
    return pf_record_split(r, l, false, &body, &trailer);
}

/* The way with every part looked at, whether it has to change or not. */
static void check_same(const perfile_record *r, const perfile_layout *l)
{
    pf_relayout plan;
    size_t n = 0;
    assert_int_equal(pf_relayout_plan(&plan, l, l, NULL), PERFILE_OK);
    assert_true(pf_relayout_is_unchanged(&plan, r->type));
    assert_int_equal(pf_relayout_record(&plan, r, event_id, out, &n, NULL), PERFILE_OK);
    assert_int_equal(n, perfile_record_size(r));
    assert_memory_equal(out, r->header, n);
    plan.same_rest = plan.same_read = plan.front.same = plan.trailer.same = false;
    perfile_status st = pf_relayout_record(&plan, r, event_id, out, &n, NULL);
    bool reads = perfile_record_walk(r, 0, &instance_visitor, NULL, NULL) == PERFILE_OK;
    if (st == PERFILE_OK) {
        assert_int_equal(n, perfile_record_size(r));
        assert_memory_equal(out, r->header, n);
        n_same++;
    } else {
        assert_true(!reads || !perfile_record_type_name(r->type));
    }
}

/* From the record's layout to `to`, leaving `want` out of both. */
static bool check_change(const perfile_record *r, const perfile_layout *from,
                         const perfile_layout *to, shown want)
{
    pf_relayout plan;
    size_t n;
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    if (pf_relayout_plan(&plan, from, to, NULL) != PERFILE_OK)
        fail_msg("no way from one layout to the other");
    perfile_session *a = session_of(from, swap), *b = session_of(to, swap);
    perfile_record old = *r;
    old.session = a;
    shown before = want, after = want;
    perfile_status st = show(&old, &before);
    perfile_error err = {0};
    perfile_status made_it = pf_relayout_record(&plan, &old, event_id, out, &n, &err);
    bool compared = false;
    if (st < 0) {
        n_odd++; /* what cannot be read may be refused, and changes nothing that could be */
    } else if (made_it == PERFILE_E_LIMIT) {
        assert_true(perfile_record_size(r) + 16 > UINT16_MAX);
    } else if (made_it != PERFILE_OK) {
        fail_msg("type %u: it reads and was refused: %s", r->type, err.message);
    } else {
        perfile_record new = made(&old, n, b);
        bool had = from->trailer_size ? has_trailer(&old, from) : from->sample_id_all;
        if (has_trailer(&new, to) == (had && to->trailer_size)) {
            assert_int_equal(show(&new, &after) < 0, false);
            if (before.t.hash != after.t.hash)
                fail_msg("type %u, sample_type 0x%llx to 0x%llx: other fields changed", r->type,
                         (unsigned long long)from->sample_type,
                         (unsigned long long)to->sample_type);
            compared = true;
        } else {
            n_odd++; /* too short for its trailer, or a string that does not end in front of it */
        }
    }
    pf_session_free(a);
    pf_session_free(b);
    return compared;
}

static perfile_layout layout_with(const perfile_layout *l, uint64_t sample_type,
                                  uint64_t read_format, uint64_t branch, bool sample_id_all)
{
    perfile_layout to;
    const perfile_attr attr = {
        .sample_type = sample_type,
        .read_format = read_format,
        .branch_sample_type = branch,
        .sample_regs_user = l->sample_regs_user,
        .sample_regs_intr = l->sample_regs_intr,
        .flags = (uint64_t)sample_id_all << PERFILE_ATTR_BIT_SAMPLE_ID_ALL,
    };
    pf_layout_make(&to, &attr);
    return to;
}

/* Each field that there is, dropped; then the nested ones. */
static void check_drops(const perfile_record *r, const perfile_layout *l)
{
    static const struct {
        uint64_t read, branch;
        const char *name;
    } nested[] = {
        {PERFILE_FORMAT_LOST, 0, "lost"},
        {PERFILE_FORMAT_ID, 0, "id"},
        {PERFILE_FORMAT_TOTAL_TIME_ENABLED, 0, "time_enabled"},
        {PERFILE_FORMAT_TOTAL_TIME_RUNNING, 0, "time_running"},
        {0, PERFILE_BRANCH_HW_INDEX, "hw_idx"},
        {0, PERFILE_BRANCH_COUNTERS, "counters"},
    };
    for (unsigned bit = 0; bit < 25; bit++) {
        uint64_t mask = UINT64_C(1) << bit;
        if (!(l->sample_type & mask))
            continue;
        perfile_layout to = layout_with(l, l->sample_type & ~mask, l->read_format,
                                        l->branch_sample_type, l->sample_id_all);
        /* Both weights at once is what no kernel writes: one of them stays. */
        const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
        if (mask & weights && l->sample_type & ~mask & weights)
            continue;
        n_dropped += check_change(r, l, &to, (shown){.bits = mask});
    }
    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++) {
        if (!(l->read_format & nested[i].read) && !(l->branch_sample_type & nested[i].branch))
            continue;
        if (nested[i].read == PERFILE_FORMAT_ID && l->sample_type & PERFILE_SAMPLE_ID)
            continue; /* the same name */
        perfile_layout to =
            layout_with(l, l->sample_type, l->read_format & ~nested[i].read,
                        l->branch_sample_type & ~nested[i].branch, l->sample_id_all);
        n_dropped += check_change(r, l, &to, (shown){.nested = nested[i].name});
    }
}

static void check_adds(const perfile_record *r, const perfile_layout *l)
{
    static const uint64_t adds[] = {PERFILE_SAMPLE_IDENTIFIER, PERFILE_SAMPLE_ID,
                                    PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_ID};
    for (size_t i = 0; i < sizeof adds / sizeof adds[0]; i++) {
        uint64_t more = adds[i] & ~l->sample_type, id = 0;
        perfile_layout to = layout_with(l, l->sample_type | more, l->read_format,
                                        l->branch_sample_type, l->sample_id_all);
        if (!more || !check_change(r, l, &to, (shown){.bits = more}))
            continue;
        n_added++;
        if (r->type != PERFILE_RECORD_SAMPLE || !(more & PERFILE_SAMPLE_IDENTIFIER))
            continue;
        memcpy(&id, out + 8, sizeof id);
        assert_true((r->flags & PERFILE_REC_SWAPPED ? pf_swap_u64(id) : id) == event_id);
    }
    perfile_layout none =
        layout_with(l, l->sample_type, l->read_format, l->branch_sample_type, false);
    if (l->sample_id_all && r->type != PERFILE_RECORD_SAMPLE)
        n_dropped += check_change(r, l, &none, (shown){.bits = ~(uint64_t)0});
}

static void check_record(const perfile_record *r, const perfile_layout *l)
{
    check_same(r, l);
    check_drops(r, l);
    check_adds(r, l);
}

static void generated_record(const pf_row *kind, dice *d)
{
    build_attr_plan plan = roll_plan(d);
    const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
    plan.size = 144;
    if ((plan.sample_type & weights) == weights)
        plan.sample_type &= ~(uint64_t)PERFILE_SAMPLE_WEIGHT;
    bool swap = roll(d, 2);
    perfile_session *s = roll_session(&plan, swap, 0);
    builder b = {.swap = swap};
    uint16_t misc;
    if (roll_record(d, kind, s, &misc, &b)) {
        BUILDER whole = {.swap = swap};
        build_record(&whole, kind->number, misc, built(&b));
        perfile_record r = record_of(s, kind->number, misc, (perfile_bytes){NULL, 0});
        r.header = whole.b.ptr;
        r.body = (perfile_bytes){whole.b.ptr + 8, whole.b.len - 8};
        check_record(&r, perfile_session_event(s, 0)->layout);
    }
    build_clear(&b);
    pf_session_free(s);
}

static void generated(void **state)
{
    (void)state;
    size_t n;
    const pf_row *all = pf_record_rows(&n);
    n_same = n_dropped = n_added = n_odd = 0;
    for (size_t i = 0; i < n; i++) {
        dice d = {77 * (i + 1)};
        unsigned times = all[i].number == PERFILE_RECORD_SAMPLE ? 10 * INSTANCES
                         : all[i].number == PERFILE_RECORD_READ ? INSTANCES
                                                                : INSTANCES / 10;
        for (unsigned k = 0; all[i].number < PERFILE_RECORD_USER && k < times; k++)
            generated_record(&all[i], &d);
    }
    print_message("%u the same, %u with less, %u with ids, %u odd\n", n_same, n_dropped, n_added,
                  n_odd);
    assert_true(n_same > 3000 && n_dropped > 5000 && n_added > 5000 &&
                10 * n_odd < n_dropped + n_added);
}

/* Recorded ones, and the same in the other byte order. */
static void one_capture(const char *path, perfile_stream *s)
{
    const perfile_record *r;
    uint8_t *twin = malloc(ROOM);
    unsigned seen = 0;
    (void)path;
    assert_non_null(twin);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        const perfile_layout *l = pf_record_layout(r, NULL);
        size_t n = perfile_record_size(r);
        if (r->family != PERFILE_FAMILY_PERF || !l || n > UINT16_MAX)
            continue;
        check_same(r, l);
        /* The whole for a part of them is enough. */
        if (seen++ > 200 && seen % 64)
            continue;
        check_record(r, l);
        if (pf_swap_record(r, twin, NULL) != PERFILE_OK)
            continue;
        perfile_session *other = session_of(l, !(r->flags & PERFILE_REC_SWAPPED));
        perfile_record t = *r;
        t.header = twin;
        t.body.ptr = twin + 8;
        t.flags ^= PERFILE_REC_SWAPPED;
        t.session = other;
        check_record(&t, l);
        pf_session_free(other);
    }
    free(twin);
}

static void captures(void **state)
{
    (void)state;
    n_same = n_dropped = n_added = n_odd = 0;
    unsigned n = recorded_each(one_capture);
    print_message("%u captures: %u the same, %u with less, %u with ids, %u odd\n", n, n_same,
                  n_dropped, n_added, n_odd);
    assert_true(n >= 18 && n_same > 1000 && n_dropped > 1000 && n_added > 1000 &&
                100 * n_odd < n_added);
}

/* What cannot be is refused by name. */
static void refusals(void **state)
{
    (void)state;
    perfile_error err;
    pf_relayout plan;
    const perfile_layout none = {.sample_type = 0};
    const perfile_layout l = layout_with(&none, PERFILE_SAMPLE_READ, 0, 0, false);
    perfile_layout to = layout_with(&none, PERFILE_SAMPLE_READ | PERFILE_SAMPLE_TIME, 0, 0, false);
    assert_int_equal(pf_relayout_plan(&plan, &l, &to, &err), PERFILE_E_UNSUPPORTED);
    assert_string_equal(err.where, "layout.sample_type");
    to = layout_with(&none, PERFILE_SAMPLE_READ, PERFILE_FORMAT_LOST, 0, false);
    assert_int_equal(pf_relayout_plan(&plan, &l, &to, &err), PERFILE_E_UNSUPPORTED);
    assert_string_equal(err.where, "layout.read_format");
    to = layout_with(&none, PERFILE_SAMPLE_READ, 0, 0, true);
    assert_int_equal(pf_relayout_plan(&plan, &l, &to, &err), PERFILE_E_UNSUPPORTED);
    assert_string_equal(err.where, "layout.sample_id_all");

    /* An id more than a record can hold. */
    static uint8_t large[65528] = {9, 0, 0, 0, 0, 0, 0xf8, 0xff};
    const perfile_layout raw = layout_with(&none, PERFILE_SAMPLE_IP, 0, 0, false);
    to = layout_with(&none, PERFILE_SAMPLE_IP | PERFILE_SAMPLE_IDENTIFIER, 0, 0, false);
    const perfile_record r = {.header = large, .body = {large + 8, sizeof large - 8}, .type = 9};
    size_t n;
    assert_int_equal(pf_relayout_plan(&plan, &raw, &to, &err), PERFILE_OK);
    assert_int_equal(pf_relayout_record(&plan, &r, 1, out, &n, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "record.size");
    /* A record of a kernel to come ends with a trailer as all do. */
    const perfile_layout trailer = layout_with(&none, PERFILE_SAMPLE_TIME, 0, 0, true);
    to = layout_with(&none, PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_IDENTIFIER, 0, 0, true);
    const perfile_record unknown = {.header = large, .body = {large + 8, 8}, .type = 60};
    assert_int_equal(pf_relayout_plan(&plan, &trailer, &to, &err), PERFILE_OK);
    assert_int_equal(pf_relayout_record(&plan, &unknown, 1, out, &n, &err), PERFILE_OK);
    assert_int_equal(n, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated),
        cmocka_unit_test(captures),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
