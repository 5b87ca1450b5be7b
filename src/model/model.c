/* The process model: collects processes, threads, names and mappings from side-band records. ask.c
 * answers which name a thread had and which mapping an address had at a given time.
 *
 * Records arrive in stream order, not in time order.  So everything is stored with its time, and an
 * answer is a search for the latest change up to time t (history.h, space.h).  Records without a
 * time count as time 0, before the recording.  Records that cannot be decoded are ignored. */
#include "perfile/model.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "core/session.h"
#include "model/state.h"
#include "model/command.h"

void *pf_array_grow(pf_budget *budget, void *at, size_t *cap, size_t width)
{
    /* Positions in arrays have 32 bits. */
    size_t grown = *cap ? *cap + *cap / 2 : 16;
    void *p = grown < UINT32_MAX ? pf_budget_realloc(budget, at, *cap, grown, width) : NULL;
    if (p)
        *cap = grown;
    return p;
}

perfile_status pf_model_fail(perfile_model *m, perfile_error *err)
{
    if (!m->budget.refused)
        return pf_fail_nomem(err, "model");
    m->budget.refused = false;
    return pf_fail(err, PERFILE_E_LIMIT, "model_bytes",
                   "processes, names and mappings need more than %llu bytes",
                   (unsigned long long)m->budget.limit);
}

perfile_status perfile_model_open(const perfile_session *s, perfile_model **model,
                                  perfile_error *err)
{
    perfile_model *m = pf_alloc(1, sizeof *m);
    if (!m)
        return pf_fail_nomem(err, "model");
    m->session = s;
    /* All structures share one budget and one random hash seed. */
    m->budget.limit = pf_session_model_bytes(s);
    pf_index *const indexes[] = {&m->task_index, &m->space_index, &m->id_index, &m->mapping_index};
    m->texts.seed = pf_index_seed(m);
    m->texts.budget = m->history.budget = m->removed_symbols.budget = m->symbols.budget =
        &m->budget;
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        indexes[i]->seed = m->texts.seed;
        indexes[i]->budget = &m->budget;
    }
    m->last_task = (pf_task){PERFILE_NO_PID, PERFILE_NO_PID};
    m->idle_name = pf_texts_keep(&m->texts, (perfile_bytes){(const uint8_t *)"swapper", 7});
    if (!m->idle_name || !pf_model_add_facts(m)) {
        perfile_status st = pf_model_fail(m, err);
        perfile_model_close(m);
        return st;
    }
    *model = m;
    return PERFILE_OK;
}

void pf_model_drop_lists(perfile_model *m)
{
    pf_free(m->names);
    pf_free(m->threads);
    pf_free(m->processes);
    pf_free(m->sorted);
    m->names = NULL;
    m->threads = NULL;
    m->processes = NULL;
    m->sorted = NULL;
    m->has_threads = m->has_sorted = false;
}

void perfile_model_close(perfile_model *m)
{
    if (!m)
        return;
    pf_model_drop_lists(m);
    pf_texts_free(&m->texts);
    pf_history_free(&m->history);
    pf_history_free(&m->removed_symbols);
    pf_index_free(&m->task_index);
    pf_index_free(&m->space_index);
    pf_index_free(&m->id_index);
    pf_index_free(&m->mapping_index);
    for (size_t i = 0; i < m->spaces.n; i++)
        pf_space_free(&m->spaces.at[i]);
    pf_space_free(&m->symbols);
    PF_ARRAY_FREE(&m->budget, m->spaces);
    PF_ARRAY_FREE(&m->budget, m->tasks);
    PF_ARRAY_FREE(&m->budget, m->mappings);
    PF_ARRAY_FREE(&m->budget, m->ids);
    PF_ARRAY_FREE(&m->budget, m->next_of_file);
    pf_free(m);
}

bool pf_model_wants(uint32_t type)
{
    switch (type) {
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
    case PERFILE_RECORD_COMM:
    case PERFILE_RECORD_FORK:
    case PERFILE_RECORD_EXIT:
    case PERFILE_RECORD_KSYMBOL:
    case PERFILE_RECORD_HEADER_BUILD_ID:
    case PERFILE_RECORD_HEADER_FEATURE:
    case PERFILE_RECORD_SAMPLE:
    case PERFILE_RECORD_SWITCH:
        return true;
    default:
        return false;
    }
}

