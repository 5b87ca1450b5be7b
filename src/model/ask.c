/* Answers of the model: the name of a thread, and the mapping at an address, at a given time.
 *
 * Inheritance is not copied at a FORK, but followed by a query: a thread without a name of its own
 * gets its parent's name at the time of the fork, and a process without a mapping at an address
 * gets its parent's likewise, over at most GENERATIONS steps.  If nothing is mapped at an address
 * since an exec, the state just before the exec counts: while the kernel maps the new program, the
 * caller of execve() is still on the stack.
 *
 * For the validity interval of an answer (ask.h), each search narrows the range of times to the one
 * between the change that it found and the next one.  Parents are queried at the time of the fork,
 * no matter the time of the query, so their changes do not narrow it. */
#include "model/ask.h"

#include <string.h>

#include "model/state.h"
#include "model/command.h"

/* Most forks that a query follows.  Bounds its time, even if parents form a circle. */
enum { GENERATIONS = 32 };

#define EVERYWHERE ((pf_reach){0, UINT64_MAX, 0, UINT64_MAX})

/* Narrows the times to [first, next); `next` is UINT64_MAX if there is no next change. */
static void narrow(pf_reach *reach, uint64_t first, uint64_t next)
{
    if (first > reach->first)
        reach->first = first;
    if (next != UINT64_MAX && next - 1 < reach->last)
        reach->last = next - 1;
}

/* Returns the latest change of `key` up to `time`.  Narrows *reach, which may be NULL. */
static const pf_change *floor_of(const perfile_model *m, uint64_t key, uint64_t time,
                                 pf_reach *reach)
{
    const pf_change *next;
    const pf_change *c = pf_history_floor(&m->history, key, time, &next);
    if (reach)
        narrow(reach, c ? c->time : 0, next ? next->time : UINT64_MAX);
    return c;
}

/* Goes from thread to parent thread until one has a name of its own.  Returns NULL if none has. */
static const char *own_comm(const perfile_model *m, uint32_t tid, uint64_t time, pf_reach *reach)
{
    for (int i = 0; i < GENERATIONS; i++) {
        pf_reach *narrowed = i == 0 ? reach : NULL;
        const pf_change *name = floor_of(m, pf_key(PF_CHANGE_NAME, tid), time, narrowed);
        const pf_change *start = floor_of(m, pf_key(PF_CHANGE_START, tid), time, narrowed);
        /* A name before the start belongs to an earlier thread with the same tid. */
        if (name && (!start || name->time >= start->time))
            return (const char *)(uintptr_t)name->value;
        if (!start || !(start->flags & PF_CHANGE_INHERITS))
            break;
        tid = (uint32_t)start->value; /* ptid */
        time = start->time;           /* the parent's name counts up to then */
    }
    return NULL;
}

/* Returns the name of the thread, else of the main thread of its process. tid PERFILE_NO_PID has no
 * such fallback: it was a thread that has ended, which may have had another name. */
static const char *comm_of(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t time,
                           pf_reach *reach)
{
    const char *name = own_comm(m, tid, time, reach);
    if (!name && tid != pid && tid != PERFILE_NO_PID)
        name = own_comm(m, pid, time, reach);
    return name || pid ? name : m->idle_name;
}

const char *perfile_model_comm(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t time)
{
    return comm_of(m, pid, tid, time, NULL);
}

const char *pf_model_comm(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t time,
                          pf_reach *reach)
{
    *reach = EVERYWHERE;
    return comm_of(m, pid, tid, time, reach);
}

const char *pf_model_comm_during(const perfile_model *m, uint32_t pid, uint32_t tid, uint64_t time,
                                 uint64_t *first, uint64_t *last)
{
    pf_reach reach;
    const char *name = pf_model_comm(m, pid, tid, time, &reach);
    *first = reach.first;
    *last = reach.last;
    return name;
}

static const perfile_mapping *mapping_of(const perfile_model *m, const pf_mapping_span *span)
{
    return &m->mappings.at[span->mapping];
}

perfile_status pf_model_settle(perfile_model *m, perfile_error *err)
{
    return pf_history_sort(&m->history) ? PERFILE_OK : pf_model_fail(m, err);
}

bool pf_model_has_name(const perfile_model *m, perfile_bytes name)
{
    return pf_texts_find(&m->texts, name) != NULL;
}

bool pf_model_has_file(const perfile_model *m, perfile_bytes name)
{
    const char *text = pf_texts_find(&m->texts, name);
    for (size_t i = 0; i < m->mappings.n; i++) {
        const perfile_mapping *x = &m->mappings.at[i];
        if (x->name == text)
            return true;
        const perfile_bytes dso = x->name[0] == '[' ? perfile_mapping_dso(x) : (perfile_bytes){0};
        if (dso.len && dso.len == name.len && memcmp(dso.ptr, name.ptr, name.len) == 0)
            return true;
    }
    return false;
}

/* Returns the latest span over `addr`.  Narrows the addresses of *reach, which may be NULL, and
 * with `times` also its times. */
static const pf_mapping_span *span_at(const pf_space *s, uint64_t addr, uint64_t time,
                                      pf_reach *reach, bool times)
{
    const pf_mapping_span *span = pf_space_find(s, addr, time);
    if (reach) {
        uint64_t next = UINT64_MAX;
        pf_space_reach(s, addr, time, &reach->low, &reach->high, &next);
        if (times)
            narrow(reach, span ? span->time : 0, next);
    }
    return span;
}

/* Goes from image to image, and from process to parent process, until one has a mapping at `addr`.
 */
static const perfile_mapping *mapping_at(const perfile_model *m, uint32_t pid, uint64_t addr,
                                         uint64_t time, pf_reach *reach)
{
    if (pid == PERFILE_NO_PID) {
        const pf_mapping_span *symbol = span_at(&m->symbols, addr, time, reach, true);
        /* A symbol is on top of the mapping of the kernel text, which is searched next. */
        if (symbol && symbol->mapping != PF_SPAN_REMOVED)
            return mapping_of(m, symbol);
    }
    for (int i = 0; i < GENERATIONS; i++) {
        uint32_t at = pf_index_get(&m->space_index, pid);
        const pf_change *image =
            floor_of(m, pf_key(PF_CHANGE_IMAGE, pid), time, i == 0 ? reach : NULL);
        const pf_space *space = at != PF_INDEX_NONE ? &m->spaces.at[at] : NULL;
        const pf_mapping_span *span = space ? span_at(space, addr, time, reach, i == 0) : NULL;
        /* A span before the current image is searched again, at the time before the exec. */
        if (span && (!image || span->time >= image->time))
            return mapping_of(m, span);
        if (!image)
            break;
        if (image->flags & PF_CHANGE_EXEC && image->time != 0) {
            time = image->time - 1;
            continue;
        }
        if (!(image->flags & PF_CHANGE_INHERITS))
            break;
        pid = (uint32_t)image->value; /* ppid */
        time = image->time;
    }
    return NULL;
}

const perfile_mapping *perfile_model_mapping(const perfile_model *m, uint32_t pid, uint64_t addr,
                                             uint64_t time)
{
    return mapping_at(m, pid, addr, time, NULL);
}

const perfile_mapping *pf_model_mapping(const perfile_model *m, uint32_t pid, uint64_t addr,
                                        uint64_t time, pf_reach *reach)
{
    *reach = EVERYWHERE;
    return mapping_at(m, pid, addr, time, reach);
}
