/* From text to steps, in one pass.  Operators wait on a stack until what follows binds less. */
#include "base/alloc.h"
#include "base/error.h"
#include "stage/expr_code.h"
#include "stage/expr_compile.h"
#include "stage/expr_names.h"

enum {
    MOST_WAITING = 8 * PF_EXPR_NESTING, /* on each level of nesting one of each rank */
    RANK_OPEN = 0,
    RANK_OR,
    RANK_AND,
    RANK_COMPARE,
    RANK_SUM,
    RANK_PRODUCT,
    RANK_PREFIX
};

enum { WAITS_GROUP = 100, WAITS_LOOP, WAITS_MINUS }; /* beside tokens */

typedef struct waiting {
    uint8_t code; /* PF_TOKEN_…, WAITS_… */
    uint8_t rank;
    uint32_t at;
    uint32_t step; /* the jump of && and ||, or the LOOP */
} waiting;

typedef struct parser {
    pf_compiler c;
    pf_token token;
    unsigned depth;
    size_t n_operands, n_operators;
    pf_operand operands[MOST_WAITING];
    waiting operators[MOST_WAITING];
} parser;

static bool advance(parser *p)
{
    perfile_error err;
    uint32_t behind = p->token.at + p->token.len;
    if (pf_lex(p->c.text, behind, &p->token, &err) != PERFILE_OK)
        return pf_code_fail_token(&p->c, p->token.at, &err);
    return true;
}

static bool unexpected(parser *p, const char *wanted)
{
    if (p->token.code == PF_TOKEN_END)
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "%s is missing at the end",
                            wanted);
    uint32_t n = p->token.len < 24 ? p->token.len : 24;
    return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "%s is needed in front of %.*s",
                        wanted, (int)n, p->c.text + p->token.at);
}

/* Something else stands where an operator does. */
static bool no_operator(parser *p)
{
    const char *text = p->c.text + p->token.at;
    bool or = p->token.len == 2 && memcmp(text, "or", 2) == 0;
    if (or || (p->token.len == 3 && memcmp(text, "and", 3) == 0))
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "write %s", or ? "||" : "&&");
    return unexpected(p, "an operator");
}

static bool too_deep(parser *p, uint32_t at)
{
    return pf_code_fail(&p->c, at, PERFILE_E_LIMIT, "nested deeper than %d levels",
                        PF_EXPR_NESTING);
}

static pf_operand *push_operand(parser *p, unsigned what)
{
    if (p->n_operands == MOST_WAITING) {
        too_deep(p, p->token.at);
        return NULL;
    }
    pf_operand *o = &p->operands[p->n_operands++];
    *o = (pf_operand){.what = (uint8_t)what, .at = p->token.at, .len = p->token.len};
    o->slot = PF_NO_SLOT;
    return o;
}

static waiting *push_operator(parser *p, unsigned code, unsigned rank)
{
    bool nests = rank == RANK_OPEN || rank == RANK_PREFIX;
    if (p->n_operators == MOST_WAITING || (nests && p->depth == PF_EXPR_NESTING)) {
        too_deep(p, p->token.at);
        return NULL;
    }
    p->depth += nests;
    waiting *w = &p->operators[p->n_operators++];
    *w = (waiting){(uint8_t)code, (uint8_t)rank, p->token.at, 0};
    return w;
}

static bool end_jump(parser *p, const waiting *w)
{
    p->c.e->steps[w->step].to = (uint16_t)p->c.e->n_steps;
    return true;
}