/* Notes that a thread exists.  Each thread is stored once. */
static bool note_task(perfile_model *m, uint32_t pid, uint32_t tid)
{
    if (pid == PERFILE_NO_PID || tid == PERFILE_NO_PID)
        return true; /* the kernel, or a task that has exited */
    if (m->last_task.pid == pid && m->last_task.tid == tid)
        return true;
    uint64_t key = pf_pair(pid, tid);
    if (pf_index_get(&m->task_index, key) == PF_INDEX_NONE) {
        if (!PF_ARRAY_RESERVE(&m->budget, m->tasks) ||
            !pf_index_put(&m->task_index, key, (uint32_t)m->tasks.n))
            return false;
        m->tasks.at[m->tasks.n++] = (pf_task){pid, tid};
    }
    m->last_task = (pf_task){pid, tid};
    return true;
}

/* Adds a change to the history, with the sequence number of the current record. */
static bool add_change(perfile_model *m, uint64_t key, uint64_t time, uint64_t value, uint32_t pid,
                       uint32_t flags)
{
    pf_change c = {key, time, m->sequence, value, pid, flags};
    return pf_history_add(&m->history, &c);
}

/* COMM: a new name; with the exec flag also a new process image. */
static bool feed_comm(perfile_model *m, const perfile_record *r, uint64_t time)
{
    perfile_comm c;
    if (perfile_comm_decode(r, &c, sizeof c, NULL) != PERFILE_OK)
        return true;
    const char *name = pf_texts_keep(&m->texts, c.comm);
    uint32_t exec = r->misc & PERFILE_MISC_COMM_EXEC ? PF_CHANGE_EXEC : 0;
    return name && note_task(m, c.pid, c.tid) &&
           add_change(m, pf_key(PF_CHANGE_NAME, c.tid), time, (uintptr_t)name, c.pid, exec) &&
           (!exec || add_change(m, pf_key(PF_CHANGE_IMAGE, c.pid), time, PERFILE_NO_PID, c.pid,
                                PF_CHANGE_EXEC));
}

/* FORK: a thread starts.  If it is the first of a new process, a process image starts, too. */
static bool feed_fork(perfile_model *m, const perfile_record *r, uint64_t time)
{
    perfile_fork f;
    if (perfile_fork_decode(r, &f, sizeof f, NULL) != PERFILE_OK)
        return true;
    /* A synthesized FORK (misc FORK_EXEC) is for a task that existed before the recording: its
     * names and mappings have synthesized records of their own and are not inherited. */
    uint32_t inherits = r->misc & PERFILE_MISC_FORK_EXEC ? 0 : PF_CHANGE_INHERITS;
    return note_task(m, f.pid, f.tid) &&
           add_change(m, pf_key(PF_CHANGE_START, f.tid), time, pf_pair(f.ppid, f.ptid), f.pid,
                      inherits) &&
           (f.pid == f.ppid || f.pid != f.tid ||
            add_change(m, pf_key(PF_CHANGE_IMAGE, f.pid), time, f.ppid, f.pid, inherits));
}

/* EXIT: a thread ends. */
static bool feed_exit(perfile_model *m, const perfile_record *r, uint64_t time)
{
    perfile_exit e;
    if (perfile_exit_decode(r, &e, sizeof e, NULL) != PERFILE_OK)
        return true;
    return note_task(m, e.pid, e.tid) &&
           add_change(m, pf_key(PF_CHANGE_END, e.tid), time, pf_pair(e.ppid, e.ptid), e.pid, 0);
}

/* Adds [addr, addr + len) to the space, as `mapping` or PF_SPAN_REMOVED.  The end is clamped to
 * UINT64_MAX; an empty range is ignored.  `may_repeat`: the same span may have been added before.
 */
static bool add_span(perfile_model *m, pf_space *s, uint64_t addr, uint64_t len, uint64_t time,
                     uint32_t mapping, bool may_repeat)
{
    pf_mapping_span span = {
        .begin = addr, .time = time, .sequence = m->sequence, .mapping = mapping};
    if (pf_add_u64(addr, len, &span.end))
        span.end = UINT64_MAX;
    return span.end == span.begin || pf_space_add(s, &span, may_repeat);
}

/* Returns the address space of process `pid`; adds it if needed.  Returns NULL when out of memory
 * or the budget is exhausted. */
static pf_space *get_space(perfile_model *m, uint32_t pid)
{
    uint32_t at = pf_index_get(&m->space_index, pid);
    if (at != PF_INDEX_NONE)
        return &m->spaces.at[at];
    if (!PF_ARRAY_RESERVE(&m->budget, m->spaces) ||
        !pf_index_put(&m->space_index, pid, (uint32_t)m->spaces.n))
        return NULL;
    /* The index has the position already, and nothing can fail from here on. */
    m->spaces.at[m->spaces.n] = (pf_space){.budget = &m->budget};
    return &m->spaces.at[m->spaces.n++];
}

