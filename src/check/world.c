/* Facts that are needed to understand samples: names of their processes and mappings of their
 * addresses (V-407), and the second half of deferred call chains (V-406).
 *
 * Side-band records feed a process model (perfile/model.h).  This file collects a bounded number of
 * lookups, which are resolved at the end, because records do not come in the order of time.  If the
 * model would need too much memory, it is dropped, and V-407 is not checked. */
#include "check/check.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "perfile/model.h"

enum {
    PAGE_BITS = 12,
    TRIES = 16,      /* slots that are tried before one is overwritten */
    PER_RECORD = 160 /* estimated memory of the model per record, without the name */
};

/* Feeds MMAP, MMAP2, COMM and FORK to the model; closes the model if it is too large. */
perfile_status pf_check_feed_model(pf_check *c, const perfile_record *r, perfile_error *err)
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
    /* It is not wanted, or was dropped. */
    if (!c->lookups.model)
        return PERFILE_OK;
    c->lookups.model_bytes += r->body.len + PER_RECORD;
    if (c->lookups.model_bytes > PF_CHECK_MODEL_BYTES) {
        perfile_model_close(c->lookups.model);
        c->lookups.model = NULL;
        return PERFILE_OK;
    }
    return perfile_model_feed(c->lookups.model, r, err);
}

void pf_check_add_lookup(pf_check *c, const pf_check_lookup *lookup)
{
    uint64_t *slot = pf_check_recent_slot(c, lookup->address, lookup->pid);
    uint64_t tag = pf_check_recent_tag(lookup->address, lookup->pid);
    if (*slot == tag || c->lookups.n == c->lookups.cap)
        return;
    *slot = tag;
    c->lookups.at[c->lookups.n++] = *lookup;
}

/* Makes a record in place of the sample of a lookup, so that the finding has an offset.  Its family
 * is DAMAGE because it has no bytes: the finding then names no record type. */
static perfile_record record_of(const pf_check *c, const pf_check_lookup *p)
{
    return (perfile_record){.type = PERFILE_RECORD_SAMPLE,
                            .family = PERFILE_FAMILY_DAMAGE,
                            .offset = p->offset,
                            .sequence = p->sequence,
                            .part = p->part,
                            .session = c->session};
}

/* Resolves all lookups. */
void pf_check_lookups_end(pf_check *c)
{
    /* `perf stat` has no samples; without records of tasks there is nothing to look up. */
    if (!c->lookups.model || c->lookups.model_bytes == 0 || !pf_check_on(c, PERFILE_RULE_V_407))
        return;
    for (uint32_t i = 0; i < c->lookups.n; i++) {
        const pf_check_lookup *p = &c->lookups.at[i];
        perfile_record r = record_of(c, p);
        if (p->address == PF_CHECK_NO_ADDRESS) {
            if (!perfile_model_comm(c->lookups.model, p->pid, p->tid, PERFILE_NO_TIME))
                pf_report(c, PERFILE_RULE_V_407, PF_FULL, &r, "sample.pid",
                          "process %" PRIu32 " has no name", p->pid);
            continue;
        }
        /* Any byte of the page will do: mappings are whole pages. */
        uint64_t address = p->address << PAGE_BITS;
        /* Looked up at the time of the sample, or else at the end: a mapping that was recorded too
         * late (or synthesized with time 0 after it) is not missing. */
        if (!perfile_model_mapping(c->lookups.model, p->pid, address, p->time) &&
            !perfile_model_mapping(c->lookups.model, p->pid, address, PERFILE_NO_TIME - 1))
            pf_report(c, PERFILE_RULE_V_407, PF_FULL, &r, "sample.ip",
                      "nothing is mapped at 0x%" PRIx64 " of process %" PRIu32, address, p->pid);
    }
}

/* Returns the entry of a thread's cookie, or an unused one for it; NULL when out of memory.  If all
 * slots where it may be are used, the first one is overwritten and counted in
 * c->chains.overwritten. */
static pf_check_cookie *cookie_of(pf_check *c, uint32_t tid, uint64_t cookie)
{
    if (!c->chains.at)
        c->chains.at = pf_alloc(PF_CHECK_COOKIES, sizeof *c->chains.at);
    if (!c->chains.at)
        return NULL;
    uint64_t mixed = (cookie ^ (uint64_t)tid << 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < TRIES; i++) {
        pf_check_cookie *k = &c->chains.at[((mixed >> 40) + i) % PF_CHECK_COOKIES];
        if (k->state == 0 || (k->cookie == cookie && k->tid == tid))
            return k;
    }
    pf_check_cookie *k = &c->chains.at[(mixed >> 40) % PF_CHECK_COOKIES];
    *k = (pf_check_cookie){0};
    c->chains.overwritten++;
    return k;
}

/* Called when a sample's call chain ends with a cookie: the rest comes in a CALLCHAIN_DEFERRED. */
void pf_check_cookie_announced(pf_check *c, uint32_t tid, uint64_t cookie)
{
    pf_check_cookie *k = cookie_of(c, tid, cookie);
    if (k && k->state == 0)
        *k = (pf_check_cookie){cookie, tid, 1};
}

/* Checks that a CALLCHAIN_DEFERRED comes after a sample of its thread that announced the cookie,
 * and comes only once (V-406). */
void pf_check_cookie_delivered(pf_check *c, const perfile_record *r, uint32_t tid, uint64_t cookie)
{
    pf_check_cookie *k = cookie_of(c, tid, cookie);
    if (!k)
        return;
    /* Once an entry was overwritten, an unknown cookie may have been announced. */
    if (k->state == 0 && c->chains.overwritten == 0)
        pf_report(c, PERFILE_RULE_V_406, PF_FULL, r, "callchain_deferred.cookie",
                  "no sample of thread %" PRIu32 " before has cookie 0x%" PRIx64, tid, cookie);
    else if (k->state == 2)
        pf_report(c, PERFILE_RULE_V_406, PF_FULL, r, "callchain_deferred.cookie",
                  "cookie 0x%" PRIx64 " of thread %" PRIu32 " came before", cookie, tid);
    *k = (pf_check_cookie){cookie, tid, 2};
}
