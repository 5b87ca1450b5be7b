/* The parser: from text to steps, in one pass without recursion (operator precedence).
 *
 * Operands and operators are on two stacks.  An operator waits until the next one binds less
 * tightly or a parenthesis closes; then reduce() generates its steps and replaces its operands by
 * the result.  So the steps of the left operand precede those of the right one.
 *
 * && and || put a JUMP step between their operands when they are read, and set its target when the
 * right operand is complete.  Linking (compile.c) removes these jumps. */
#include "base/alloc.h"

#include "base/error.h"
#include "expr/program.h"
#include "expr/parse.h"

bool pf_parse_advance(pf_parser *p)
{
    perfile_error err;
    uint32_t behind = p->token.at + p->token.len;
    if (pf_lex(p->c.text, behind, &p->token, &err) != PERFILE_OK)
        return pf_code_fail_token(&p->c, p->token.at, &err);
    return true;
}

bool pf_parse_unexpected(pf_parser *p, const char *wanted)
{
    if (p->token.code == PF_TOKEN_END)
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "%s is missing at the end",
                            wanted);
    uint32_t n = p->token.len < 24 ? p->token.len : 24;
    return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "%s is needed before %.*s", wanted,
                        (int)n, p->c.text + p->token.at);
}

/* Fails at a token that should be an operator. */
static bool no_operator(pf_parser *p)
{
    const char *text = p->c.text + p->token.at;
    bool or = p->token.len == 2 && memcmp(text, "or", 2) == 0;
    if (or || (p->token.len == 3 && memcmp(text, "and", 3) == 0))
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "write %s", or ? "||" : "&&");
    return pf_parse_unexpected(p, "an operator");
}

bool pf_parse_too_deep(pf_parser *p, uint32_t at)
{
    return pf_code_fail(&p->c, at, PERFILE_E_LIMIT, "nested deeper than %d levels",
                        PF_EXPR_NESTING);
}

pf_operand *pf_parse_operand(pf_parser *p, unsigned what)
{
    if (p->n_operands == PF_MOST_WAITING) {
        pf_parse_too_deep(p, p->token.at);
        return NULL;
    }
    pf_operand *o = &p->operands[p->n_operands++];
    *o = (pf_operand){.what = (uint8_t)what, .at = p->token.at, .len = p->token.len};
    o->slot = PF_NO_SLOT;
    return o;
}

pf_waiting *pf_parse_operator(pf_parser *p, unsigned code, unsigned rank)
{
    /* Only these can repeat without limit; others are reduced by rank. */
    bool nests = rank == PF_RANK_OPEN || rank == PF_RANK_PREFIX;
    if (p->n_operators == PF_MOST_WAITING || (nests && p->depth == PF_EXPR_NESTING)) {
        pf_parse_too_deep(p, p->token.at);
        return NULL;
    }
    p->depth += nests;
    pf_waiting *w = &p->operators[p->n_operators++];
    *w = (pf_waiting){(uint8_t)code, (uint8_t)rank, p->token.at, 0};
    return w;
}

/* Sets the jump of && or || to the step after its right operand. */
static bool end_jump(pf_parser *p, const pf_waiting *w)
{
    p->c.e->steps[w->step].to = (uint16_t)p->c.e->n_steps;
    return true;
}

/* Pops the operator on top of the stack, and generates its steps. */
static bool reduce(pf_parser *p)
{
    pf_waiting w = p->operators[--p->n_operators];
    pf_operand *b = &p->operands[p->n_operands - 1];
    pf_operand *a = b - 1; /* left operand of a binary operator; becomes the result */
    switch (w.code) {
    case PF_TOKEN_NOT:
        p->depth--;
        return pf_code_condition(&p->c, b) && pf_code_step(&p->c, PF_STEP_NOT, w.at);
    case PF_WAITS_MINUS:
        p->depth--;
        return pf_code_minus(&p->c, b);
    case PF_TOKEN_OR:
    case PF_TOKEN_AND:
        p->n_operands--;
        return pf_code_condition(&p->c, b) && end_jump(p, &w);
    case PF_TOKEN_PLUS:
    case PF_TOKEN_MINUS:
    case PF_TOKEN_STAR:
    case PF_TOKEN_MASK:
        p->n_operands--;
        return pf_code_arithmetic(&p->c, w.code, a, b);
    default:
        p->n_operands--;
        return pf_code_compare(&p->c, w.code, a, b);
    }
}

