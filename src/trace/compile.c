/* Compiles a print fmt (print.h) by operator precedence, with an explicit stack.
 *
 * The stack has operators that wait for their right operand, open parentheses, and calls that wait
 * for arguments.  Operands become steps at once; an operator becomes a step when the next operator
 * has lower precedence.  If any part is not understood, the whole print fmt is unusable, because a
 * partial output would be wrong. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "trace/lex.h"
#include "trace/print.h"

/* Kinds of stack entries. */
enum {
    WAIT_UNARY,
    WAIT_CAST,
    WAIT_BINARY,
    WAIT_COND,
    WAIT_ELSE,
    WAIT_PAREN,
    WAIT_INDEX,
    WAIT_CALL,
    WAIT_ENTRY
};

typedef struct waiting {
    uint8_t kind;
    uint8_t binds; /* BINARY: precedence */
    uint8_t code;  /* PF_PRINT_… */
    uint8_t width; /* CAST */
    bool is_signed;
    uint8_t n_arguments; /* CALL: complete arguments */
    uint16_t step;       /* COND, ELSE: the jump; ENTRY: first step of the value */
    perfile_bytes text;  /* CALL: separator of flags */
    uint32_t first;      /* CALL: index of its first entry */
} waiting;

typedef struct compiler {
    const pf_trace_format *f;
    pf_arena *arena;
    perfile_status status; /* an error other than invalid text */
    perfile_error *err;
    perfile_bytes left; /* the rest of the text */
    pf_print_token at;  /* the next token */
    pf_print_step *steps;
    pf_print_entry *entries;
    uint32_t n_steps, steps_cap, n_entries, entries_cap;
    waiting stack[PF_PRINT_DEPTH];
    unsigned depth;
    unsigned values; /* on the stack after executing the steps so far */
    uint32_t first;  /* first step of this expression: the base of jumps */
    uint32_t joined; /* index of the latest jump target */
} compiler;

static void next(compiler *c)
{
    c->at = pf_print_token_read(&c->left);
}

static bool is_sign(const pf_print_token *t, const char *s)
{
    return t->kind == TOKEN_SIGN && strcmp(t->sign, s) == 0;
}

