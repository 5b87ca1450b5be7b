/* Finding records that can be decoded but make no sense: those that break a rule of severity error
 * of the checker (format/rules.def).
 *
 * The checker is a stage on the stream.  Its findings about a run come while the run is fetched, so
 * that they are in x->bad when pf_recover_records() decides about these records. */
#include "base/error.h"
#include "lib/recover.h"

/* A record that breaks a rule. */
typedef struct pf_bad {
    uint64_t sequence; /* of the record */
    const char *rule;  /* "V-509" */
} pf_bad;

/* Sorts a finding by what it is about: an event, a record, or a feature.  Findings about the
 * container do not count, because a new one is written. */
static void on_finding(void *user, const perfile_finding *f)
{
    pf_recover *x = user;
    const perfile_rule *rule = perfile_rule_of(f->rule);
    bool about_record = f->sequence != PERFILE_NO_SEQUENCE && f->type != UINT32_MAX;
    bool kept = true;
    if (rule->where == PERFILE_RULE_SCOPE_CONTAINER)
        return;
    if (rule->where == PERFILE_RULE_SCOPE_ATTR) {
        kept = pf_buffer_append(&x->bad_events, &f->offset, sizeof f->offset);
    } else if (about_record && f->type != PERFILE_RECORD_HEADER_ATTR) {
        pf_bad bad = {f->sequence, rule->id};
        kept = pf_buffer_append(&x->bad, &bad, sizeof bad);
    } else if (f->feature < PERFILE_N_FEATURES) {
        x->bad_features[f->feature / 64] |= (uint64_t)1 << f->feature % 64;
    }
    if (!kept)
        (void)pf_fail_nomem(&x->failed, "recover");
}

perfile_status pf_recover_add_checker(pf_recover *x, perfile_error *err)
{
    perfile_check_options how = {.size = sizeof how,
                                 .finding = on_finding,
                                 .user = x,
                                 .severity = PERFILE_SEVERITY_ERROR,
                                 .flags = PERFILE_CHECK_FEW_SAMPLES};
    return perfile_check(x->stream, &how, &x->stream, err);
}

/* True if the record belongs to an event that was left out: it cannot be read without. */
static bool is_orphan(const pf_recover *x, const perfile_record *r)
{
    perfile_event_update v;
    const perfile_event *e = NULL;
    if (r->type < PERFILE_RECORD_USER)
        e = perfile_record_event(r);
    else if (r->type == PERFILE_RECORD_EVENT_UPDATE &&
             perfile_event_update_decode(r, &v, sizeof v, NULL) == PERFILE_OK)
        e = perfile_session_event_by_id(r->session, v.id);
    for (size_t i = 0; e && i < x->dropped.len; i += sizeof e->index)
        if (memcmp(x->dropped.ptr + i, &e->index, sizeof e->index) == 0)
            return true;
    return false;
}

const char *pf_recover_broken_rule(const pf_recover *x, const perfile_record *r)
{
    const pf_bad *bad = (const pf_bad *)(const void *)x->bad.ptr;
    for (size_t i = 0; i < x->bad.len / sizeof *bad; i++)
        if (bad[i].sequence == r->sequence)
            return bad[i].rule;
    if (x->dropped.len && is_orphan(x, r))
        return perfile_rule_of(PERFILE_RULE_V_210)->id;
    return NULL;
}
