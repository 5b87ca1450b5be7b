/* Any bytes as input of a model.  Its answers and lists are consistent with each other, and do not
 * depend on the order in which records arrived. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/transcript.h"
#include "model/command.h"

enum { MOST = 512 };

/* The memory limit may be so low that the model rejects records; it must still answer. */
static bool tight;

/* Copies of records that outlive their run. */
typedef struct kept {
    perfile_record at[MOST];
    size_t n;
    bool ties; /* two records have the same time, or one has none: then their order matters */
} kept;

static bool is_world(uint32_t type)
{
    return pf_model_wants(type) && type != PERFILE_RECORD_SAMPLE && type != PERFILE_RECORD_SWITCH;
}

static void keep(kept *k, const perfile_record *r)
{
    if (k->n == MOST || !pf_model_wants(r->type) || r->family != PERFILE_FAMILY_PERF)
        return;
    uint8_t *bytes = malloc(8 + r->body.len);
    ENSURE(bytes);
    memcpy(bytes, r->header, 8);
    if (r->body.len)
        memcpy(bytes + 8, r->body.ptr, r->body.len);
    k->at[k->n] = *r;
    k->at[k->n].header = bytes;
    k->at[k->n++].body.ptr = bytes + 8;
}

/* Called when the session is complete, because facts that it collects may change a record's
 * time. */
static void find_ties(kept *k)
{
    for (size_t i = 0; i < k->n; i++) {
        uint64_t time = perfile_record_time(&k->at[i]);
        if (!is_world(k->at[i].type))
            continue;
        k->ties |= time == PERFILE_NO_TIME;
        for (size_t j = 0; j < i; j++)
            k->ties |= is_world(k->at[j].type) && perfile_record_time(&k->at[j]) == time;
    }
}

static void release(kept *k)
{
    for (size_t i = 0; i < k->n; i++)
        free((void *)(uintptr_t)k->at[i].header);
    k->n = 0;
}

static bool covers(const perfile_mapping *m, uint64_t addr)
{
    return addr >= m->addr && addr - m->addr < m->len;
}

static void feed(perfile_model *m, const perfile_record *r)
{
    perfile_error err = {0};
    perfile_status st = perfile_model_feed(m, r, &err);
    ENSURE(st == PERFILE_OK || (tight && st == PERFILE_E_LIMIT && err.where && err.message[0]));
}

/* Returns NULL if the limit is too low. */
static perfile_model *new_model(const perfile_session *s)
{
    perfile_model *m = NULL;
    perfile_status st = perfile_model_open(s, &m, NULL);
    ENSURE(st == PERFILE_OK || (tight && st == PERFILE_E_LIMIT));
    return m;
}

/* Adds the answers for an address and a time to the transcript. */
static void ask(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t time,
                transcript *t)
{
    const char *comm = perfile_model_comm(m, pid, tid, time);
    const perfile_mapping *mapping = perfile_model_mapping(m, pid, addr, time);
    tell_bytes(t, "comm", (perfile_bytes){(const uint8_t *)comm, comm ? strlen(comm) : 0});
    tell_number(t, "mapped", mapping != NULL);
    if (!mapping)
        return;
    ENSURE(mapping->name && covers(mapping, addr));
    ENSURE(time == PERFILE_NO_TIME || mapping->start <= time);
    ENSURE(mapping->build_id_size <= sizeof mapping->build_id);
    tell_number(t, "addr", mapping->addr);
    tell_number(t, "len", mapping->len);
    tell_number(t, "pgoff", mapping->pgoff);
    tell_number(t, "start", mapping->start);
    tell_bytes(t, "name", (perfile_bytes){(const uint8_t *)mapping->name, strlen(mapping->name)});
}

static void ask_all(const perfile_model *m, const kept *k, transcript *t)
{
    for (size_t i = 0; i < k->n; i++) {
        uint32_t pid = 1, tid = 1;
        uint64_t ip = 0x400000, time = perfile_record_time(&k->at[i]);
        perfile_record_task(&k->at[i], &pid, &tid);
        if (k->at[i].type == PERFILE_RECORD_SAMPLE)
            perfile_sample_field(&k->at[i], PERFILE_SAMPLE_IP, &ip);
        ask(m, pid, tid, ip, time, t);
        ask(m, PERFILE_NO_PID, tid, ip, time, t);
        ask(m, pid, tid, ip, PERFILE_NO_TIME, t);
    }
}

