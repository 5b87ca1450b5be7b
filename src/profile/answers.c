/* Names that the model and symbols add to the fields of a sample (answers.h). */
#include "profile/answers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/session.h"
#include "perfile/event.h"
#include "perfile/records.h"
#include "perfile/model.h"

enum {
    ASKS_COMM = 1,
    ASKS_DSO,
    ASKS_SYM,
    ASKS_SYMOFF,
    ASKS_SRCLINE,
    ASKS_CALLER,
    ASKS_STACK,
    ASKS_ADDR_SYM,
    ASKS_ADDR_DSO
};

static const struct {
    const char *name, *doc;
    uint8_t handle, class;
    bool of_code; /* functions are looked up */
} names[] = {
    {"comm", "name of the thread at that time", ASKS_COMM, PERFILE_EXPR_TEXT, false},
    {"dso", "file mapped at the address of the sample", ASKS_DSO, PERFILE_EXPR_TEXT, false},
    {"sym", "function at the address of the sample", ASKS_SYM, PERFILE_EXPR_TEXT, true},
    {"symoff", "offset of the address in that function", ASKS_SYMOFF, PERFILE_EXPR_NUMBER, true},
    {"srcline", "line of the source at the address", ASKS_SRCLINE, PERFILE_EXPR_TEXT, true},
    {"caller", "function that called it, by the call chain", ASKS_CALLER, PERFILE_EXPR_TEXT, true},
    {"stack", "functions of the call chain, innermost first, with ; between them", ASKS_STACK,
     PERFILE_EXPR_TEXT, true},
    {"addr_sym", "symbol at the data address of the sample", ASKS_ADDR_SYM, PERFILE_EXPR_TEXT,
     true},
    {"addr_dso", "file mapped at the data address", ASKS_ADDR_DSO, PERFILE_EXPR_TEXT, false},
};

enum { N_NAMES = sizeof names / sizeof names[0] };

const char *pf_answers_name(size_t i, const char **doc)
{
    if (i >= N_NAMES)
        return NULL;
    *doc = names[i].doc;
    return names[i].name;
}

uint32_t pf_answers_know(void *user, const char *name, uint32_t *handle)
{
    pf_answers *a = user;
    for (size_t i = 0; i < N_NAMES; i++) {
        if (strcmp(name, names[i].name) != 0)
            continue;
        *handle = names[i].handle;
        a->uses_model = true;
        a->uses_code |= names[i].of_code;
        return names[i].class;
    }
    return 0;
}

/* The state for resolving addresses. */
typedef struct pf_answers_code {
    perfile_symbols *symbols; /* NULL: functions are not looked up */
    pf_profile profile;
    pf_resolver resolver;
    uint64_t limit;
    bool profile_there;
} code;

static void free_profile(code *c)
{
    if (!c->profile_there)
        return;
    pf_resolver_free(&c->resolver);
    pf_profile_free(&c->profile);
    c->profile_there = false;
}

void pf_answers_forget(pf_answers *a)
{
    code *c = a->code;
    if (c) {
        free_profile(c);
        perfile_symbols_close(c->symbols);
        pf_free(c);
    }
    a->code = NULL;
    pf_buffer_free(&a->text);
    a->text = (pf_buffer){0};
}

/* Makes an empty profile and its resolver. */
static bool make_profile(code *c, const perfile_model *model)
{
    if (!pf_profile_init(&c->profile, c->limit)) {
        pf_profile_free(&c->profile);
        return false;
    }
    c->profile_there = true;
    if (!pf_resolver_init(&c->resolver, &c->profile, model))
        return false;
    c->resolver.functions = c->symbols;
    c->resolver.own_frames = true;
    return true;
}

static perfile_status open_code(pf_answers *a, const perfile_record *r, perfile_error *err)
{
    if (a->code)
        return PERFILE_OK;
    code *c = pf_alloc(1, sizeof *c);
    if (!c)
        return pf_fail_nomem(err, "names");
    a->code = c;
    c->limit = pf_session_profile_bytes(r->session);
    perfile_status st =
        a->options ? perfile_symbols_open(r->session, a->options, &c->symbols, err) : PERFILE_OK;
    return st;
}

