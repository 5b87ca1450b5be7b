/* Damage in the stream, as findings: each DAMAGE record becomes one finding. format/rules.def says
 * which rule a kind of damage breaks; where that depends on the capture, rule_of_record() decides.
 */
#include "base/byte_order.h"
#include "check/check.h"

/* The rule that the damage breaks.  A cut at the end of a pipe is V-017 rather than V-202, unless
 * the record came out of compressed data; a cut payload is that of the record before it. */
static unsigned rule_of_record(const pf_check *c, const perfile_record *r)
{
    switch (r->damage) {
    case PERFILE_DAMAGE_TRUNCATED_HEADER:
    case PERFILE_DAMAGE_TRUNCATED_RECORD:
        return c->pipe && !(r->flags & PERFILE_REC_INNER) ? PERFILE_RULE_V_017 : PERFILE_RULE_V_202;
    case PERFILE_DAMAGE_TRUNCATED_PAYLOAD:
        return c->last_type == PERFILE_RECORD_AUXTRACE ? PERFILE_RULE_V_511
               : c->pipe                               ? PERFILE_RULE_V_017
                                                       : PERFILE_RULE_V_202;
    case PERFILE_DAMAGE_BAD_SIZE: /* in compressed data V-517: zstd gave no valid records */
        return r->flags & PERFILE_REC_INNER ? PERFILE_RULE_V_517 : PERFILE_RULE_V_201;
    default:
        return r->damage < PERFILE_N_DAMAGES ? pf_rule_of_damage[r->damage] : PERFILE_RULE_V_201;
    }
}

/* Reports damage together with the header (type and size) that stands there.  The body of the
 * DAMAGE record begins with that header and has at least 8 bytes. */
static void report_header(pf_check *c, const perfile_record *r, unsigned rule)
{
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    char buf[24];
    uint32_t type = pf_load_u32(r->body.ptr, swap);
    pf_report(c, rule, PF_FULL, r, "record.size", "%s: %s of %u bytes, %zu bytes lost",
              perfile_damage_text(r->damage), pf_check_type_name(type, buf),
              pf_load_u16(r->body.ptr + 6, swap), r->body.len);
}

void pf_check_damage(pf_check *c, const perfile_record *r)
{
    /* A data section that is longer than the file is the milder case of V-006. */
    unsigned level = r->damage == PERFILE_DAMAGE_TRUNCATED_DATA ? PF_LESSER : PF_FULL;
    bool header =
        r->damage == PERFILE_DAMAGE_BAD_SIZE || r->damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
    const char *text = perfile_damage_text(r->damage);
    c->damaged = true;
    if (header && r->body.ptr && r->body.len >= 8)
        report_header(c, r, rule_of_record(c, r));
    else if (r->body.len)
        pf_report(c, rule_of_record(c, r), level, r, NULL, "%s, %zu byte%s lost", text, r->body.len,
                  r->body.len == 1 ? "" : "s");
    else
        pf_report(c, rule_of_record(c, r), level, r, NULL, "%s", text);
}
