/* Values of names without a condition.  Each name is a slot of an expression that has no steps. */
#include "expr/fetch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "expr/program.h"

perfile_status pf_expr_names_open(const perfile_expr_provider *provider, perfile_expr **out,
                                  perfile_error *err)
{
    perfile_expr *e = pf_alloc(1, sizeof *e);
    if (!e)
        return pf_fail_nomem(err, "expression");
    if (provider) {
        e->provider = *provider;
        e->has_provider = true;
    }
    *out = e;
    return PERFILE_OK;
}

perfile_status pf_expr_add_name(perfile_expr *e, const char *name, perfile_error *err)
{
    pf_slot *slot;
    char what[256];
    if (strlen(name) >= PF_EXPR_NAME_BYTES)
        return pf_fail(err, PERFILE_E_USAGE, "name", "the name is longer than %d bytes",
                       PF_EXPR_NAME_BYTES - 1);
    perfile_status st = pf_expr_find(e, name, NULL, &slot, err);
    if (st == PERFILE_END) {
        pf_expr_explain_unknown(e, name, NULL, false, what, sizeof what);
        return pf_fail(err, PERFILE_E_USAGE, "name", "%s", what);
    }
    if (st == PERFILE_OK && !pf_expr_keep_values(e, slot))
        return pf_fail(err, PERFILE_E_USAGE, "name", "'%s' is a group of fields: name one of them",
                       name);
    return st;
}

bool pf_expr_decodes(const perfile_expr *e, uint32_t position, bool samples)
{
    const pf_slot *s = &e->slots[position];
    return samples ? s->first[PF_AT_sample] && !s->fast : s->n_ways != 0;
}

static void set_number(perfile_field *f, perfile_value *v, uint64_t number)
{
    f->type = PERFILE_STORED_U64;
    f->kind = PERFILE_KIND_DEC;
    v->number = number;
}

static void set_text(perfile_field *f, perfile_value *v, perfile_bytes text)
{
    f->type = PERFILE_STORED_TEXT;
    v->u.bytes = text;
}

/* A name of every record (PF_OF_…).  Where a word stands for the number, it is the value. */
static bool common_value(perfile_expr *e, pf_slot *s, perfile_field *f, perfile_value *v)
{
    pf_number number;
    pf_expr_text text;
    const char *word = NULL;
    if (s->classes & PERFILE_EXPR_TEXT && pf_expr_get_text(e, s, &text)) {
        set_text(f, v, text.bytes);
        return true;
    }
    if (!pf_expr_get_number(e, s, &number))
        return false;
    if (s->of == PF_OF_TYPE) /* no table has it */
        number.n = perfile_record_stored_type(e->subject.r);
    if (s->of == PF_OF_CPUMODE)
        word = perfile_vocabulary_word(perfile_vocabulary_find("cpumode"), number.n);
    if (word)
        set_text(f, v, (perfile_bytes){(const uint8_t *)word, strlen(word)});
    else
        set_number(f, v, number.n);
    return true;
}

bool pf_expr_value(perfile_expr *e, uint32_t position, perfile_field *f, perfile_value *v)
{
    pf_slot *s = &e->slots[position];
    const pf_way *way;
    uint64_t known;
    *f = (perfile_field){0};
    if (s->of != PF_OF_FIELDS)
        return common_value(e, s, f, v);
    if (s->fast && pf_expr_get_fast(e, s, &v->number)) {
        way = &e->ways[s->ways + s->first[PF_AT_sample] - 1];
        f->type = way->type;
        f->kind = way->kind;
        return true;
    }
    if (pf_expr_get_field(e, s, &way, v)) {
        f->type = way->type;
        f->element = way->element;
        f->kind = way->kind;
        return true;
    }
    if (pf_expr_known_besides(e, s, &known)) {
        set_number(f, v, known);
        return true;
    }
    if (!s->provided || !pf_expr_ask_provider(e, s))
        return false;
    if (s->provided_class == PERFILE_EXPR_TEXT)
        set_text(f, v, s->answer.text);
    else
        set_number(f, v, s->answer.number);
    return true;
}