/* Applies the operator on top. */
static bool reduce(parser *p)
{
    waiting w = p->operators[--p->n_operators];
    pf_operand *b = &p->operands[p->n_operands - 1];
    pf_operand *a = b - 1;
    switch (w.code) {
    case PF_TOKEN_NOT:
        p->depth--;
        return pf_code_truth(&p->c, b) && pf_code_step(&p->c, PF_STEP_NOT, w.at);
    case WAITS_MINUS:
        p->depth--;
        return pf_code_minus(&p->c, b);
    case PF_TOKEN_OR:
    case PF_TOKEN_AND:
        p->n_operands--;
        return pf_code_truth(&p->c, b) && end_jump(p, &w);
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

/* Applies what binds at least as strongly as `rank`. */
static bool settle(parser *p, unsigned rank)
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
    {PF_TOKEN_OR, RANK_OR},        {PF_TOKEN_AND, RANK_AND},      {PF_TOKEN_EQ, RANK_COMPARE},
    {PF_TOKEN_NE, RANK_COMPARE},   {PF_TOKEN_LT, RANK_COMPARE},   {PF_TOKEN_LE, RANK_COMPARE},
    {PF_TOKEN_GT, RANK_COMPARE},   {PF_TOKEN_GE, RANK_COMPARE},   {PF_TOKEN_LIKE, RANK_COMPARE},
    {PF_TOKEN_IN, RANK_COMPARE},   {PF_TOKEN_PLUS, RANK_SUM},     {PF_TOKEN_MINUS, RANK_SUM},
    {PF_TOKEN_STAR, RANK_PRODUCT}, {PF_TOKEN_MASK, RANK_PRODUCT},
};

static unsigned rank_of(unsigned token)
{
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
        if (binaries[i].token == token)
            return binaries[i].rank;
    return RANK_OPEN;
}

/* One end of a range, or a member of a set: a constant. */
static bool parse_constant(parser *p, pf_operand *o)
{
    bool minus = p->token.code == PF_TOKEN_MINUS;
    *o = (pf_operand){.at = p->token.at, .slot = PF_NO_SLOT};
    if (minus && !advance(p))
        return false;
    o->len = p->token.at + p->token.len - o->at;
    switch (p->token.code) {
    case PF_TOKEN_NUMBER:
        o->what = PF_IS_NUMBER;
        o->number = (pf_number){p->token.number, false};
        return (!minus || pf_code_minus(&p->c, o)) && advance(p);
    case PF_TOKEN_TEXT:
    case PF_TOKEN_NAME:
        if (minus)
            break;
        o->what = p->token.code == PF_TOKEN_TEXT ? PF_IS_TEXT : PF_IS_NAME;
        return advance(p);
    default:
        break;
    }
    return unexpected(p, "a number, word or text");
}

static bool parse_member(parser *p, pf_code_set *set, pf_operand *a)
{
    pf_operand lo, hi;
    if (!parse_constant(p, &lo))
        return false;
    if (p->token.code != PF_TOKEN_TO)
        return pf_code_set_add(&p->c, set, a, &lo, NULL);
    return advance(p) && parse_constant(p, &hi) && pf_code_set_add(&p->c, set, a, &lo, &hi);
}

/* Behind `in`: A..B, or { members }. */
static bool parse_in(parser *p)
{
    pf_code_set set;
    pf_operand *a = &p->operands[p->n_operands - 1];
    pf_code_set_begin(&p->c, &set);
    if (a->what == PF_IS_TRUTH)
        return pf_code_fail(&p->c, a->at, PERFILE_E_USAGE, "a condition is in no set");
    if (p->token.code != PF_TOKEN_OPEN_SET) {
        uint32_t at = p->token.at;
        pf_operand lo, hi;
        if (!parse_constant(p, &lo))
            return false;
        if (p->token.code != PF_TOKEN_TO)
            return pf_code_fail(&p->c, at, PERFILE_E_USAGE,
                                "a range 1..9 or a set {1, 2, 7} is needed");
        return advance(p) && parse_constant(p, &hi) && pf_code_set_add(&p->c, &set, a, &lo, &hi) &&
               pf_code_set_end(&p->c, &set, a);
    }
    do
        if (!advance(p) || !parse_member(p, &set, a))
            return false;
    while (p->token.code == PF_TOKEN_COMMA);
    if (p->token.code != PF_TOKEN_CLOSE_SET)
        return unexpected(p, ", or }");
    return advance(p) && pf_code_set_end(&p->c, &set, a);
}

static bool parse_binary(parser *p, unsigned rank)
{
    unsigned code = p->token.code;
    bool decides = rank <= RANK_AND;
    if (!settle(p, rank == RANK_COMPARE ? rank + 1 : rank))
        return false;
    if (rank == RANK_COMPARE && p->n_operators &&
        p->operators[p->n_operators - 1].rank == RANK_COMPARE)
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE,
                            "comparisons do not chain: write a < b && b < c");
    pf_operand *a = &p->operands[p->n_operands - 1];
    if (decides && !pf_code_truth(&p->c, a))
        return false;
    if (code == PF_TOKEN_IN)
        return advance(p) && parse_in(p);
    waiting *w = push_operator(p, code, rank);
    if (!w)
        return false;
    if (decides) {
        w->step = p->c.e->n_steps;
        if (!pf_code_step(&p->c, code == PF_TOKEN_OR ? PF_STEP_JUMP_TRUE : PF_STEP_JUMP_FALSE,
                          p->token.at))
            return false;
    }
    return advance(p);
}

