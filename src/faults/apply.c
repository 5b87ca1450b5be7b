/* Makes damages, and proves by the rules of src/check that each of them is one.
 *
 * A damage is made on a copy of the capture.  The copy is checked like the capture was: a rule that
 * has more findings than before reports the damage.  If none of the rules of the damage does, the
 * next place of the group is tried, so a damage that would not be noticed is never returned. */
#include "faults/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "check/command.h"
#include "io/command.h"
#include "io/out.h"
#include "io/source.h"
#include "perfile/stream.h"

enum {
    MAGIC = 8,
    READ_AT_ONCE = 1 << 16,
    TRIES_OF_A_ROW = 32 /* groups that pf_faults_make_any() tries */
};

const pf_fault *pf_fault_at(size_t position)
{
#define FAULT(id, name, rules, sentence) {name, rules, sentence},
    static const pf_fault rows[] = {
#include "format/faults.def"
    };
    return position < PF_N_FAULTS ? &rows[position] : NULL;
}

uint64_t pf_fault_load(const uint8_t *at, uint64_t width, bool swap)
{
    return width == 8   ? pf_load_u64(at, swap)
           : width == 4 ? pf_load_u32(at, swap)
           : width == 2 ? pf_load_u16(at, swap)
                        : *at;
}

void pf_fault_store(uint8_t *at, uint64_t width, uint64_t value, bool swap)
{
    if (width == 8)
        pf_store_u64(at, value, swap);
    else if (width == 4)
        pf_store_u32(at, (uint32_t)value, swap);
    else if (width == 2)
        pf_store_u16(at, (uint16_t)value, swap);
    else
        *at = (uint8_t)value;
}

/* Reading. */

static bool is_perf_data(const pf_buffer *b)
{
    static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP"};
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (b->len >= MAGIC && memcmp(b->ptr, magics[i], MAGIC) == 0)
            return true;
    return false;
}

perfile_status pf_faults_read(perfile_source *source, perfile_bytes *bytes, perfile_error *err)
{
    if (pf_source_is_directory(source))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "faults",
                       "a directory; damages are made in one file");
    pf_buffer all = {0};
    perfile_bytes run = {0};
    perfile_status st;
    while ((st = pf_source_run(source, all.len, READ_AT_ONCE, &run, err)) == PERFILE_OK &&
           run.len > 0) {
        if (run.len > PF_FAULTS_MOST_BYTES - all.len)
            st = pf_fail(err, PERFILE_E_LIMIT, "faults.bytes", "more than %d bytes",
                         (int)PF_FAULTS_MOST_BYTES);
        else if (!pf_buffer_append(&all, run.ptr, run.len))
            st = pf_fail_nomem(err, "faults");
        if (st != PERFILE_OK)
            break;
    }
    if (st == PERFILE_OK && !is_perf_data(&all))
        st = pf_fail(err, PERFILE_E_UNSUPPORTED, "faults", "not a perf.data file or pipe");
    /* The caller gets a block of its own, which begins at its allocation. */
    uint8_t *block = st == PERFILE_OK ? pf_alloc(all.len, 1) : NULL;
    if (block) {
        memcpy(block, all.ptr, all.len);
        *bytes = (perfile_bytes){block, all.len};
    } else if (st == PERFILE_OK) {
        st = pf_fail_nomem(err, "faults");
    }
    pf_buffer_free(&all);
    return st;
}

void pf_faults_free(perfile_bytes bytes)
{
    union {
        const uint8_t *given;
        uint8_t *own;
    } p = {bytes.ptr};
    pf_free(p.own);
}

