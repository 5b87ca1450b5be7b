/* Parsing the functions has(), any(), all() and count().
 *
 * A function without condition is complete at its ")".  With a condition, a LOOP step is generated,
 * and the parser goes on with the condition as with the content of parentheses; pf_parse_end_call()
 * then generates the two steps that end the loop. */
#include "expr/parse.h"

enum { CALLS_NONE, CALLS_HAS, CALLS_ANY, CALLS_ALL, CALLS_COUNT };

/* CALLS_… for a name token, CALLS_NONE if there is no such function. */
static unsigned function_of(const char *text, const pf_token *t)
{
    static const char *const names[] = {"", "has", "any", "all", "count"};
    for (unsigned i = CALLS_HAS; i <= CALLS_COUNT; i++)
        if (t->len == strlen(names[i]) && memcmp(text + t->at, names[i], t->len) == 0)
            return i;
    return CALLS_NONE;
}

bool pf_parse_is_call(const pf_parser *p)
{
    pf_token next;
    uint32_t at = p->token.at + p->token.len; /* one token ahead; errors come when it is read */
    return p->token.code == PF_TOKEN_NAME && pf_lex(p->c.text, at, &next, NULL) == PERFILE_OK &&
           next.code == PF_TOKEN_OPEN;
}

/* Reads the ")". */
static bool close_call(pf_parser *p)
{
    if (p->token.code != PF_TOKEN_CLOSE)
        return pf_parse_unexpected(p, ")");
    return pf_parse_advance(p);
}

/* has(name): `o` is the name, which may be of any class. */
static bool call_has(pf_parser *p, pf_operand *o)
{
    const unsigned all =
        PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT | PERFILE_EXPR_LIST | PERFILE_EXPR_OTHER;
    if (!pf_code_find_class(&p->c, o, all))
        return false;
    pf_step *s = pf_code_step(&p->c, PF_STEP_HAS, o->at);
    if (!s)
        return false;
    s->slot = (uint16_t)o->slot;
    o->what = PF_IS_CONDITION;
    return close_call(p);
}

/* count(list), or any(list), which is count(list) != 0. */
static bool call_without_condition(pf_parser *p, unsigned function, pf_operand *o)
{
    if (function == CALLS_ALL)
        return pf_parse_unexpected(p, "a comma and a condition");
    if (p->c.on_stack++ == PF_EXPR_VALUES)
        return pf_parse_too_deep(p, o->at);
    pf_step *s = pf_code_step(&p->c, PF_STEP_COUNT, o->at);
    if (!s)
        return false;
    s->slot = (uint16_t)o->slot;
    o->what = PF_IS_VALUE;
    o->slot = PF_NO_SLOT;
    return (function == CALLS_COUNT || pf_code_condition(&p->c, o)) && close_call(p);
}

/* any(list, …), all(list, …), count(list, …): at the comma. */
static bool begin_loop(pf_parser *p, unsigned function, uint32_t slot, uint32_t at)
{
    pf_waiting *w = pf_parse_operator(p, PF_WAITS_LOOP, PF_RANK_OPEN);
    if (!w)
        return false;
    w->at = at;
    w->step = p->c.e->n_steps;
    pf_step *s = pf_code_step(&p->c, PF_STEP_LOOP, at);
    if (!s)
        return false;
    s->slot = (uint16_t)slot;
    s->loop = function == CALLS_ANY   ? PF_LOOP_ANY
              : function == CALLS_ALL ? PF_LOOP_ALL
                                      : PF_LOOP_COUNT;
    p->c.list = slot;
    return pf_parse_advance(p);
}

bool pf_parse_call(pf_parser *p, bool *operand)
{
    uint32_t at = p->token.at;
    unsigned function = function_of(p->c.text, &p->token);
    if (!function)
        return pf_code_fail(&p->c, at, PERFILE_E_USAGE,
                            "no such function: there are has(), any(), all() and count()");
    if (!pf_parse_advance(p) || !pf_parse_advance(p))
        return false;
    if (p->token.code != PF_TOKEN_NAME && p->token.code != PF_TOKEN_ELEMENT)
        return pf_parse_unexpected(p, "a name");
    pf_operand *o = pf_parse_operand(p, PF_IS_NAME);
    if (!o)
        return false;
    o->element = p->token.code == PF_TOKEN_ELEMENT;
    if (!pf_parse_advance(p))
        return false;
    if (function == CALLS_HAS)
        return call_has(p, o);
    if (!pf_code_find_class(&p->c, o, PERFILE_EXPR_LIST))
        return false;
    if (p->token.code != PF_TOKEN_COMMA)
        return call_without_condition(p, function, o);
    if (p->c.list != PF_NO_SLOT)
        return pf_code_fail(&p->c, at, PERFILE_E_USAGE,
                            "any(), all() and count() do not nest: write the inner one next to the "
                            "outer one");
    /* The list is in the LOOP step; the next operand is read by the parser. */
    *operand = false;
    uint32_t slot = o->slot;
    p->n_operands--;
    return begin_loop(p, function, slot, at);
}

bool pf_parse_end_call(pf_parser *p, const pf_waiting *w)
{
    pf_operand *o = &p->operands[p->n_operands - 1]; /* the condition; becomes the function */
    uint32_t begin = w->step;
    if (!pf_code_condition(&p->c, o))
        return false;
    for (unsigned code = PF_STEP_NEXT_FALSE; code <= PF_STEP_NEXT_TRUE; code++) {
        pf_step *s = pf_code_step(&p->c, code, w->at);
        if (!s)
            return false;
        s->to = (uint16_t)begin;
    }
    p->c.list = PF_NO_SLOT;
    p->c.e->steps[begin].to = (uint16_t)p->c.e->n_steps;
    if (p->c.e->steps[begin].loop == PF_LOOP_COUNT) {
        if (p->c.on_stack++ == PF_EXPR_VALUES)
            return pf_parse_too_deep(p, w->at);
        o->what = PF_IS_VALUE;
    }
    o->slot = PF_NO_SLOT;
    o->at = w->at;
    return true;
}