/* Functions. */

enum { CALLS_NONE, CALLS_HAS, CALLS_ANY, CALLS_ALL, CALLS_COUNT };

static unsigned function_of(const char *text, const pf_token *t)
{
    static const char *const names[] = {"", "has", "any", "all", "count"};
    for (unsigned i = CALLS_HAS; i <= CALLS_COUNT; i++)
        if (t->len == strlen(names[i]) && memcmp(text + t->at, names[i], t->len) == 0)
            return i;
    return CALLS_NONE;
}

static bool is_call(const parser *p)
{
    pf_token next;
    uint32_t at = p->token.at + p->token.len;
    return p->token.code == PF_TOKEN_NAME && pf_lex(p->c.text, at, &next, NULL) == PERFILE_OK &&
           next.code == PF_TOKEN_OPEN;
}

static bool end_call(parser *p)
{
    if (p->token.code != PF_TOKEN_CLOSE)
        return unexpected(p, ")");
    return advance(p);
}

static bool call_has(parser *p, pf_operand *o)
{
    const unsigned all =
        PERFILE_EXPR_NUMBER | PERFILE_EXPR_TEXT | PERFILE_EXPR_LIST | PERFILE_EXPR_OTHER;
    if (!pf_code_name(&p->c, o, all))
        return false;
    pf_step *s = pf_code_step(&p->c, PF_STEP_HAS, o->at);
    if (!s)
        return false;
    s->slot = (uint16_t)o->slot;
    o->what = PF_IS_TRUTH;
    return end_call(p);
}

/* count(list), and any(list) as count(list) != 0. */
static bool call_without_condition(parser *p, unsigned function, pf_operand *o)
{
    if (function == CALLS_ALL)
        return unexpected(p, "a comma and a condition");
    if (p->c.on_stack++ == PF_EXPR_VALUES)
        return too_deep(p, o->at);
    pf_step *s = pf_code_step(&p->c, PF_STEP_COUNT, o->at);
    if (!s)
        return false;
    s->slot = (uint16_t)o->slot;
    o->what = PF_IS_VALUE;
    o->slot = PF_NO_SLOT;
    return (function == CALLS_COUNT || pf_code_truth(&p->c, o)) && end_call(p);
}

static bool begin_loop(parser *p, unsigned function, uint32_t slot, uint32_t at)
{
    waiting *w = push_operator(p, WAITS_LOOP, RANK_OPEN);
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
    return advance(p);
}

/* At the name of a function.  *operand: an operand has been read, not the beginning of one. */
static bool parse_call(parser *p, bool *operand)
{
    uint32_t at = p->token.at;
    unsigned function = function_of(p->c.text, &p->token);
    if (!function)
        return pf_code_fail(&p->c, at, PERFILE_E_USAGE,
                            "no such function: there are has(), any(), all() and count()");
    if (!advance(p) || !advance(p))
        return false;
    if (p->token.code != PF_TOKEN_NAME && p->token.code != PF_TOKEN_ELEMENT)
        return unexpected(p, "a name");
    pf_operand *o = push_operand(p, PF_IS_NAME);
    if (!o)
        return false;
    o->element = p->token.code == PF_TOKEN_ELEMENT;
    if (!advance(p))
        return false;
    if (function == CALLS_HAS)
        return call_has(p, o);
    if (!pf_code_name(&p->c, o, PERFILE_EXPR_LIST))
        return false;
    if (p->token.code != PF_TOKEN_COMMA)
        return call_without_condition(p, function, o);
    if (p->c.list != PF_NO_SLOT)
        return pf_code_fail(&p->c, at, PERFILE_E_USAGE,
                            "no list in a list: the inner condition may stand beside the outer");
    *operand = false;
    uint32_t slot = o->slot;
    p->n_operands--;
    return begin_loop(p, function, slot, at);
}