perfile_status pf_fault_stream(perfile_bytes bytes, perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_status st = perfile_source_memory(bytes, "capture", &source, err);
    if (st != PERFILE_OK)
        return st;
    const perfile_open_options how = {.size = sizeof how};
    st = perfile_open(source, &how, stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* Findings. */

static void on_refusal(void *user, const perfile_finding *finding)
{
    pf_fault_counts *counts = user;
    counts->of[finding->rule]++;
}

static perfile_status read_to_end(perfile_stream *s, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st;
    while ((st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        ;
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

/* Counts the findings in a capture, as `perfile validate` does.  Only fails when out of memory: a
 * capture that cannot be read to its end has the findings up to there. */
static perfile_status count_findings(perfile_bytes bytes, pf_fault_counts *counts,
                                     perfile_error *err)
{
    const perfile_check_options check = {
        .size = sizeof check, .finding = on_refusal, .user = counts};
    perfile_stream *s;
    perfile_error ours;
    *counts = (pf_fault_counts){0};
    perfile_status st = pf_fault_stream(bytes, &s, &ours);
    if (st == PERFILE_OK) {
        const perfile_check_options silent = {.size = sizeof silent};
        st = perfile_check(s, &silent, &s, &ours);
        if (st == PERFILE_OK)
            st = read_to_end(s, &ours);
        for (unsigned rule = 0; st == PERFILE_OK && rule < PERFILE_RULE_LIMIT; rule++)
            for (unsigned severity = PERFILE_SEVERITY_NOTE; severity <= PERFILE_SEVERITY_ERROR;
                 severity++) {
                perfile_check_summary sum = {0};
                perfile_check_get_summary(s, rule, severity, &sum, sizeof sum);
                counts->of[rule] += sum.count;
            }
        perfile_stream_close(s);
    } else if (st != PERFILE_E_NOMEM) {
        pf_check_refused(&ours, &check);
        return PERFILE_OK;
    }
    if (st != PERFILE_OK && err)
        *err = ours;
    return st;
}

/* Returns the first rule of `list` that has more findings now, or NULL. */
static const char *fired(const char *list, const pf_fault_counts *before,
                         const pf_fault_counts *now)
{
    const perfile_rule *r;
    while (*list) {
        const size_t n = strcspn(list, ",");
        for (size_t i = 0; (r = perfile_rule_at(i)); i++)
            if (strncmp(r->id, list, n) == 0 && now->of[r->number] > before->of[r->number])
                return r->id;
        list += n + (list[n] == ',');
    }
    return NULL;
}

/* Changes. */

static const char *change_name(uint8_t change)
{
    static const char *const names[] = {"set", "flip", "cut", "double", "swap", "fill", "append"};
    return names[change];
}

/* Flips a bit of the place.  The report is about its byte. */
static void flip(uint8_t *all, const pf_place *p, pf_random *random, pf_fault_change *c)
{
    const uint64_t bit = pf_random_below(random, p->width * 8);
    uint8_t *byte = all + p->offset + bit / 8;
    c->offset += bit / 8;
    c->bytes = 1;
    c->has_values = true;
    c->before = *byte;
    *byte ^= (uint8_t)(1U << bit % 8);
    c->after = *byte;
}

/* Writes the damaged capture to `to`, which has room for the capture, the place and p->value more
 * bytes, and returns its length. */
static size_t apply(const pf_faults *f, const pf_place *p, pf_random *random, uint8_t *to,
                    pf_fault_change *c)
{
    const uint8_t *from = f->bytes.ptr;
    const size_t len = f->bytes.len, at = (size_t)p->offset, n = (size_t)p->width;
    size_t cut;
    c->offset = p->offset;
    c->bytes = p->width;
    memcpy(to, from, len);
    switch (p->change) {
    case PF_CHANGE_SET:
        c->has_values = true;
        c->before = pf_fault_load(from + at, n, f->swap);
        pf_fault_store(to + at, n, p->value, f->swap);
        c->after = pf_fault_load(to + at, n, f->swap);
        return len;
    case PF_CHANGE_FLIP:
        flip(to, p, random, c);
        return len;
    case PF_CHANGE_CUT:
        cut = at + 1 + (size_t)pf_random_below(random, p->width - 1);
        c->offset = cut;
        c->bytes = len - cut;
        return cut;
    case PF_CHANGE_DOUBLE:
        memcpy(to + at + n, from + at, len - at);
        c->offset = at + n;
        return len + n;
    case PF_CHANGE_SWAP:
        memcpy(to + at, from + at + n, (size_t)p->value);
        memcpy(to + at + p->value, from + at, n);
        c->bytes = p->width + p->value;
        return len;
    case PF_CHANGE_FILL:
        memset(to + at, 'A', n);
        return len;
    default: /* PF_CHANGE_APPEND */
        memset(to + len, 0, (size_t)p->value);
        c->bytes = p->value;
        return len + (size_t)p->value;
    }
}

/* Makes the damage at one place.  PERFILE_END: no rule reports it. */
static perfile_status try_place(const pf_faults *f, const pf_group *g, const pf_place *p,
                                pf_random *random, pf_fault_change *change, perfile_bytes *bytes,
                                perfile_error *err)
{
    const bool grows = p->change == PF_CHANGE_DOUBLE || p->change == PF_CHANGE_APPEND;
    const size_t more = grows ? (size_t)(p->width + p->value) : 0;
    if (p->change == PF_CHANGE_CUT && p->width < 2)
        return PERFILE_END;
    pf_fault_change c = {.fault = pf_fault_at(g->fault),
                         .how = change_name(p->change),
                         .place = g->what,
                         .field = g->field,
                         .index = p->index,
                         .type = p->type};
    uint8_t *to = pf_alloc(f->bytes.len + more, 1);
    pf_fault_counts *now = pf_alloc(1, sizeof *now);
    perfile_status st = to && now ? PERFILE_OK : pf_fail_nomem(err, "faults");
    if (st == PERFILE_OK) {
        const perfile_bytes made = {to, apply(f, p, random, to, &c)};
        st = count_findings(made, now, err);
        c.rule = st == PERFILE_OK ? fired(c.fault->rules, &f->before, now) : NULL;
        if (c.rule) {
            *change = c;
            *bytes = made;
            to = NULL;
        } else if (st == PERFILE_OK) {
            st = PERFILE_END;
        }
    }
    pf_free(now);
    pf_free(to);
    return st;
}

perfile_status pf_faults_make(const pf_faults *f, size_t group, pf_fault_change *change,
                              perfile_bytes *bytes, perfile_error *err)
{
    const pf_group *g = &f->groups[group];
    pf_random random = g->random;
    const size_t n = g->seen < PF_PLACES_KEPT ? (size_t)g->seen : PF_PLACES_KEPT;
    const size_t first = (size_t)pf_random_below(&random, n);
    perfile_status st = PERFILE_END;
    for (size_t i = 0; i < n && st == PERFILE_END; i++)
        st = try_place(f, g, &g->at[(first + i) % n], &random, change, bytes, err);
    return st;
}

perfile_status pf_faults_make_any(const pf_faults *f, size_t row, pf_fault_change *change,
                                  perfile_bytes *bytes, perfile_error *err)
{
    pf_random random = {f->seed ^ row};
    size_t of_row = 0;
    for (size_t i = 0; i < f->n; i++)
        of_row += f->groups[i].fault == row;
    if (of_row == 0)
        return PERFILE_END;
    size_t skip = (size_t)pf_random_below(&random, of_row), tries = 0;
    perfile_status st = PERFILE_END;
    /* The groups of the row in their order, from the chosen one on and around. */
    for (size_t i = 0; i < 2 * (size_t)f->n && tries < TRIES_OF_A_ROW && st == PERFILE_END; i++) {
        if (f->groups[i % f->n].fault != row || (skip && skip--))
            continue;
        if (tries++ < of_row)
            st = pf_faults_make(f, i % f->n, change, bytes, err);
    }
    return st;
}

perfile_status pf_faults_fires(const pf_faults *f, const char *rule, perfile_bytes bytes,
                               bool *fires, perfile_error *err)
{
    pf_fault_counts *now = pf_alloc(1, sizeof *now);
    perfile_status st = now ? count_findings(bytes, now, err) : pf_fail_nomem(err, "faults");
    if (st == PERFILE_OK)
        *fires = fired(rule, &f->before, now) != NULL;
    pf_free(now);
    return st;
}

/* Groups. */

static int compare(const void *a, const void *b)
{
    const pf_group *x = a, *y = b;
    const int by_fault = x->fault < y->fault ? -1 : x->fault > y->fault;
    const int by_what = strcmp(x->what, y->what);
    return by_fault ? by_fault : by_what ? by_what : strcmp(x->field, y->field);
}

perfile_status pf_faults_open(perfile_bytes bytes, uint64_t seed, pf_faults **faults,
                              perfile_error *err)
{
    pf_faults *f = pf_alloc(1, sizeof *f);
    if (!f)
        return pf_fail_nomem(err, "faults");
    f->bytes = bytes;
    f->seed = seed;
    perfile_status st = pf_fault_places(f, err);
    if (st == PERFILE_OK)
        st = count_findings(bytes, &f->before, err);
    if (st != PERFILE_OK) {
        pf_faults_close(f);
        return st;
    }
    if (f->n)
        qsort(f->groups, f->n, sizeof *f->groups, compare);
    *faults = f;
    return PERFILE_OK;
}

void pf_faults_close(pf_faults *f)
{
    if (f)
        pf_free(f->groups);
    pf_free(f);
}

size_t pf_faults_n(const pf_faults *f)
{
    return f->n;
}

size_t pf_faults_row(const pf_faults *f, size_t group)
{
    return f->groups[group].fault;
}

const char *pf_faults_name(const pf_faults *f, size_t group, char out[PF_FAULTS_NAME])
{
    const pf_group *g = &f->groups[group];
    snprintf(out, PF_FAULTS_NAME, "%s.%s.%s", pf_fault_at(g->fault)->name, g->what, g->field);
    return out;
}

perfile_status pf_faults_put(perfile_sink *folder, const char *name, perfile_bytes bytes,
                             perfile_error *err)
{
    perfile_sink *file;
    perfile_status st = pf_sink_folder_file(folder, name, &file, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_sink_write(file, bytes, err);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(file, err);
    perfile_sink_close(file);
    return st;
}