static void list_threads(perfile_model *m, transcript *t)
{
    const perfile_thread *all;
    size_t n;
    ENSURE(perfile_model_threads(m, &all, &n, NULL) == PERFILE_OK);
    tell_number(t, "threads", n);
    for (size_t i = 0; i < n; i++) {
        const perfile_thread *a = &all[i], *before = i ? &all[i - 1] : NULL;
        ENSURE(!before || before->pid < a->pid || (before->pid == a->pid && before->tid <= a->tid));
        ENSURE(a->n_names == 0 || a->names);
        tell_number(t, "pid", a->pid);
        tell_number(t, "tid", a->tid);
        tell_number(t, "ppid", a->ppid);
        tell_number(t, "start", a->start);
        tell_number(t, "end", a->end);
        tell_bytes(t, "comm",
                   (perfile_bytes){(const uint8_t *)a->comm, a->comm ? strlen(a->comm) : 0});
        for (uint32_t k = 0; k < a->n_names; k++) {
            ENSURE(a->names[k].name);
            ENSURE(k == 0 || a->names[k - 1].time <= a->names[k].time);
            tell_number(t, "named", a->names[k].time);
        }
    }
}

static void list_processes(perfile_model *m, transcript *t)
{
    const perfile_process *all;
    const perfile_thread *threads;
    size_t n, n_threads, sum = 0;
    ENSURE(perfile_model_threads(m, &threads, &n_threads, NULL) == PERFILE_OK);
    ENSURE(perfile_model_processes(m, &all, &n, NULL) == PERFILE_OK);
    tell_number(t, "processes", n);
    for (size_t i = 0; i < n; i++) {
        ENSURE(i == 0 || all[i - 1].pid <= all[i].pid);
        sum += all[i].n_threads;
        tell_number(t, "pid", all[i].pid);
        tell_number(t, "ppid", all[i].ppid);
        tell_number(t, "start", all[i].start);
        tell_number(t, "end", all[i].end);
        tell_number(t, "threads", all[i].n_threads);
    }
    ENSURE(sum <= n_threads && n <= n_threads);
}

static void list_mappings(perfile_model *m, transcript *t)
{
    const perfile_mapping *all;
    size_t n;
    ENSURE(perfile_model_mappings(m, &all, &n, NULL) == PERFILE_OK);
    tell_number(t, "mappings", n);
    for (size_t i = 0; i < n; i++) {
        const perfile_mapping *a = &all[i], *before = i ? &all[i - 1] : NULL;
        ENSURE(a->name && a->build_id_size <= sizeof a->build_id);
        /* The kernel, with the largest number, may come first. */
        ENSURE(!before || before->pid != a->pid || before->addr < a->addr ||
               (before->addr == a->addr && before->start <= a->start));
        tell_number(t, "pid", a->pid);
        tell_number(t, "addr", a->addr);
        tell_number(t, "len", a->len);
        tell_number(t, "start", a->start);
        tell_number(t, "end", a->end);
        tell_bytes(t, "name", (perfile_bytes){(const uint8_t *)a->name, strlen(a->name)});
    }
}

/* Feeds the records forwards or backwards and returns a hash of all answers at the end.  With
 * `between` the model is also queried meanwhile, which must not change anything. */
static uint64_t world(const perfile_session *s, const kept *k, bool backwards, bool between)
{
    transcript t = {0}, other = {0};
    perfile_model *m = new_model(s);
    if (!m)
        return 0;
    for (size_t i = 0; i < k->n; i++) {
        const perfile_record *r = &k->at[backwards ? k->n - 1 - i : i];
        feed(m, r);
        if (between && i % 8 == 3) {
            ask(m, 100, 101, 0x401000, 5000 + i, &other);
            list_threads(m, &other);
            list_mappings(m, &other);
        }
    }
    ask_all(m, k, &t);
    list_processes(m, &t);
    list_threads(m, &t);
    list_mappings(m, &t);
    perfile_model_close(m);
    return t.hash;
}

/* The common use of a model: it is fed while the stream is read. */
static void walk(perfile_stream *s, kept *k)
{
    const perfile_record *r;
    perfile_model *m = new_model(perfile_stream_session(s));
    transcript t = {0};
    if (!m)
        return;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        feed(m, r);
        keep(k, r);
    }
    list_threads(m, &t);
    list_processes(m, &t);
    list_mappings(m, &t);
    perfile_model_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static kept k;
    choices c = {data, size};
    uint64_t chosen = choose(&c, 1);
    perfile_limits limits = small_limits;
    perfile_open_options options = {.size = sizeof options,
                                    .limits = &limits,
                                    .on_damage =
                                        PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 1 & 3) % 3};
    tight = chosen & 8;
    if (tight)
        limits.model_bytes = 64 * (chosen >> 4);
    perfile_source *source;
    perfile_stream *s;
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    k.ties = false;
    perfile_bytes in = {block, c.left};
    ENSURE(perfile_source_memory(in, "input", &source, NULL) == PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
    } else {
        walk(s, &k);
        find_ties(&k);
        const perfile_session *session = perfile_stream_session(s);
        uint64_t forwards = world(session, &k, false, false);
        if (!tight) /* queries between records take memory, too */
            ENSURE(world(session, &k, false, true) == forwards);
        if (!k.ties && !tight)
            ENSURE(world(session, &k, true, chosen & 1) == forwards);
        perfile_stream_close(s);
    }
    release(&k);
    free(block);
    return 0;
}