/* Returns the hash of a mapping, as its record reports it, for mapping_index. */
static uint64_t hash_mapping(uint64_t seed, const perfile_mapping *x)
{
    const uint64_t words[] = {pf_pair(x->pid, x->tid),
                              x->addr,
                              x->len,
                              x->pgoff,
                              x->start,
                              (uintptr_t)x->name,
                              x->ino,
                              x->ino_generation,
                              pf_pair(x->maj, x->min),
                              pf_pair(x->prot, x->flags),
                              (uint64_t)x->kind << 32 | (uint64_t)x->cpumode << 16 |
                                  (uint64_t)x->generated << 3 | (uint64_t)x->has_inode << 2 |
                                  (uint64_t)x->has_prot << 1 | (uint64_t)x->data};
    /* Names are unique pointers, so the pointer represents the text. */
    uint64_t content = pf_index_hash(seed, (const uint8_t *)words, sizeof words);
    return x->build_id_size ? pf_index_hash(content, x->build_id, x->build_id_size) : content;
}

/* Returns true if `fresh`, from a record, repeats the stored mapping `a`.  If the record has no
 * build id, it is not compared, because the stored one may be from pf_model_add_build_id(). */
static bool same_mapping(const perfile_mapping *a, const perfile_mapping *fresh)
{
    return a->pid == fresh->pid && a->tid == fresh->tid && a->addr == fresh->addr &&
           a->len == fresh->len && a->pgoff == fresh->pgoff && a->start == fresh->start &&
           a->name == fresh->name && a->ino == fresh->ino &&
           a->ino_generation == fresh->ino_generation && a->maj == fresh->maj &&
           a->min == fresh->min && a->prot == fresh->prot && a->flags == fresh->flags &&
           a->kind == fresh->kind && a->cpumode == fresh->cpumode &&
           a->has_inode == fresh->has_inode && a->has_prot == fresh->has_prot &&
           a->data == fresh->data && a->generated == fresh->generated &&
           (!fresh->build_id_size ||
            (a->build_id_size == fresh->build_id_size &&
             memcmp(a->build_id, fresh->build_id, fresh->build_id_size) == 0));
}

/* Adds a mapping to space `s`; fails if `s` is NULL (out of memory).  A mapping that repeats a
 * stored one is not stored again: only its span is added once more, so that it counts as the
 * latest. */
static bool add_mapping(perfile_model *m, perfile_mapping *x, perfile_bytes name, pf_space *s)
{
    x->end = PERFILE_NO_TIME;
    x->name = pf_texts_keep(&m->texts, name);
    if (!x->name || !s)
        return false;
    uint64_t content = hash_mapping(m->mapping_index.seed, x);
    uint32_t at = pf_index_get(&m->mapping_index, content);
    if (at != PF_INDEX_NONE && same_mapping(&m->mappings.at[at], x))
        return add_span(m, s, x->addr, x->len, x->start, at, true);
    /* Two different mappings may have the same hash.  Then the index keeps the first one, and the
     * second is stored each time it is repeated. */
    if (!PF_ARRAY_RESERVE(&m->budget, m->mappings) ||
        !PF_ARRAY_RESERVE(&m->budget, m->next_of_file) ||
        (at == PF_INDEX_NONE && !pf_index_put(&m->mapping_index, content, (uint32_t)m->mappings.n)))
        return false;
    m->next_of_file.n++;
    m->mappings.at[m->mappings.n++] = *x;
    return pf_model_link_build_id(m) &&
           add_span(m, s, x->addr, x->len, x->start, (uint32_t)m->mappings.n - 1, false);
}

/* Copies up to 20 bytes of a build id into the mapping. */
static void set_build_id(perfile_mapping *x, perfile_bytes id)
{
    x->build_id_size = (uint8_t)(id.len < sizeof x->build_id ? id.len : sizeof x->build_id);
    if (x->build_id_size)
        memcpy(x->build_id, id.ptr, x->build_id_size);
}

/* Returns true if a mapping has no file: perf expects code there that the process has compiled. */
static bool is_anonymous(perfile_bytes name)
{
    static const char *const starts[] = {"/dev/zero", "/anon_hugepage"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        const size_t n = strlen(starts[i]);
        if (name.len >= n && memcmp(name.ptr, starts[i], n) == 0)
            return true;
    }
    return name.len == strlen("//anon") && memcmp(name.ptr, "//anon", name.len) == 0;
}