static bool is_word(perfile_bytes text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

/* Consumes a sign.  Returns false if the next token is another one. */
static bool take(compiler *c, const char *s)
{
    if (!is_sign(&c->at, s))
        return false;
    next(c);
    return true;
}

/* Adds a step that pops `takes` values and pushes `leaves`. */
static pf_print_step *add_step(compiler *c, uint8_t code, unsigned takes, unsigned leaves)
{
    if (c->n_steps == PF_PRINT_STEPS || c->values < takes ||
        c->values - takes + leaves > PF_PRINT_DEPTH)
        return NULL;
    pf_print_step *more = pf_array_more(c->steps, c->n_steps, &c->steps_cap, sizeof *more);
    if (!more) {
        c->status = pf_fail_nomem(c->err, "tracepoint.format");
        return NULL;
    }
    c->steps = more;
    c->values = c->values - takes + leaves;
    more[c->n_steps] = (pf_print_step){.code = code};
    return &more[c->n_steps++];
}

static waiting *push(compiler *c, uint8_t kind)
{
    if (c->depth == PF_PRINT_DEPTH)
        return NULL;
    c->stack[c->depth] = (waiting){.kind = kind};
    return &c->stack[c->depth++];
}

static waiting *top(compiler *c)
{
    return c->depth ? &c->stack[c->depth - 1] : NULL;
}

/* Adds the step of an operator.  If its operands are constant, it is computed at once: masks of the
 * kernel have a dozen operators, which need not be executed for each payload. */
static bool add_operator(compiler *c, uint8_t code, unsigned takes, const waiting *cast)
{
    pf_print_step *s = add_step(c, code, takes, 1);
    if (!s)
        return false;
    s->width = cast->width;
    s->is_signed = cast->is_signed;
    const uint32_t first = c->n_steps - 1 - takes;
    for (uint32_t i = first; i + 1 < c->n_steps; i++)
        if (c->steps[i].code != PF_PRINT_NUMBER || i < c->joined)
            return true;
    const pf_print_value v =
        pf_print_evaluate(c->f, c->steps + first, takes + 1, (perfile_bytes){NULL, 0});
    c->steps[first] = (pf_print_step){
        .code = PF_PRINT_NUMBER, .is_signed = v.is_signed, .u = {.number = v.number}};
    c->n_steps = first + 1;
    return true;
}

/* Turns the top of the stack into a step. */
static bool reduce(compiler *c)
{
    const waiting *w = &c->stack[--c->depth];
    switch (w->kind) {
    case WAIT_CAST:
        return !w->width || add_operator(c, PF_PRINT_CAST, 1, w);
    case WAIT_UNARY:
        return add_operator(c, w->code, 1, w);
    case WAIT_BINARY:
        return add_operator(c, w->code, 2, w);
    case WAIT_ELSE: /* both branches push a value, but only one is executed */
        c->joined = c->n_steps;
        c->steps[w->step].to = (uint16_t)(c->n_steps - c->first);
        c->values--;
        return true;
    default:
        return false; /* an unclosed parenthesis or question mark */
    }
}

/* Reduces all operators with a precedence of at least `binds`. */
static bool reduce_from(compiler *c, unsigned binds)
{
    const waiting *w;
    while ((w = top(c)) != NULL && (w->kind == WAIT_UNARY || w->kind == WAIT_CAST ||
                                    (w->kind == WAIT_BINARY && w->binds >= binds)))
        if (!reduce(c))
            return false;
    return true;
}

/* Reduces all operators down to the opening parenthesis or call. */
static bool reduce_all(compiler *c)
{
    const waiting *w;
    while ((w = top(c)) != NULL && (w->kind <= WAIT_BINARY || w->kind == WAIT_ELSE))
        if (!reduce(c))
            return false;
    return true;
}

/* Binary operators and their precedence. */
static const struct {
    const char *sign;
    uint8_t binds, code;
} binaries[] = {
    {"*", 10, PF_PRINT_MUL},     {"/", 10, PF_PRINT_DIV},        {"%", 10, PF_PRINT_MOD},
    {"+", 9, PF_PRINT_ADD},      {"-", 9, PF_PRINT_SUB},         {"<<", 8, PF_PRINT_SHL},
    {">>", 8, PF_PRINT_SHR},     {"<", 7, PF_PRINT_LESS},        {"<=", 7, PF_PRINT_LESS_EQUAL},
    {">", 7, PF_PRINT_MORE},     {">=", 7, PF_PRINT_MORE_EQUAL}, {"==", 6, PF_PRINT_EQUAL},
    {"!=", 6, PF_PRINT_UNEQUAL}, {"&", 5, PF_PRINT_AND},         {"^", 4, PF_PRINT_XOR},
    {"|", 3, PF_PRINT_OR},       {"&&", 2, PF_PRINT_BOTH},       {"||", 1, PF_PRINT_EITHER},
};

/* Reads the name of a field from the next token. */
static bool take_field(compiler *c, uint16_t *field)
{
    if (c->at.kind != TOKEN_NAME)
        return false;
    const int i = pf_trace_field_find(c->f, (const char *)c->at.text.ptr, c->at.text.len);
    *field = (uint16_t)i;
    next(c);
    return i >= 0;
}

static bool push_number(compiler *c, uint64_t n, bool named)
{
    pf_print_step *s = add_step(c, PF_PRINT_NUMBER, 0, 1);
    if (!s)
        return false;
    s->u.number = n;
    s->named = named;
    s->is_signed = true;
    return true;
}

/* Reads sizeof(type), after the opening parenthesis. */
static bool size_of_type(compiler *c)
{
    const uint8_t *begin = NULL, *end = NULL;
    while (c->at.kind == TOKEN_NAME || is_sign(&c->at, "*")) {
        begin = begin ? begin : c->at.kind == TOKEN_NAME ? c->at.text.ptr : c->left.ptr - 1;
        end = c->left.ptr;
        next(c);
    }
    const perfile_bytes type = {begin, (size_t)(end - begin)};
    const unsigned size = begin ? pf_trace_type_size(type, c->f->long_size, NULL) : 0;
    return size && take(c, ")") && push_number(c, size, false);
}

/* Begins a call, after its name and the opening parenthesis.  Sets *open if arguments follow. */
static bool begin_call(compiler *c, unsigned i, bool *open)
{
    uint16_t field;
    *open = false;
    if (pf_print_calls[i].kind == CALL_SIZE)
        return size_of_type(c);
    if (pf_print_calls[i].kind == CALL_FIELD) {
        pf_print_step *s = take_field(c, &field) ? add_step(c, pf_print_calls[i].code, 0, 1) : NULL;
        if (s)
            s->field = field;
        return s && take(c, ")");
    }
    waiting *w = push(c, WAIT_CALL);
    if (!w)
        return false;
    w->code = (uint8_t)i;
    w->first = c->n_entries;
    *open = true;
    return true;
}

/* If the tokens after the next one, a parenthesis, are "REC)": consumes all but the last
 * parenthesis. */
static bool take_record(compiler *c)
{
    perfile_bytes left = c->left;
    pf_print_token t = pf_print_token_read(&left);
    if (!is_word(t.text, "REC"))
        return false;
    t = pf_print_token_read(&left);
    if (!is_sign(&t, ")"))
        return false;
    c->left = left;
    next(c);
    return true;
}

/* Reads "->field" after REC. */
static bool record_field(compiler *c)
{
    uint16_t field;
    pf_print_step *s =
        take(c, "->") && take_field(c, &field) ? add_step(c, PF_PRINT_FIELD, 0, 1) : NULL;
    if (s)
        s->field = field;
    return s != NULL;
}

/* Reads a name: REC->field, a call, or a constant that the kernel did not replace by its number. */
static bool operand_name(compiler *c, bool *open)
{
    const perfile_bytes name = c->at.text;
    next(c);
    *open = false;
    if (is_word(name, "REC"))
        return record_field(c);
    if (!is_sign(&c->at, "(")) {
        const bool pushed = push_number(c, 0, true);
        if (pushed)
            c->steps[c->n_steps - 1].text = name;
        return pushed;
    }
    const int i = pf_print_call_find(name);
    if (i < 0)
        return false;
    next(c);
    return begin_call(c, (unsigned)i, open);
}

/* Reads one or more adjacent literals.  Several are joined in the arena, as in C. */
static bool take_text(compiler *c, perfile_bytes *text)
{
    void *p;
    if (c->at.kind != TOKEN_TEXT)
        return false;
    *text = c->at.text;
    next(c);
    if (c->at.kind != TOKEN_TEXT)
        return true;
    perfile_bytes left = c->left; /* measures the total length */
    size_t n = text->len + c->at.text.len;
    for (pf_print_token t; (t = pf_print_token_read(&left)).kind == TOKEN_TEXT;)
        n += t.text.len;
    c->status = pf_arena_get(c->arena, n + 1, &p, c->err);
    if (c->status != PERFILE_OK)
        return false;
    uint8_t *to = p;
    const perfile_bytes joined = {to, n};
    memcpy(to, text->ptr, text->len);
    to += text->len;
    for (; c->at.kind == TOKEN_TEXT; next(c)) {
        memcpy(to, c->at.text.ptr, c->at.text.len);
        to += c->at.text.len;
    }
    *text = joined;
    return true;
}

/* Reads a cast if one begins after the next token, a parenthesis.  A cast is names and stars in
 * parentheses, followed by an operand. */
static bool take_cast(compiler *c, waiting *cast)
{
    perfile_bytes left = c->left;
    pf_print_token t = pf_print_token_read(&left);
    const uint8_t *begin = t.text.ptr, *end = NULL;
    for (; t.kind == TOKEN_NAME || is_sign(&t, "*"); t = pf_print_token_read(&left)) {
        if (is_word(t.text, "REC"))
            return false;
        end = left.ptr;
    }
    if (!begin || !end || !is_sign(&t, ")"))
        return false;
    const perfile_bytes after = left;
    t = pf_print_token_read(&left);
    const perfile_bytes type = {begin, (size_t)(end - begin)};
    const unsigned size = pf_trace_type_size(type, c->f->long_size, &cast->is_signed);
    const bool unary = is_sign(&t, "-") || is_sign(&t, "~") || is_sign(&t, "!");
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_NUMBER && t.kind != TOKEN_TEXT &&
        !is_sign(&t, "(") && !(unary && size))
        return false;
    cast->kind = WAIT_CAST;
    if (!memchr(type.ptr, '*', type.len))
        cast->width = (uint8_t)size;
    c->left = after;
    next(c);
    return true;
}

