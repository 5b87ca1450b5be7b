/* Lines for records other than samples: COMM, FORK, MMAP2 ….
 *
 * They are made when the records come, not by a worker thread, because each begins with the current
 * name of the recorded thread (pf_script.past). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/shorten.h"
#include "perfile/model.h"
#include "script/script.h"
#include "schema/command.h"
#include "core/command.h"

/* Returns the flag that shows records of this type; 0 if there is none. */
static uint32_t flag_of(uint32_t type)
{
    switch (type) {
    case PERFILE_RECORD_COMM:
    case PERFILE_RECORD_FORK:
    case PERFILE_RECORD_EXIT:
        return PERFILE_SCRIPT_TASKS;
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
        return PERFILE_SCRIPT_MMAPS;
    case PERFILE_RECORD_SWITCH:
    case PERFILE_RECORD_SWITCH_CPU_WIDE:
        return PERFILE_SCRIPT_SWITCHES;
    case PERFILE_RECORD_NAMESPACES:
        return PERFILE_SCRIPT_NAMESPACES;
    case PERFILE_RECORD_LOST:
        return PERFILE_SCRIPT_LOST;
    case PERFILE_RECORD_FINISHED_ROUND:
        return PERFILE_SCRIPT_ROUNDS;
    case PERFILE_RECORD_KSYMBOL:
    case PERFILE_RECORD_BPF_EVENT:
        return PERFILE_SCRIPT_BPF;
    case PERFILE_RECORD_CGROUP:
        return PERFILE_SCRIPT_CGROUPS;
    case PERFILE_RECORD_TEXT_POKE:
        return PERFILE_SCRIPT_TEXT_POKES;
    default:
        return 0;
    }
}

bool pf_script_shows(uint32_t flags, uint32_t type)
{
    return flags & flag_of(type);
}

/* Appends a name of a capture, up to its NUL. */
static bool put_name(pf_buffer *out, perfile_bytes name)
{
    const uint8_t *nul = name.len ? memchr(name.ptr, 0, name.len) : NULL;
    return pf_script_put_text(out, (const char *)name.ptr,
                              nul ? (size_t)(nul - name.ptr) : name.len, SIZE_MAX);
}

static bool put_comm(const perfile_record *r, pf_buffer *out)
{
    perfile_comm v;
    return perfile_comm_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
           (pf_script_printf(out, "%s: ", r->misc & PERFILE_MISC_COMM_EXEC ? " exec" : "") &&
            put_name(out, v.comm) &&
            pf_script_printf(out, ":%" PRId32 "/%" PRId32, (int32_t)v.pid, (int32_t)v.tid));
}

static bool put_task(uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid, pf_buffer *out)
{
    return pf_script_printf(out, "(%" PRId32 ":%" PRId32 "):(%" PRId32 ":%" PRId32 ")",
                            (int32_t)pid, (int32_t)tid, (int32_t)ppid, (int32_t)ptid);
}

static bool put_fork(const perfile_record *r, pf_buffer *out)
{
    perfile_fork v;
    return perfile_fork_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
           put_task(v.pid, v.tid, v.ppid, v.ptid, out);
}

static bool put_exit(const perfile_record *r, pf_buffer *out)
{
    perfile_exit v;
    return perfile_exit_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
           put_task(v.pid, v.tid, v.ppid, v.ptid, out);
}

/* Appends the output of %#lx. */
static bool put_hex(pf_buffer *out, uint64_t v)
{
    return pf_script_printf(out, "%#" PRIx64, v);
}

/* Appends " pid/tid: [addr(len) @ pgoff". */
static bool put_span(uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len, uint64_t pgoff,
                     pf_buffer *out)
{
    return pf_script_printf(out, " %" PRId32 "/%" PRId32 ": [", (int32_t)pid, (int32_t)tid) &&
           put_hex(out, addr) && pf_buffer_append_u8(out, '(') && put_hex(out, len) &&
           pf_buffer_append(out, ") @ ", 4) && put_hex(out, pgoff);
}