/* Reduces all operators that bind at least as tightly as `rank`.  Stops at an open parenthesis,
 * which has the lowest rank. */
static bool reduce_to(pf_parser *p, unsigned rank)
{
    while (p->n_operators && p->operators[p->n_operators - 1].rank >= rank)
        if (!reduce(p))
            return false;
    return true;
}

static const struct {
    uint8_t token;
    uint8_t rank;
} binaries[] = {
    {PF_TOKEN_OR, PF_RANK_OR},        {PF_TOKEN_AND, PF_RANK_AND},
    {PF_TOKEN_EQ, PF_RANK_COMPARE},   {PF_TOKEN_NE, PF_RANK_COMPARE},
    {PF_TOKEN_LT, PF_RANK_COMPARE},   {PF_TOKEN_LE, PF_RANK_COMPARE},
    {PF_TOKEN_GT, PF_RANK_COMPARE},   {PF_TOKEN_GE, PF_RANK_COMPARE},
    {PF_TOKEN_LIKE, PF_RANK_COMPARE}, {PF_TOKEN_IN, PF_RANK_COMPARE},
    {PF_TOKEN_HAS, PF_RANK_COMPARE},  {PF_TOKEN_PLUS, PF_RANK_SUM},
    {PF_TOKEN_MINUS, PF_RANK_SUM},    {PF_TOKEN_STAR, PF_RANK_PRODUCT},
    {PF_TOKEN_MASK, PF_RANK_PRODUCT},
};

/* Returns the rank of a binary operator, PF_RANK_OPEN for other tokens. */
static unsigned rank_of(unsigned token)
{
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
        if (binaries[i].token == token)
            return binaries[i].rank;
    return PF_RANK_OPEN;
}

/* Reads a constant into *o without pushing it: an end of a range, or a member of a set. */
static bool parse_constant(pf_parser *p, pf_operand *o)
{
    bool minus = p->token.code == PF_TOKEN_MINUS;
    *o = (pf_operand){.at = p->token.at, .slot = PF_NO_SLOT};
    if (minus && !pf_parse_advance(p))
        return false;
    o->len = p->token.at + p->token.len - o->at;
    switch (p->token.code) {
    case PF_TOKEN_NUMBER:
        o->what = PF_IS_NUMBER;
        o->number = (pf_number){p->token.number, false};
        return (!minus || pf_code_minus(&p->c, o)) && pf_parse_advance(p);
    case PF_TOKEN_TEXT:
    case PF_TOKEN_NAME:
        if (minus)
            break;
        o->what = p->token.code == PF_TOKEN_TEXT ? PF_IS_TEXT : PF_IS_NAME;
        return pf_parse_advance(p);
    default:
        break;
    }
    return pf_parse_unexpected(p, "a number, word or text");
}

/* Reads a member of a set: a constant or A..B. */
static bool parse_member(pf_parser *p, pf_code_set *set, pf_operand *a)
{
    pf_operand lo, hi;
    if (!parse_constant(p, &lo))
        return false;
    if (p->token.code != PF_TOKEN_TO)
        return pf_code_set_add(&p->c, set, a, &lo, NULL);
    return pf_parse_advance(p) && parse_constant(p, &hi) &&
           pf_code_set_add(&p->c, set, a, &lo, &hi);
}