/* Reads an operand.  Sets *open if it was an operator or a parenthesis, so that another operand
 * must follow. */
static bool operand(compiler *c, bool *open)
{
    static const struct {
        const char *sign;
        uint8_t code;
    } unaries[] = {{"-", PF_PRINT_MINUS}, {"~", PF_PRINT_INVERT}, {"!", PF_PRINT_NOT}};
    waiting cast = {0}, *w;
    pf_print_step *s;
    perfile_bytes text;
    *open = true;
    for (size_t i = 0; i < sizeof unaries / sizeof unaries[0]; i++)
        if (take(c, unaries[i].sign)) {
            if ((w = push(c, WAIT_UNARY)) != NULL)
                w->code = unaries[i].code;
            return w != NULL;
        }
    if (take(c, "+"))
        return true;
    if (is_sign(&c->at, "(")) {
        if (take_record(c)) {
            *open = false;
            return record_field(c);
        }
        const bool is_cast = take_cast(c, &cast);
        if ((w = push(c, is_cast ? WAIT_CAST : WAIT_PAREN)) == NULL)
            return false;
        if (is_cast)
            *w = cast;
        else
            next(c);
        return true;
    }
    *open = false;
    switch (c->at.kind) {
    case TOKEN_NUMBER:
        if (!push_number(c, c->at.number, false))
            return false;
        next(c);
        return true;
    case TOKEN_TEXT:
        if (!take_text(c, &text) || !(s = add_step(c, PF_PRINT_TEXT, 0, 1)))
            return false;
        s->text = text;
        return true;
    case TOKEN_NAME:
        return operand_name(c, open);
    default:
        return false;
    }
}