static bool put_mmap(const perfile_record *r, pf_buffer *out)
{
    perfile_mmap v;
    return perfile_mmap_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
           (put_span(v.pid, v.tid, v.addr, v.len, v.pgoff, out) &&
            pf_script_printf(out, "]: %c ", r->misc & PERFILE_MISC_MMAP_DATA ? 'r' : 'x') &&
            put_name(out, v.filename));
}

static bool put_build_id(const perfile_mmap2 *v, pf_buffer *out)
{
    bool ok = pf_buffer_append(out, " <", 2);
    for (size_t i = 0; i < v->build_id_size && i < v->build_id.len && ok; i++)
        ok = pf_script_printf(out, "%02x", v->build_id.ptr[i]);
    return ok && pf_buffer_append_u8(out, '>');
}

static bool put_mmap2(const perfile_record *r, pf_buffer *out)
{
    perfile_mmap2 v;
    if (perfile_mmap2_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    bool ok = put_span(v.pid, v.tid, v.addr, v.len, v.pgoff, out);
    if (v.has_build_id)
        ok = ok && put_build_id(&v, out);
    else
        ok = ok && pf_script_printf(out, " %02x:%02x %" PRIu64 " %" PRIu64, v.maj, v.min, v.ino,
                                    v.ino_generation);
    return ok &&
           pf_script_printf(out, "]: %c%c%c%c ", v.prot & 1 ? 'r' : '-', v.prot & 2 ? 'w' : '-',
                            v.prot & 4 ? 'x' : '-', v.flags & 1 ? 's' : 'p') &&
           put_name(out, v.filename);
}

static bool put_switch(const perfile_record *r, pf_buffer *out)
{
    perfile_switch_cpu_wide v;
    const bool out_of = r->misc & PERFILE_MISC_SWITCH_OUT;
    const char *what = !out_of                                     ? "IN         "
                       : r->misc & PERFILE_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
                                                                   : "OUT        ";
    if (r->type == PERFILE_RECORD_SWITCH)
        return pf_script_printf(out, " %s", what);
    return perfile_switch_cpu_wide_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
           pf_script_printf(out, " %s  %s pid/tid: %5" PRId32 "/%-5" PRId32, what,
                            out_of ? "next" : "prev", (int32_t)v.next_prev_pid,
                            (int32_t)v.next_prev_tid);
}

static bool put_namespaces(const perfile_record *r, pf_buffer *out)
{
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    enum { N = sizeof names / sizeof names[0] };
    perfile_namespaces v;
    perfile_ns_link link;
    if (perfile_namespaces_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    bool ok = pf_script_printf(out, " %" PRId32 "/%" PRId32 " - nr_namespaces: %" PRIu64 "\n\t\t[",
                               (int32_t)v.pid, (int32_t)v.tid, v.nr_namespaces);
    for (uint64_t i = 0; ok && perfile_ns_link_next(&v.link_info, &link, sizeof link) == PERFILE_OK;
         i++) {
        if (i && i % 4 == 0)
            ok = pf_buffer_append(out, "\n\t\t ", 4);
        ok = ok && pf_script_printf(out, "%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64 "%s", i,
                                    i < N ? names[i] : "unknown", link.dev, link.ino,
                                    i + 1 < v.nr_namespaces ? ", " : "]");
    }
    return ok;
}

static bool put_ksymbol(const perfile_record *r, pf_buffer *out)
{
    perfile_ksymbol v;
    return perfile_ksymbol_decode(r, &v, sizeof v, NULL) != PERFILE_OK ||
           (pf_script_printf(
                out, " addr %" PRIx64 " len %" PRIu32 " type %" PRIu16 " flags 0x%" PRIx16 " name ",
                v.addr, v.len, v.ksym_type, v.flags) &&
            put_name(out, v.name));
}

static bool put_small(const perfile_record *r, pf_buffer *out)
{
    perfile_bpf_event bpf;
    perfile_cgroup group;
    perfile_lost lost;
    switch (r->type) {
    case PERFILE_RECORD_BPF_EVENT:
        return perfile_bpf_event_decode(r, &bpf, sizeof bpf, NULL) != PERFILE_OK ||
               pf_script_printf(out, " type %" PRIu16 ", flags %" PRIu16 ", id %" PRIu32, bpf.type,
                                bpf.flags, bpf.id);
    case PERFILE_RECORD_CGROUP:
        return perfile_cgroup_decode(r, &group, sizeof group, NULL) != PERFILE_OK ||
               (pf_script_printf(out, " cgroup: %" PRIu64 " ", group.id) &&
                put_name(out, group.path));
    case PERFILE_RECORD_LOST:
        return perfile_lost_decode(r, &lost, sizeof lost, NULL) != PERFILE_OK ||
               pf_script_printf(out, " lost %" PRIu64, lost.lost);
    default:
        return true;
    }
}

static bool put_text_poke(const perfile_record *r, pf_buffer *out)
{
    perfile_text_poke v;
    if (perfile_text_poke_decode(r, &v, sizeof v, NULL) != PERFILE_OK)
        return true;
    bool ok = pf_script_printf(out, " %" PRIx64 "  old len %" PRIu16 " new len %" PRIu16, v.addr,
                               v.old_len, v.new_len);
    for (size_t i = 0; i < v.bytes.len && i < (size_t)v.old_len + v.new_len && ok; i++) {
        const size_t at = i < v.old_len ? i : i - v.old_len;
        if (at % 16 == 0)
            ok = pf_script_printf(out, "\n            %s bytes:", i < v.old_len ? "Old" : "New");
        ok = ok && pf_script_printf(out, " %02x", v.bytes.ptr[i]);
    }
    return ok;
}

/* Appends everything after the name of the record. */
static bool put_fields(const perfile_record *r, pf_buffer *out)
{
    switch (r->type) {
    case PERFILE_RECORD_COMM:
        return put_comm(r, out);
    case PERFILE_RECORD_FORK:
        return put_fork(r, out);
    case PERFILE_RECORD_EXIT:
        return put_exit(r, out);
    case PERFILE_RECORD_MMAP:
        return put_mmap(r, out);
    case PERFILE_RECORD_MMAP2:
        return put_mmap2(r, out);
    case PERFILE_RECORD_SWITCH:
    case PERFILE_RECORD_SWITCH_CPU_WIDE:
        return put_switch(r, out);
    case PERFILE_RECORD_NAMESPACES:
        return put_namespaces(r, out);
    case PERFILE_RECORD_KSYMBOL:
        return put_ksymbol(r, out);
    case PERFILE_RECORD_TEXT_POKE:
        return put_text_poke(r, out);
    default:
        return put_small(r, out);
    }
}

/* Finds the thread to name in the line: the thread that the record is about, or the one in its
 * trailer. */
static void subject_of(const perfile_record *r, const perfile_sample_id *id, uint32_t *pid,
                       uint32_t *tid)
{
    perfile_fork fork;
    perfile_exit ended;
    perfile_mmap mmap;
    perfile_mmap2 mmap2;
    perfile_comm comm;
    perfile_namespaces ns;
    *pid = id->pid;
    *tid = id->tid;
    if (r->type == PERFILE_RECORD_FORK &&
        perfile_fork_decode(r, &fork, sizeof fork, NULL) == PERFILE_OK) {
        *pid = fork.pid;
        *tid = fork.tid;
    } else if (r->type == PERFILE_RECORD_EXIT &&
               perfile_exit_decode(r, &ended, sizeof ended, NULL) == PERFILE_OK) {
        *pid = ended.pid;
        *tid = ended.tid;
    } else if (r->type == PERFILE_RECORD_COMM &&
               perfile_comm_decode(r, &comm, sizeof comm, NULL) == PERFILE_OK) {
        *pid = comm.pid;
        *tid = comm.tid;
    } else if (r->type == PERFILE_RECORD_NAMESPACES &&
               perfile_namespaces_decode(r, &ns, sizeof ns, NULL) == PERFILE_OK) {
        *pid = ns.pid;
        *tid = ns.tid;
    } else if (r->type == PERFILE_RECORD_MMAP &&
               perfile_mmap_decode(r, &mmap, sizeof mmap, NULL) == PERFILE_OK) {
        *pid = mmap.pid;
        *tid = mmap.tid;
    } else if (r->type == PERFILE_RECORD_MMAP2 &&
               perfile_mmap2_decode(r, &mmap2, sizeof mmap2, NULL) == PERFILE_OK) {
        *pid = mmap2.pid;
        *tid = mmap2.tid;
    }
}

/* Returns the current name of the thread that a record is about; NULL if it has none.  A new thread
 * has the name of its parent. */
static const char *comm_of(const pf_script *x, const perfile_record *r, uint32_t pid, uint32_t tid)
{
    perfile_fork v;
    if (r->type == PERFILE_RECORD_FORK &&
        perfile_fork_decode(r, &v, sizeof v, NULL) == PERFILE_OK) {
        pid = v.ppid;
        tid = v.ptid;
    }
    const char *comm = perfile_model_comm(x->past, pid, tid, PERFILE_NO_TIME);
    return !comm && tid == 0 ? "swapper" : comm;
}

/* Appends everything before the name of the record. */
static bool put_front(pf_script *x, const perfile_record *r, const perfile_event *event,
                      pf_buffer *out)
{
    perfile_sample_id id = {0};
    uint32_t pid, tid;
    char number[16];
    pf_script_start start = {.misc = r->misc, .type = r->type};
    if (!event || event->index >= x->plan.n)
        return true;
    const pf_script_event *e = &x->plan.events[event->index];
    const bool has_trailer = perfile_sample_id_decode(r, &id, sizeof id, NULL) == PERFILE_OK;
    subject_of(r, &id, &pid, &tid);
    if (!has_trailer || !event->layout->sample_id_all) {
        id.pid = pid;
        id.tid = tid;
        const uint64_t time = perfile_record_time(r);
        id.time = time == PERFILE_NO_TIME ? 0 : time;
    }
    const char *comm = comm_of(x, r, pid, tid);
    if (!comm) { /* it is shown by number, which may differ from the trailer's */
        snprintf(number, sizeof number, ":%" PRId32, (int32_t)tid);
        comm = number;
    }
    pf_buffer_clear(&x->comm);
    if (!pf_script_put_text(&x->comm, comm, strlen(comm), PF_NAME_MOST))
        return false;
    start.comm = x->comm.len ? (const char *)x->comm.ptr : "";
    start.n_comm = x->comm.len;
    start.fields = e->fields;
    start.has_chain = e->has_chain;
    start.pid = id.pid;
    start.tid = id.tid;
    start.cpu = id.cpu;
    start.time = id.time;
    if (!pf_buffer_reserve(out, PF_START_ROOM + start.n_comm))
        return false;
    uint8_t *at = pf_script_put_start(x, &start, out->ptr + out->len);
    out->len = (size_t)(at - out->ptr);
    return true;
}

perfile_status pf_script_note(pf_script *x, const perfile_record *r, perfile_error *err)
{
    const char *name = pf_record_type_name(r->type);
    pf_buffer *out = &x->line;
    const perfile_event *event = perfile_record_event(r);
    pf_buffer_clear(out);
    if (!event && pf_session_n_events(x->base.session) && r->type != PERFILE_RECORD_FINISHED_ROUND)
        event = perfile_session_event(x->base.session, 0);
    const bool ok = put_front(x, r, event, out) && pf_buffer_append(out, "PERF_RECORD_", 12) &&
                    pf_buffer_append(out, name, strlen(name)) && put_fields(r, out) &&
                    pf_buffer_append_u8(out, '\n');
    return ok ? PERFILE_OK : pf_fail_nomem(err, "script");
}
