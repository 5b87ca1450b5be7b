/* perfile_expr_open(): parsing (parse.c) and linking.
 *
 * The parser leaves a JUMP after the left operand of && and ||, and a NOT after the operand of !.
 * For each deciding step, linking computes where execution continues after true and after false,
 * following these markers to the next real step.  The markers are never executed. */
#include "expr/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

void *pf_expr_grow(void **items, uint32_t *n, uint32_t *cap, size_t width)
{
    if (*n == *cap) {
        uint32_t more = *cap ? 2 * *cap : 16;
        void *grown = pf_realloc(*items, more, width);
        if (!grown)
            return NULL;
        *items = grown;
        *cap = more;
    }
    return memset((uint8_t *)*items + width * (*n)++, 0, width);
}

/* Returns the next step to execute, if the step before `at` decided `yes`.  FALSE and TRUE are
 * adjacent, as are NEXT_FALSE and NEXT_TRUE, so the result selects one.  All targets are further
 * on, so this terminates. */
static uint16_t follow(const perfile_expr *e, uint32_t at, bool yes)
{
    for (;;) {
        const pf_step *s = &e->steps[at];
        switch (s->code) {
        case PF_STEP_JUMP_FALSE:
            at = yes ? at + 1 : s->to;
            break;
        case PF_STEP_JUMP_TRUE:
            at = yes ? s->to : at + 1;
            break;
        case PF_STEP_NOT:
            yes = !yes;
            at++;
            break;
        case PF_STEP_FALSE:
        case PF_STEP_NEXT_FALSE:
            return (uint16_t)(at + yes);
        default:
            return (uint16_t)at;
        }
    }
}

/* Sets pf_step.next of all steps.  A loop that has decided continues after its end. */
static void link_steps(perfile_expr *e)
{
    for (uint32_t i = 0; i < e->n_steps; i++) {
        pf_step *s = &e->steps[i];
        uint32_t after = s->code == PF_STEP_LOOP ? s->to : i + 1;
        if (after >= e->n_steps) /* TRUE, the last step, has no next step */
            continue;
        s->next[false] = follow(e, after, false);
        s->next[true] = follow(e, after, true);
    }
}

/* Chains the ways of each row in the order of the tables, and determines whether the slot is
 * `fast`: its first way in samples is a whole 64- or 32-bit field in a word that the layout
 * knows. */
static void link_ways(perfile_expr *e, pf_slot *s)
{
    uint16_t last[PF_N_FIRST] = {0};
    if (s->of != PF_OF_FIELDS)
        return;
    for (uint32_t i = 0; i < s->n_ways; i++) {
        uint16_t position = (uint16_t)(i + 1);
        pf_way *w = &e->ways[s->ways + i];
        w->next = 0;
        if (w->row == PF_ROW_TRAILER) {
            s->trailer = position;
            continue;
        }
        if (last[w->row])
            e->ways[s->ways + last[w->row] - 1].next = position;
        else
            s->first[w->row] = position;
        last[w->row] = position;
    }
    if (s->element || !s->first[PF_AT_sample])
        return;
    const pf_way *w = &e->ways[s->ways + s->first[PF_AT_sample] - 1];
    if (w->from != PF_WAY_SAMPLE || w->width ||
        (w->type != PERFILE_STORED_U64 && w->type != PERFILE_STORED_U32))
        return;
    s->fast = true;
    s->fast_bit = w->bit;
    s->fast_part = w->type == PERFILE_STORED_U64 ? 0 : (uint8_t)(1 + w->at / 4);
}

/* Replaces RANGE steps by the variants for the record type and for fast slots. */
static void choose_steps(perfile_expr *e)
{
    for (uint32_t i = 0; i < e->n_steps; i++) {
        pf_step *s = &e->steps[i];
        if (s->code != PF_STEP_RANGE)
            continue;
        if (e->slots[s->slot].of == PF_OF_TYPE)
            s->code = PF_STEP_RANGE_TYPE;
        else if (e->slots[s->slot].fast)
            s->code = PF_STEP_RANGE_FAST;
    }
}

/* Allocates room for a decoded record of any row and for an element of any list, so that testing a
 * record allocates nothing. */
static perfile_status make_room(perfile_expr *e, perfile_error *err)
{
    size_t record = 0, element = 0;
    for (unsigned i = 0; i < pf_all_rows(); i++)
        record = record < pf_shape_at(i)->size ? pf_shape_at(i)->size : record;
    for (unsigned i = 0; i < PF_N_SHAPES; i++)
        element = element < pf_struct_shapes[i].size ? pf_struct_shapes[i].size : element;
    e->record = pf_alloc(1, record);
    e->loop.element = pf_alloc(1, element);
    return e->record && e->loop.element ? PERFILE_OK : pf_fail_nomem(err, "expression");
}

perfile_status pf_expr_link(perfile_expr *e, perfile_error *err)
{
    for (uint32_t i = 0; i < e->n_slots; i++)
        link_ways(e, &e->slots[i]);
    choose_steps(e);
    link_steps(e);
    return make_room(e, err);
}

static perfile_status take_options(perfile_expr *e, const perfile_expr_options *options,
                                   perfile_error *err)
{
    perfile_expr_options o;
    perfile_status st = pf_options_copy(&o, options, "expr.options", err);
    e->payload.allowed = st == PERFILE_OK && o.flags & PERFILE_EXPR_PAYLOADS;
    if (st == PERFILE_OK && o.provider)
        st = pf_options_copy(&e->provider, o.provider, "expr.provider", err);
    e->has_provider = st == PERFILE_OK && o.provider;
    return st;
}

perfile_status perfile_expr_open(const char *text, const perfile_expr_options *options,
                                 perfile_expr **expr, perfile_error *err)
{
    if (!memchr(text, 0, PF_EXPR_TEXT_BYTES + 1))
        return pf_fail(err, PERFILE_E_LIMIT, "expression", "the expression is longer than 1 MiB");
    perfile_expr *e = pf_alloc(1, sizeof *e);
    if (!e)
        return pf_fail_nomem(err, "expression");
    perfile_status st = take_options(e, options, err);
    if (st == PERFILE_OK)
        st = pf_expr_parse(e, text, err);
    if (st == PERFILE_OK)
        st = pf_expr_link(e, err);
    if (st != PERFILE_OK) {
        perfile_expr_close(e);
        return st;
    }
    *expr = e;
    return PERFILE_OK;
}

void perfile_expr_close(perfile_expr *e)
{
    if (!e)
        return;
    pf_expr_unbind(e);
    pf_buffer_free(&e->payload.names);
    pf_free(e->steps);
    pf_free(e->slots);
    pf_free(e->ways);
    pf_free(e->ranges);
    pf_free(e->spans);
    pf_buffer_free(&e->texts);
    pf_free(e->record);
    pf_free(e->loop.element);
    pf_free(e);
}