/* Evaluates the steps from `first` on and removes them.  Returns false if they are not constant. */
static bool fold(compiler *c, uint32_t first, uint64_t *value)
{
    static const struct {
        const char *name;
        uint64_t value;
    } known[] = {{"HI_SOFTIRQ", 0},      {"TIMER_SOFTIRQ", 1},     {"NET_TX_SOFTIRQ", 2},
                 {"NET_RX_SOFTIRQ", 3},  {"BLOCK_SOFTIRQ", 4},     {"IRQ_POLL_SOFTIRQ", 5},
                 {"TASKLET_SOFTIRQ", 6}, {"SCHED_SOFTIRQ", 7},     {"HRTIMER_SOFTIRQ", 8},
                 {"RCU_SOFTIRQ", 9},     {"HRTIMER_NORESTART", 0}, {"HRTIMER_RESTART", 1}};
    const pf_print_step *s = c->steps + first;
    for (uint32_t i = first; i < c->n_steps; i++)
        if ((c->steps[i].code >= PF_PRINT_TEXT && c->steps[i].code <= PF_PRINT_BITMASK) ||
            c->steps[i].code == PF_PRINT_JUMP)
            return false;
    *value = pf_print_evaluate(c->f, s, c->n_steps - first, (perfile_bytes){NULL, 0}).number;
    /* Names of numbers that old kernels did not replace, so readers must know them.  Other names
     * become -1, which no value has. */
    if (s->named && c->n_steps == first + 1) {
        *value = UINT64_MAX;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (is_word(s->text, known[i].name))
                *value = known[i].value;
    }
    c->n_steps = first;
    c->values--;
    return true;
}

/* Begins the next entry of a table, "{ value, "name" }"; empty entries are skipped.  Sets *open if
 * there is one; its value is the next operand. */
static bool next_entry(compiler *c, bool *open)
{
    *open = false;
    do {
        if (!take(c, "{"))
            return false;
        if (take(c, "}"))
            continue;
        waiting *w = push(c, WAIT_ENTRY);
        if (w)
            w->step = (uint16_t)c->n_steps;
        *open = true;
        return w != NULL;
    } while (take(c, ","));
    return true;
}