/* Converts the words of a call chain to native byte order.  Returns false when out of memory. */
static bool chain_words(pf_answers *a, const perfile_words *chain, const uint8_t **words)
{
    *words = chain->ptr;
    if (!chain->swapped)
        return true;
    pf_buffer_clear(&a->text);
    for (size_t i = 0; i < chain->n; i++) {
        const uint64_t word = perfile_word(chain, i);
        if (!pf_buffer_append(&a->text, &word, sizeof word))
            return false;
    }
    *words = a->text.ptr;
    return true;
}

/* Resolves an address of a sample, and its call chain if `chain`.  The tables of the profile are a
 * cache: they are emptied when they are full. */
static perfile_status resolve(pf_answers *a, const perfile_record *r, const perfile_sample *s,
                              uint64_t address, bool chain, pf_profiled *out, perfile_error *err)
{
    code *c = a->code;
    pf_unresolved u = {.s = {.time = perfile_record_time(r), .pid = PERFILE_NO_PID},
                       .ip = address,
                       .misc = r->misc,
                       .has_ip = true};
    uint32_t tid;
    (void)perfile_record_task(r, &u.s.pid, &tid);
    if (chain && s->present & PERFILE_SAMPLE_CALLCHAIN) {
        if (!chain_words(a, &s->callchain, &u.words))
            return pf_fail_nomem(err, "names");
        u.n = s->callchain.n;
    }
    for (int attempt = 0;; attempt++) {
        const uint32_t known = (uint32_t)c->profile.frames.n;
        u.s.stack = PF_EMPTY_STACK;
        u.s.frame = PF_INTERN_NONE;
        c->resolver.model = a->model;
        bool fits = pf_resolve(&c->resolver, &u);
        if (fits && c->symbols && c->profile.frames.n > known) {
            perfile_status st = pf_name_functions(&c->profile, c->symbols, known, err);
            if (st != PERFILE_OK && st != PERFILE_E_LIMIT)
                return st;
            fits = st == PERFILE_OK;
        }
        if (fits)
            break;
        const bool full = c->profile.budget.refused;
        free_profile(c);
        if (!full || attempt || !make_profile(c, a->model))
            return full ? pf_fail(err, PERFILE_E_LIMIT, "limits.profile_bytes",
                                  "the names of one sample do not fit")
                        : pf_fail_nomem(err, "names");
    }
    *out = u.s;
    return PERFILE_OK;
}

/* Returns the text in a->text as the answer.  `there` is false if appending it failed. */
static perfile_status give_text(pf_answers *a, bool there, perfile_expr_value *value,
                                perfile_error *err)
{
    if (!there)
        return pf_fail_nomem(err, "names");
    value->text = (perfile_bytes){a->text.ptr, a->text.len};
    return PERFILE_OK;
}

/* Appends the name of a frame.  All addresses where nothing is mapped have one name. */
static bool append_frame(pf_answers *a, uint32_t frame)
{
    const pf_profile *p = &a->code->profile;
    const pf_call_frame *f = pf_profile_frame_at(p, frame);
    return pf_name_frame(p, f, f->object == PF_NO_OBJECT, &a->text);
}

/* Appends the functions of a stack, innermost first. */
static bool append_stack(pf_answers *a, uint32_t stack)
{
    const pf_profile *p = &a->code->profile;
    bool ok = true;
    for (bool first = true; stack != PF_EMPTY_STACK && ok; first = false) {
        const pf_call_stack *s = pf_profile_stack_at(p, stack);
        ok = (first || pf_buffer_append_u8(&a->text, ';')) && append_frame(a, s->frame);
        stack = s->parent;
    }
    return ok;
}

static perfile_status answer_caller(pf_answers *a, uint32_t stack, perfile_expr_value *value,
                                    perfile_error *err)
{
    const pf_profile *p = &a->code->profile;
    if (stack == PF_EMPTY_STACK)
        return PERFILE_END;
    const uint32_t caller = pf_profile_stack_at(p, stack)->parent;
    if (caller == PF_EMPTY_STACK)
        return PERFILE_END;
    return give_text(a, append_frame(a, pf_profile_stack_at(p, caller)->frame), value, err);
}

static perfile_status answer_offset(const pf_answers *a, uint32_t frame, perfile_expr_value *value)
{
    const pf_profile *p = &a->code->profile;
    const pf_call_frame *f = pf_profile_frame_at(p, frame);
    const pf_function *function = pf_profile_function_of(p, f);
    if (!function || function->start == PF_INLINED_START)
        return PERFILE_END;
    value->number = f->offset - function->start;
    return PERFILE_OK;
}