/* At the ) of any(), all() and count(). */
static bool end_loop(parser *p, const waiting *w)
{
    pf_operand *o = &p->operands[p->n_operands - 1];
    uint32_t begin = w->step;
    if (!pf_code_truth(&p->c, o))
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
            return too_deep(p, w->at);
        o->what = PF_IS_VALUE;
    }
    o->slot = PF_NO_SLOT;
    o->at = w->at;
    return true;
}

static bool parse_close(parser *p)
{
    if (!settle(p, RANK_OPEN + 1))
        return false;
    if (!p->n_operators)
        return pf_code_fail(&p->c, p->token.at, PERFILE_E_USAGE, "there is no ( for this )");
    waiting w = p->operators[--p->n_operators];
    p->depth--;
    if (w.code == WAITS_LOOP && !end_loop(p, &w))
        return false;
    return advance(p);
}

/* Reads an operand, or what stands in front of one; then *operand is false. */
static bool parse_operand(parser *p, bool *operand)
{
    pf_operand *o;
    *operand = true;
    switch (p->token.code) {
    case PF_TOKEN_NUMBER:
        o = push_operand(p, PF_IS_NUMBER);
        if (!o)
            return false;
        o->number = (pf_number){p->token.number, false};
        return advance(p);
    case PF_TOKEN_TEXT:
        return push_operand(p, PF_IS_TEXT) && advance(p);
    case PF_TOKEN_NAME:
    case PF_TOKEN_ELEMENT:
        if (is_call(p))
            return parse_call(p, operand);
        o = push_operand(p, PF_IS_NAME);
        if (!o)
            return false;
        o->element = p->token.code == PF_TOKEN_ELEMENT;
        return advance(p);
    case PF_TOKEN_OPEN:
        *operand = false;
        return push_operator(p, WAITS_GROUP, RANK_OPEN) && advance(p);
    case PF_TOKEN_NOT:
        *operand = false;
        return push_operator(p, PF_TOKEN_NOT, RANK_PREFIX) && advance(p);
    case PF_TOKEN_MINUS:
        *operand = false;
        return push_operator(p, WAITS_MINUS, RANK_PREFIX) && advance(p);
    default:
        return unexpected(p, "a name or value");
    }
}

static bool parse_end(parser *p)
{
    if (!settle(p, RANK_OPEN + 1))
        return false;
    if (p->n_operators)
        return pf_code_fail(&p->c, p->operators[p->n_operators - 1].at, PERFILE_E_USAGE,
                            "this has no )");
    return pf_code_truth(&p->c, &p->operands[0]) &&
           pf_code_step(&p->c, PF_STEP_FALSE, p->token.at) &&
           pf_code_step(&p->c, PF_STEP_TRUE, p->token.at);
}

static bool parse(parser *p)
{
    bool operand = false; /* one was read: an operator follows */
    if (!advance(p))
        return false;
    for (;;) {
        unsigned rank = rank_of(p->token.code);
        bool good;
        if (!operand)
            good = parse_operand(p, &operand);
        else if (p->token.code == PF_TOKEN_END)
            return parse_end(p);
        else if (p->token.code == PF_TOKEN_CLOSE)
            good = parse_close(p);
        else if (rank != RANK_OPEN) {
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
    parser *p = pf_alloc(1, sizeof *p);
    if (!p)
        return pf_fail_nomem(err, "expression");
    p->c = (pf_compiler){.text = text, .e = e, .err = err ? err : &own, .list = PF_NO_SLOT};
    perfile_status st = parse(p) ? PERFILE_OK : p->c.status;
    pf_free(p);
    return st;
}