static bool add_entry(compiler *c, const pf_print_entry *entry)
{
    if (c->n_entries == PF_PRINT_ENTRIES)
        return false;
    pf_print_entry *more = pf_array_more(c->entries, c->n_entries, &c->entries_cap, sizeof *more);
    if (!more) {
        c->status = pf_fail_nomem(c->err, "tracepoint.format");
        return false;
    }
    c->entries = more;
    c->entries[c->n_entries++] = *entry;
    return true;
}

/* Ends an entry, after the comma that follows its value.  An entry with a name that is not a text,
 * such as NULL, is the kernel's end mark of a table.  Sets *open like next_entry(). */
static bool end_entry(compiler *c, bool *open)
{
    pf_print_entry entry;
    if (!fold(c, top(c)->step, &entry.value))
        return false;
    c->depth--;
    if (c->at.kind != TOKEN_TEXT)
        while (c->at.kind != TOKEN_END && !is_sign(&c->at, "}"))
            next(c);
    else if (!take_text(c, &entry.name) || !add_entry(c, &entry))
        return false;
    *open = false;
    return take(c, "}") && (!take(c, ",") || next_entry(c, open));
}

/* Handles a comma in a call or an entry. */
static bool comma(compiler *c, bool *open)
{
    waiting *w = top(c);
    *open = true;
    next(c);
    if (w->kind == WAIT_ENTRY)
        return end_entry(c, open);
    w->n_arguments++;
    if (pf_print_calls[w->code].kind != CALL_TABLE)
        return true;
    if (pf_print_calls[w->code].code == PF_PRINT_FLAGS &&
        (!take_text(c, &w->text) || !take(c, ",")))
        return false;
    return next_entry(c, open);
}

/* Handles the closing parenthesis of a call. */
static bool end_call(compiler *c)
{
    const waiting w = c->stack[--c->depth];
    const unsigned values = pf_print_calls[w.code].n_arguments;
    const bool table = pf_print_calls[w.code].kind == CALL_TABLE;
    if (table ? !w.n_arguments : w.n_arguments + 1u != values)
        return false;
    pf_print_step *s = add_step(c, pf_print_calls[w.code].code, values, 1);
    if (!s)
        return false;
    s->text = w.text;
    if (table) {
        s->u.table.first = w.first;
        s->u.table.n = c->n_entries - w.first;
    }
    return true;
}

/* Handles `?` and `:`. */
static bool conditional(compiler *c)
{
    waiting *w;
    const bool begins = is_sign(&c->at, "?");
    if (begins ? !reduce_from(c, 0) : !reduce_all(c))
        return false;
    next(c);
    if (!begins) {
        if (!(w = top(c)) || w->kind != WAIT_COND || !add_step(c, PF_PRINT_JUMP, 0, 0))
            return false;
        c->steps[w->step].to = (uint16_t)(c->n_steps - c->first);
        w->kind = WAIT_ELSE;
        w->step = (uint16_t)(c->n_steps - 1);
        return true;
    }
    if (!add_step(c, PF_PRINT_JUMP_FALSE, 1, 0) || !(w = push(c, WAIT_COND)))
        return false;
    w->step = (uint16_t)(c->n_steps - 1);
    return true;
}

/* Reads what may follow an operand.  Sets *open if an operand must follow, and *end at the end of
 * the expression. */
static bool operator(compiler *c, bool *open, bool *end)
{
    waiting *w;
    *open = true;
    *end = false;
    if (c->at.kind == TOKEN_SIGN)
        for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
            if (is_sign(&c->at, binaries[i].sign)) {
                if (!reduce_from(c, binaries[i].binds) || !(w = push(c, WAIT_BINARY)))
                    return false;
                w->binds = binaries[i].binds;
                w->code = binaries[i].code;
                next(c);
                return true;
            }
    if (take(c, "["))
        return push(c, WAIT_INDEX) != NULL;
    if (is_sign(&c->at, "?") || is_sign(&c->at, ":"))
        return conditional(c);
    if (!reduce_all(c))
        return false;
    w = top(c);
    if (!w) {
        *end = c->at.kind == TOKEN_END || is_sign(&c->at, ",");
        return *end;
    }
    if (is_sign(&c->at, ",") && (w->kind == WAIT_CALL || w->kind == WAIT_ENTRY))
        return comma(c, open);
    *open = false;
    if (w->kind == WAIT_INDEX) {
        c->depth--;
        return take(c, "]") && add_step(c, PF_PRINT_INDEX, 2, 1);
    }
    if (!take(c, ")"))
        return false;
    if (w->kind == WAIT_CALL)
        return end_call(c);
    c->depth--;
    return w->kind == WAIT_PAREN;
}

