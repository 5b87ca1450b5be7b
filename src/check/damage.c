/* Damage that the stream met, as findings. */
#include "base/byte_order.h"
#include "check/rules.h"

static unsigned rule_of(const pf_check *c, const perfile_record *r)
{
    switch (r->damage) {
    case PERFILE_DAMAGE_TRUNCATED_HEADER:
    case PERFILE_DAMAGE_TRUNCATED_RECORD:
        return c->pipe && !(r->flags & PERFILE_REC_INNER) ? PERFILE_RULE_V_017 : PERFILE_RULE_V_202;
    case PERFILE_DAMAGE_TRUNCATED_PAYLOAD:
        return c->last_type == PERFILE_RECORD_AUXTRACE ? PERFILE_RULE_V_511
               : c->pipe                               ? PERFILE_RULE_V_017
                                                       : PERFILE_RULE_V_202;
    case PERFILE_DAMAGE_BAD_SIZE: /* of a record that came out of compressed ones */
        return r->flags & PERFILE_REC_INNER ? PERFILE_RULE_V_517 : PERFILE_RULE_V_201;
    default:
        return r->damage < PERFILE_N_DAMAGES ? pf_rule_of_damage[r->damage] : PERFILE_RULE_V_201;
    }
}

/* What stands where a record should: its header, as far as it is one. */
static void tell_header(pf_check *c, const perfile_record *r, unsigned rule)
{
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    char buf[24];
    uint32_t type = pf_load_u32(r->body.ptr, swap);
    pf_find(c, rule, PF_FULL, r, "record.size", "%s: %s of %u bytes, %zu bytes lost",
            perfile_damage_text(r->damage), pf_check_type_name(type, buf),
            pf_load_u16(r->body.ptr + 6, swap), r->body.len);
}

void pf_check_damage(pf_check *c, const perfile_record *r)
{
    unsigned level = r->damage == PERFILE_DAMAGE_TRUNCATED_DATA ? PF_LESSER : PF_FULL;
    bool header =
        r->damage == PERFILE_DAMAGE_BAD_SIZE || r->damage == PERFILE_DAMAGE_TRUNCATED_RECORD;
    const char *text = perfile_damage_text(r->damage);
    c->damaged = true;
    if (header && r->body.ptr && r->body.len >= 8)
        tell_header(c, r, rule_of(c, r));
    else if (r->body.len)
        pf_find(c, rule_of(c, r), level, r, NULL, "%s, %zu byte%s lost", text, r->body.len,
                r->body.len == 1 ? "" : "s");
    else
        pf_find(c, rule_of(c, r), level, r, NULL, "%s", text);
}