static perfile_status answer_source(pf_answers *a, uint32_t frame, perfile_expr_value *value,
                                    perfile_error *err)
{
    const pf_profile *p = &a->code->profile;
    bool known = false;
    perfile_status st = PERFILE_OK;
    if (a->code->symbols)
        st = pf_name_source(p, pf_profile_frame_at(p, frame), a->code->symbols, &a->text, &known,
                            err);
    if (st != PERFILE_OK || !known)
        return st == PERFILE_OK ? PERFILE_END : st;
    return give_text(a, true, value, err);
}

/* Answers with the name of one of the sample's addresses, of its caller, or with the stack. */
static perfile_status answer_code(pf_answers *a, const perfile_record *r, uint32_t handle,
                                  perfile_expr_value *value, perfile_error *err)
{
    perfile_sample s;
    pf_profiled found = {0};
    const bool of_data = handle == ASKS_ADDR_SYM;
    const bool chain = handle == ASKS_STACK || handle == ASKS_CALLER;
    if (perfile_sample_decode(r, &s, sizeof s, NULL) != PERFILE_OK ||
        !(s.present & (of_data ? PERFILE_SAMPLE_ADDR : PERFILE_SAMPLE_IP)))
        return PERFILE_END;
    perfile_status st = open_code(a, r, err);
    if (a->stale && a->code)
        free_profile(a->code);
    a->stale = false;
    if (st == PERFILE_OK && !a->code->profile_there && !make_profile(a->code, a->model))
        st = pf_fail_nomem(err, "names");
    if (st == PERFILE_OK)
        st = resolve(a, r, &s, of_data ? s.addr : s.ip, chain, &found, err);
    if (st != PERFILE_OK)
        return st;
    pf_buffer_clear(&a->text);
    switch (handle) {
    case ASKS_SYMOFF:
        return answer_offset(a, found.frame, value);
    case ASKS_SRCLINE:
        return answer_source(a, found.frame, value, err);
    case ASKS_CALLER:
        return answer_caller(a, found.stack, value, err);
    case ASKS_STACK:
        return give_text(a, append_stack(a, found.stack), value, err);
    default:
        return give_text(a, append_frame(a, found.frame), value, err);
    }
}

static perfile_status answer_comm(const pf_answers *a, const perfile_record *r,
                                  perfile_expr_value *value)
{
    const char *comm = perfile_model_record_comm(a->model, r);
    if (comm)
        value->text = (perfile_bytes){(const uint8_t *)comm, strlen(comm)};
    return comm ? PERFILE_OK : PERFILE_END;
}

static perfile_status answer_dso(const pf_answers *a, const perfile_record *r, bool of_data,
                                 perfile_expr_value *value)
{
    perfile_sample s;
    uint32_t pid, tid;
    const perfile_mapping *m = NULL;
    if (!of_data) {
        m = perfile_model_record_mapping(a->model, r);
    } else if (r->type == PERFILE_RECORD_SAMPLE && perfile_record_task(r, &pid, &tid) &&
               perfile_sample_decode(r, &s, sizeof s, NULL) == PERFILE_OK &&
               s.present & PERFILE_SAMPLE_ADDR) {
        if (pf_code_of_misc(r->misc) == PF_CODE_KERNEL)
            m = perfile_model_mapping(a->model, PERFILE_NO_PID, s.addr, perfile_record_time(r));
        m = m ? m : perfile_model_mapping(a->model, pid, s.addr, perfile_record_time(r));
    }
    if (m)
        value->text = perfile_mapping_dso(m);
    return m ? PERFILE_OK : PERFILE_END;
}

perfile_status pf_answers_give(void *user, const perfile_record *r, uint32_t handle,
                               perfile_expr_value *value, perfile_error *err)
{
    pf_answers *a = user;
    if (!a->model)
        return PERFILE_END;
    switch (handle) {
    case ASKS_COMM:
        return answer_comm(a, r, value);
    case ASKS_DSO:
    case ASKS_ADDR_DSO:
        return answer_dso(a, r, handle == ASKS_ADDR_DSO, value);
    default:
        return r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF
                   ? answer_code(a, r, handle, value, err)
                   : PERFILE_END;
    }
}
