/* What samples need to be understood: names of their processes, mappings of their addresses, the
 * second half of their call chains.  Records do not come in the order of time, so the world is
 * asked at the end, about a bounded number of places. */
#include "check/world.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "check/ahead.h"
#include "perfile/model.h"

enum { PAGE_BITS = 12, TRIES = 16, PER_RECORD = 160 /* of the model beside names */ };

perfile_status pf_check_learn(pf_check *c, const perfile_record *r, perfile_error *err)
{
    switch (r->type) {
    case PERFILE_RECORD_MMAP:
    case PERFILE_RECORD_MMAP2:
    case PERFILE_RECORD_COMM:
    case PERFILE_RECORD_FORK:
        break;
    default:
        return PERFILE_OK;
    }
    /* Not wanted, or it did not fit: then it is not checked. */
    if (!c->model)
        return PERFILE_OK;
    c->world_bytes += r->body.len + PER_RECORD;
    if (c->world_bytes > PF_CHECK_WORLD) {
        perfile_model_close(c->model);
        c->model = NULL;
        return PERFILE_OK;
    }
    return perfile_model_feed(c->model, r, err);
}

void pf_check_note(pf_check *c, const pf_check_seen *seen)
{
    uint64_t *key = pf_check_seen_key(c, seen->address, seen->pid);
    uint64_t mine = pf_check_seen_as(seen->address, seen->pid);
    if (*key == mine || c->n_seen == c->most_seen)
        return;
    *key = mine;
    c->seen[c->n_seen++] = *seen;
}

/* A place as a record, for the finding. */
static perfile_record place_of(const pf_check *c, const pf_check_seen *p)
{
    return (perfile_record){.type = PERFILE_RECORD_SAMPLE,
                            .family = PERFILE_FAMILY_DAMAGE,
                            .offset = p->offset,
                            .sequence = p->sequence,
                            .part = p->part,
                            .session = c->session};
}

void pf_check_world_end(pf_check *c)
{
    /* perf stat has no samples; without records of tasks there is nothing to look up. */
    if (!c->model || c->world_bytes == 0 || !pf_check_on(c, PERFILE_RULE_V_407))
        return;
    for (uint32_t i = 0; i < c->n_seen; i++) {
        const pf_check_seen *p = &c->seen[i];
        perfile_record r = place_of(c, p);
        if (p->address == PF_CHECK_NO_ADDRESS) {
            if (!perfile_model_comm(c->model, p->pid, p->tid, PERFILE_NO_TIME))
                pf_find(c, PERFILE_RULE_V_407, PF_FULL, &r, "sample.pid",
                        "process %" PRIu32 " has no name", p->pid);
            continue;
        }
        /* Any byte of the page will do: mappings are whole pages. */
        uint64_t address = p->address << PAGE_BITS;
        if (!perfile_model_mapping(c->model, p->pid, address, p->time) &&
            !perfile_model_mapping(c->model, p->pid, address, PERFILE_NO_TIME - 1))
            pf_find(c, PERFILE_RULE_V_407, PF_FULL, &r, "sample.ip",
                    "nothing is mapped at 0x%" PRIx64 " of process %" PRIu32, address, p->pid);
    }
}

static pf_check_cookie *cookie_of(pf_check *c, uint32_t tid, uint64_t cookie)
{
    if (!c->cookies)
        c->cookies = pf_alloc(PF_CHECK_COOKIES, sizeof *c->cookies);
    if (!c->cookies)
        return NULL;
    uint64_t mixed = (cookie ^ (uint64_t)tid << 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < TRIES; i++) {
        pf_check_cookie *k = &c->cookies[((mixed >> 40) + i) % PF_CHECK_COOKIES];
        if (k->state == 0 || (k->cookie == cookie && k->tid == tid))
            return k;
    }
    /* Full here: the oldest knowledge goes. */
    pf_check_cookie *k = &c->cookies[(mixed >> 40) % PF_CHECK_COOKIES];
    *k = (pf_check_cookie){0};
    c->n_cookies++;
    return k;
}

void pf_check_announce(pf_check *c, uint32_t tid, uint64_t cookie)
{
    if (c->block) {
        c->block->unclean = true;
        return;
    }
    pf_check_cookie *k = cookie_of(c, tid, cookie);
    if (k && k->state == 0)
        *k = (pf_check_cookie){cookie, tid, 1};
}

void pf_check_deliver(pf_check *c, const perfile_record *r, uint32_t tid, uint64_t cookie)
{
    pf_check_cookie *k = cookie_of(c, tid, cookie);
    if (!k)
        return;
    /* What was forgotten may have been announced. */
    if (k->state == 0 && c->n_cookies == 0)
        pf_find(c, PERFILE_RULE_V_406, PF_FULL, r, "callchain_deferred.cookie",
                "no sample of thread %" PRIu32 " before has cookie 0x%" PRIx64, tid, cookie);
    else if (k->state == 2)
        pf_find(c, PERFILE_RULE_V_406, PF_FULL, r, "callchain_deferred.cookie",
                "cookie 0x%" PRIx64 " of thread %" PRIu32 " came before", cookie, tid);
    *k = (pf_check_cookie){cookie, tid, 2};
}