/* MMAP and MMAP2: a mapping of the process; pid -1 is the kernel. */
static bool feed_mmap(perfile_model *m, const perfile_record *r, uint64_t time)
{
    perfile_mapping x = {.start = time,
                         .cpumode = r->misc & PERFILE_MISC_CPUMODE_MASK,
                         .data = r->misc & PERFILE_MISC_MMAP_DATA};
    char map_file[32];
    perfile_bytes name;
    if (r->type == PERFILE_RECORD_MMAP) {
        perfile_mmap o;
        if (perfile_mmap_decode(r, &o, sizeof o, NULL) != PERFILE_OK)
            return true;
        x.pid = o.pid, x.tid = o.tid;
        x.addr = o.addr, x.len = o.len, x.pgoff = o.pgoff;
        name = o.filename;
    } else {
        perfile_mmap2 o;
        if (perfile_mmap2_decode(r, &o, sizeof o, NULL) != PERFILE_OK)
            return true;
        x.pid = o.pid, x.tid = o.tid;
        x.addr = o.addr, x.len = o.len, x.pgoff = o.pgoff;
        x.maj = o.maj, x.min = o.min;
        x.ino = o.ino, x.ino_generation = o.ino_generation;
        x.prot = o.prot, x.flags = o.flags;
        x.has_inode = o.has_inode, x.has_prot = o.has_prot;
        if (o.has_build_id)
            set_build_id(&x, o.build_id);
        name = o.filename;
    }
    x.generated = !x.data && x.pid != PERFILE_NO_PID && is_anonymous(name);
    if (x.generated)
        name = (perfile_bytes){
            (const uint8_t *)map_file,
            (size_t)snprintf(map_file, sizeof map_file, "/tmp/perf-%u.map", (unsigned)x.pid)};
    return note_task(m, x.pid, x.tid) && add_mapping(m, &x, name, get_space(m, x.pid));
}

/* KSYMBOL: code that the kernel registered or (flag 1) unregistered at an address. */
static bool feed_ksymbol(perfile_model *m, const perfile_record *r, uint64_t time)
{
    perfile_ksymbol o;
    if (perfile_ksymbol_decode(r, &o, sizeof o, NULL) != PERFILE_OK)
        return true;
    if (o.flags & 1) { /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
        pf_change c = {.key = o.addr, .time = time, .sequence = m->sequence};
        return pf_history_add(&m->removed_symbols, &c) &&
               add_span(m, &m->symbols, o.addr, o.len, time, PF_SPAN_REMOVED, true);
    }
    perfile_mapping x = {.pid = PERFILE_NO_PID,
                         .tid = PERFILE_NO_PID,
                         .addr = o.addr,
                         .len = o.len,
                         .start = time,
                         .kind = PERFILE_MAPPING_SYMBOL,
                         .cpumode = PERFILE_MISC_CPUMODE_KERNEL};
    return add_mapping(m, &x, o.name, &m->symbols);
}

bool pf_model_add_record(perfile_model *m, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    if (time == PERFILE_NO_TIME)
        time = 0; /* before the recording */
    m->sequence++;
    switch (r->type) {
    case PERFILE_RECORD_COMM:
        return feed_comm(m, r, time);
    case PERFILE_RECORD_FORK:
        return feed_fork(m, r, time);
    case PERFILE_RECORD_EXIT:
        return feed_exit(m, r, time);
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
        return feed_mmap(m, r, time);
    case PERFILE_RECORD_KSYMBOL:
        return feed_ksymbol(m, r, time);
    case PERFILE_RECORD_HEADER_BUILD_ID: {
        perfile_header_build_id o;
        return perfile_header_build_id_decode(r, &o, sizeof o, NULL) != PERFILE_OK ||
               pf_model_add_build_id(m, o.filename, o.build_id);
    }
    case PERFILE_RECORD_HEADER_FEATURE:
        return pf_model_add_facts(m);
    default:
        return true;
    }
}

perfile_status perfile_model_feed(perfile_model *m, const perfile_record *r, perfile_error *err)
{
    uint32_t pid, tid;
    if (r->family != PERFILE_FAMILY_PERF || !pf_model_wants(r->type))
        return PERFILE_OK;
    /* Samples are frequent and only show that a thread exists: they drop the lists only if the
     * thread is new. */
    if (r->type == PERFILE_RECORD_SAMPLE || r->type == PERFILE_RECORD_SWITCH) {
        size_t before = m->tasks.n;
        if (perfile_record_task(r, &pid, &tid) && !note_task(m, pid, tid))
            return pf_model_fail(m, err);
        if (m->tasks.n != before)
            pf_model_drop_lists(m);
        return PERFILE_OK;
    }
    pf_model_drop_lists(m);
    return pf_model_add_record(m, r) ? PERFILE_OK : pf_model_fail(m, err);
}