/* Compiles an expression up to a comma or the end. */
static bool expression(compiler *c, pf_print_argument *out)
{
    bool open = true, end = false;
    const uint32_t first = c->n_steps;
    c->first = c->joined = first;
    c->values = c->depth = 0;
    while (!end) {
        while (open)
            if (!operand(c, &open))
                return false;
        if (!operator(c, &open, &end))
            return false;
    }
    *out = (pf_print_argument){(uint16_t)first, (uint16_t)(c->n_steps - first)};
    return c->values == 1;
}

/* Compiles the expressions of all pieces. */
static bool arguments(compiler *c, pf_print_piece *pieces, int n)
{
    for (int i = 0; i < n; i++) {
        pf_print_piece *p = &pieces[i];
        if (!p->conversion)
            continue;
        if ((p->width == -1 || p->precision == -2) && (!take(c, ",") || !expression(c, &p->star)))
            return false;
        if (!take(c, ",") || !expression(c, &p->value))
            return false;
    }
    return true;
}

/* Copies an array to the arena. */
static perfile_status keep(pf_arena *arena, const void *items, size_t bytes, const void **out,
                           perfile_error *err)
{
    void *p;
    perfile_status st = pf_arena_get(arena, bytes ? bytes : 1, &p, err);
    if (st == PERFILE_OK && bytes)
        memcpy(p, items, bytes);
    if (st == PERFILE_OK)
        *out = p;
    return st;
}

static perfile_status keep_all(const compiler *c, const pf_print_piece *pieces, int n,
                               const pf_print **out)
{
    const void *p = NULL;
    pf_arena *arena = c->arena;
    pf_print made = {.n_pieces = (uint32_t)n};
    perfile_status st = keep(arena, c->steps, c->n_steps * sizeof *c->steps, &p, c->err);
    made.steps = p;
    if (st == PERFILE_OK)
        st = keep(arena, c->entries, c->n_entries * sizeof *c->entries, &p, c->err);
    made.entries = p;
    if (st == PERFILE_OK)
        st = keep(arena, pieces, (size_t)n * sizeof *pieces, &p, c->err);
    made.pieces = p;
    if (st == PERFILE_OK)
        st = keep(arena, &made, sizeof made, &p, c->err);
    if (st == PERFILE_OK)
        *out = p;
    return st;
}

/* Splits the format string; its text is copied without escapes.  Returns the number of pieces, or
 * -1. */
static int split(compiler *c, pf_print_piece *pieces)
{
    perfile_bytes format;
    void *texts;
    if (!take_text(c, &format))
        return -1;
    c->status = pf_arena_get(c->arena, format.len + 1, &texts, c->err);
    return c->status == PERFILE_OK
               ? pf_print_split(format, c->f->long_size, texts, pieces, PF_PRINT_PIECES)
               : -1;
}

perfile_status pf_print_compile(const pf_trace_format *f, pf_arena *arena, const pf_print **out,
                                perfile_error *err)
{
    const char *text = f->shown.print_fmt;
    perfile_status st = PERFILE_OK;
    *out = NULL;
    compiler *c = pf_alloc(1, sizeof *c);
    pf_print_piece *pieces = pf_alloc(PF_PRINT_PIECES, sizeof *pieces);
    if (c && pieces) {
        *c = (compiler){.f = f, .arena = arena, .err = err};
        c->left = (perfile_bytes){(const uint8_t *)text, strlen(text)};
        next(c);
        const int n = split(c, pieces);
        const bool usable = n >= 0 && arguments(c, pieces, n);
        st = c->status;
        if (usable && st == PERFILE_OK)
            st = keep_all(c, pieces, n, out);
        pf_free(c->steps);
        pf_free(c->entries);
    } else {
        st = pf_fail_nomem(err, "tracepoint.format");
    }
    pf_free(c);
    pf_free(pieces);
    return st;
}