/* Reads the right side of `in`: A..B, or { members }. */
static bool parse_in(pf_parser *p)
{
    pf_code_set set;
    pf_operand *a = &p->operands[p->n_operands - 1];
    pf_code_set_begin(&p->c, &set);
    if (a->what == PF_IS_CONDITION)
        return pf_code_fail(&p->c, a->at, PERFILE_E_USAGE,
                            "a condition cannot be in a set: a name or number is needed");
    if (p->token.code != PF_TOKEN_OPEN_SET) {
        uint32_t at = p->token.at;
        pf_operand lo, hi;
        if (!parse_constant(p, &lo))
            return false;
        if (p->token.code != PF_TOKEN_TO)
            return pf_code_fail(&p->c, at, PERFILE_E_USAGE,
                                "a range 1..9 or a set {1, 2, 7} is needed");
        return pf_parse_advance(p) && parse_constant(p, &hi) &&
               pf_code_set_add(&p->c, &set, a, &lo, &hi) && pf_code_set_end(&p->c, &set, a);
    }
    do
        if (!pf_parse_advance(p) || !parse_member(p, &set, a))
            return false;
    while (p->token.code == PF_TOKEN_COMMA);
    if (p->token.code != PF_TOKEN_CLOSE_SET)
        return pf_parse_unexpected(p, ", or }");
    return pf_parse_advance(p) && pf_code_set_end(&p->c, &set, a);
}

/* Reads a binary operator.  A comparison does not reduce another one, so that chains are detected.
 * For && and ||, makes the left operand a condition and appends the jump. */
static bool parse_binary(pf_parser *p, unsigned rank)
{
    unsigned code = p->token.code;
    bool decides = rank <= PF_RANK_AND;
    if (!reduce_to(p, rank == PF_RANK_COMPARE ? rank + 1 : rank))
        return false;
    if (rank == PF_RANK_COMPARE && p->n_operators &&
        p->operators[p->n_operators - 1].rank == PF_RANK_COMPARE)
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE,
                            "comparisons do not chain: write a < b && b < c");
    pf_operand *a = &p->operands[p->n_operands - 1];
    if (decides && !pf_code_condition(&p->c, a))
        return false;
    if (code == PF_TOKEN_IN)
        return pf_parse_advance(p) && parse_in(p);
    pf_waiting *w = pf_parse_operator(p, code, rank);
    if (!w)
        return false;
    if (decides) { /* reduce() sets the target of the jump */
        w->step = p->c.e->n_steps;
        if (!pf_code_step(&p->c, code == PF_TOKEN_OR ? PF_STEP_JUMP_TRUE : PF_STEP_JUMP_FALSE,
                          p->token.at))
            return false;
    }
    return pf_parse_advance(p);
}

/* Reads a ")" that ends parentheses or a function with a condition. */
static bool parse_close(pf_parser *p)
{
    if (!reduce_to(p, PF_RANK_OPEN + 1))
        return false;
    if (!p->n_operators)
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "there is no ( for this )");
    pf_waiting w = p->operators[--p->n_operators];
    p->depth--;
    if (w.code == PF_WAITS_LOOP && !pf_parse_end_call(p, &w))
        return false;
    return pf_parse_advance(p);
}

/* Reads an operand.  Or reads a prefix ("(", "!", "-", a function with a condition) and sets
 * *operand to false. */
static bool parse_operand(pf_parser *p, bool *operand)
{
    pf_operand *o;
    *operand = true;
    switch (p->token.code) {
    case PF_TOKEN_NUMBER:
        o = pf_parse_operand(p, PF_IS_NUMBER);
        if (!o)
            return false;
        o->number = (pf_number){p->token.number, false};
        return pf_parse_advance(p);
    case PF_TOKEN_TEXT:
        return pf_parse_operand(p, PF_IS_TEXT) && pf_parse_advance(p);
    case PF_TOKEN_NAME:
    case PF_TOKEN_ELEMENT:
        if (pf_parse_is_call(p))
            return pf_parse_call(p, operand);
        o = pf_parse_operand(p, PF_IS_NAME);
        if (!o)
            return false;
        o->element = p->token.code == PF_TOKEN_ELEMENT;
        return pf_parse_advance(p);
    case PF_TOKEN_OPEN:
        *operand = false;
        return pf_parse_operator(p, PF_WAITS_GROUP, PF_RANK_OPEN) && pf_parse_advance(p);
    case PF_TOKEN_NOT:
        *operand = false;
        return pf_parse_operator(p, PF_TOKEN_NOT, PF_RANK_PREFIX) && pf_parse_advance(p);
    case PF_TOKEN_MINUS:
        *operand = false;
        return pf_parse_operator(p, PF_WAITS_MINUS, PF_RANK_PREFIX) && pf_parse_advance(p);
    default:
        return pf_parse_unexpected(p, "a name or value");
    }
}

/* At the end of the text, makes a condition of all of it, and appends the two results. */
static bool parse_end(pf_parser *p)
{
    if (!reduce_to(p, PF_RANK_OPEN + 1))
        return false;
    if (p->n_operators)
        return pf_code_fail(&p->c, p->operators[p->n_operators - 1].at, PERFILE_E_USAGE,
                            "the ) for this is missing");
    return pf_code_condition(&p->c, &p->operands[0]) &&
           pf_code_step(&p->c, PF_STEP_FALSE, p->token.at) &&
           pf_code_step(&p->c, PF_STEP_TRUE, p->token.at);
}

enum { CALLS_NONE, CALLS_HAS, CALLS_ANY, CALLS_ALL, CALLS_COUNT };

/* Returns CALLS_… for a name token, CALLS_NONE if there is no such function. */
static unsigned function_of(const char *text, const pf_token *t)
{
    static const char *const names[] = {"", "has", "any", "all", "count"};
    for (unsigned i = CALLS_HAS; i <= CALLS_COUNT; i++)
        if (t->len == strlen(names[i]) && memcmp(text + t->at, names[i], t->len) == 0)
            return i;
    return CALLS_NONE;
}

/* Alternates between operands and binary operators.  `in` is read together with its set, and the
 * result is an operand. */
static bool parse(pf_parser *p)
{
    bool operand = false; /* an operand was read, so an operator must follow */
    if (!pf_parse_advance(p))
        return false;
    for (;;) {
        if (operand && p->token.code == PF_TOKEN_NAME &&
            function_of(p->c.text, &p->token) == CALLS_HAS)
            p->token.code = PF_TOKEN_HAS;
        unsigned rank = rank_of(p->token.code);
        bool good;
        if (!operand)
            good = parse_operand(p, &operand);
        else if (p->token.code == PF_TOKEN_END)
            return parse_end(p);
        else if (p->token.code == PF_TOKEN_CLOSE)
            good = parse_close(p);
        else if (rank != PF_RANK_OPEN) {
            operand = p->token.code == PF_TOKEN_IN;
            good = parse_binary(p, rank);
        } else {
            good = no_operator(p);
        }
        if (!good)
            return false;
    }
}

perfile_status pf_expr_parse(perfile_expr *e, const char *text, perfile_error *err)
{
    perfile_error own;
    pf_parser *p = pf_alloc(1, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "expression");
    p->c = (pf_compiler){.text = text, .e = e, .err = err ? err : &own, .list = PF_NO_SLOT};
    perfile_status st = parse(p) ? PERFILE_OK : p->c.status;
    pf_free(p);
    return st;
}

/* Parsing the functions has(), any(), all() and count().
 *
 * A function without a condition is complete at its ")".  With a condition, a LOOP step is
 * generated and the parser continues with the condition like with the content of parentheses; then
 * pf_parse_end_call() generates the two steps that end the loop. */

bool pf_parse_is_call(const pf_parser *p)
{
    pf_token next;
    uint32_t at = p->token.at + p->token.len; /* one token ahead; reading it reports errors */
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

/* has(name): `o` is the name, which may have any class. */
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

/* any(list, …), all(list, …), count(list, …): reads the comma. */
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
    /* The LOOP step has the list; the parser reads the next operand. */
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
