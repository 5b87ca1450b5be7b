/* Determines which fields are printed: the requested fields, the defaults of each type of events,
 * and the fields that the events of a capture have.
 *
 * The rules are those of perf.  A type of events has one set of fields.  If the first event of the
 * type lacks a field, the field is left out unless it was requested by name; then it is an error.
 * In a pipe, where events come one by one, every event is checked. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/shorten.h"
#include "core/layout.h"
#include "perfile/session.h"
#include "script/script.h"
#include "core/command.h"

static const char *const field_names[] = {
#define FIELD(id, name) [PF_FIELD_NUMBER_##id] = name,
#include "script/fields.def"
};

/* The names of the types in messages, and in lists of fields (NULL if a list cannot name the
 * type). */
static const struct {
    const char *words, *name;
} type_names[PF_SCRIPT_TYPES] = {
    [PF_SCRIPT_HARDWARE] = {"hardware", "hw"},
    [PF_SCRIPT_SOFTWARE] = {"software", "sw"},
    [PF_SCRIPT_TRACEPOINT] = {"tracepoint", "trace"},
    [PF_SCRIPT_HW_CACHE] = {"hardware-cache", NULL},
    [PF_SCRIPT_RAW] = {"raw", "raw"},
    [PF_SCRIPT_BREAKPOINT] = {"breakpoint", "break"},
    [PF_SCRIPT_SYNTH] = {"synthetic", "synth"},
    [PF_SCRIPT_OTHER] = {"other", NULL},
};

void pf_script_defaults(pf_script_type types[PF_SCRIPT_TYPES])
{
    const uint64_t all =
        PF_FIELD_COMM | PF_FIELD_TID | PF_FIELD_CPU | PF_FIELD_TIME | PF_FIELD_EVENT;
    const uint64_t place = PF_FIELD_IP | PF_FIELD_SYM | PF_FIELD_SYMOFF | PF_FIELD_DSO;
    for (size_t i = 0; i < PF_SCRIPT_TYPES; i++)
        types[i] = (pf_script_type){.fields = all | place | PF_FIELD_PERIOD,
                                    .invalid = PF_FIELD_TRACE | PF_FIELD_BPF_OUTPUT};
    types[PF_SCRIPT_SOFTWARE].fields |= PF_FIELD_BPF_OUTPUT;
    types[PF_SCRIPT_SOFTWARE].invalid = PF_FIELD_TRACE;
    types[PF_SCRIPT_TRACEPOINT].fields = all | PF_FIELD_TRACE;
    types[PF_SCRIPT_TRACEPOINT].invalid = 0;
    types[PF_SCRIPT_RAW].fields |= PF_FIELD_ADDR | PF_FIELD_DATA_SRC | PF_FIELD_WEIGHT |
                                   PF_FIELD_PHYS_ADDR | PF_FIELD_DATA_PAGE_SIZE |
                                   PF_FIELD_CODE_PAGE_SIZE | PF_FIELD_INS_LAT;
    types[PF_SCRIPT_SYNTH].fields = all | place | PF_FIELD_SYNTH;
}

/* Whether a list of fields replaces the current fields or changes them. */
enum change { CHANGE_NONE, CHANGE_SET, CHANGE_ADD, CHANGE_REMOVE };

/* Returns true if `word` of `n` bytes equals `name`. */
static bool is_word(const char *word, size_t n, const char *name)
{
    return name && strlen(name) == n && memcmp(word, name, n) == 0;
}

/* Returns the number of a field; PF_N_FIELDS if there is none of this name. */
static unsigned field_named(const char *word, size_t n)
{
    unsigned i = 0;
    while (i < PF_N_FIELDS && !is_word(word, n, field_names[i]))
        i++;
    return i;
}

static void change_type(pf_script_type *t, uint64_t field, enum change how, bool of_all)
{
    t->fields = how == CHANGE_REMOVE ? t->fields & ~field : t->fields | field;
    if (of_all) {
        t->asked = how == CHANGE_REMOVE ? t->asked & ~field : t->asked | field;
        t->unset = how == CHANGE_REMOVE ? t->unset | field : t->unset & ~field;
    }
    if (field != PF_FIELD_FLAGS) /* perf does not count this as a choice of fields */
        t->is_set = t->is_of_all = true;
}

/* Reads one field of a list, without its sign.  `type` PF_SCRIPT_TYPES means all types. */
static perfile_status read_field(pf_script_type *types, unsigned type, const char *word, size_t n,
                                 enum change how, perfile_error *err)
{
    const unsigned number = field_named(word, n);
    if (number == PF_N_FIELDS)
        return pf_fail(err, PERFILE_E_USAGE, "fields", "invalid field requested: '%.*s'",
                       (int)(n < 64 ? n : 64), word);
    const uint64_t field = UINT64_C(1) << number;
    if (type != PF_SCRIPT_TYPES && types[type].invalid & field)
        return pf_fail(err, PERFILE_E_USAGE, "fields", "'%s' not valid for %s events",
                       field_names[number], type_names[type].words);
    for (unsigned i = 0; i < PF_SCRIPT_TYPES; i++)
        if ((type == PF_SCRIPT_TYPES || type == i) && !(types[i].invalid & field))
            change_type(&types[i], field, how, type == PF_SCRIPT_TYPES);
    return PERFILE_OK;
}

/* Reads a list of fields, text[0 .. n). */
static perfile_status read_list(pf_script_type *types, unsigned type, const char *text, size_t n,
                                perfile_error *err)
{
    enum change how = CHANGE_NONE;
    perfile_status st = PERFILE_OK;
    for (const char *end = text + n; text < end && st == PERFILE_OK;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end;
        const enum change is = *text == '+'   ? CHANGE_ADD
                               : *text == '-' ? CHANGE_REMOVE
                                              : CHANGE_SET;
        if (how != CHANGE_NONE && (how == CHANGE_SET) != (is == CHANGE_SET))
            return pf_fail(err, PERFILE_E_USAGE, "fields",
                           "cannot mix +-field with overridden fields");
        how = is;
        text += is != CHANGE_SET;
        if (stop > text || is != CHANGE_SET)
            st = read_field(types, type, text, (size_t)(stop - text), is, err);
        text = stop + 1;
    }
    return st;
}

/* Reads one list with its optional type, text[0 .. n).  A list that contains + or -, even in
 * `bpf-output`, changes the current fields. */
static perfile_status read_option(pf_script_type *types, const char *text, size_t n,
                                  perfile_error *err)
{
    unsigned type = PF_SCRIPT_TYPES;
    const char *colon = memchr(text, ':', n);
    if (colon) {
        const size_t length = (size_t)(colon - text);
        for (type = 0; type < PF_SCRIPT_TYPES; type++)
            if (is_word(text, length, type_names[type].name))
                break;
        if (type == PF_SCRIPT_TYPES)
            return pf_fail(err, PERFILE_E_USAGE, "fields",
                           "invalid event type in field string: '%.*s'",
                           (int)(length < 64 ? length : 64), text);
        n -= length + 1;
        text = colon + 1;
    }
    const bool changes = memchr(text, '+', n) || memchr(text, '-', n);
    for (unsigned i = 0; i < PF_SCRIPT_TYPES && !changes; i++) {
        if (type != PF_SCRIPT_TYPES && type != i)
            continue;
        types[i].fields = 0;
        types[i].is_set = true;
        types[i].is_of_all = type == PF_SCRIPT_TYPES;
    }
    return read_list(types, type, text, n, err);
}

perfile_status pf_script_read(pf_script_type types[PF_SCRIPT_TYPES], const char *text,
                              perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (!*text)
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "cannot set fields to 'none' for all event types");
    while (*text && st == PERFILE_OK) {
        const size_t n = strcspn(text, " ");
        if (n)
            st = read_option(types, text, n, err);
        text += n + (text[n] == ' ');
    }
    return st;
}

/* Returns the type of an event. */
static unsigned type_of(const perfile_event *e)
{
    return e->attr->type <= PF_SCRIPT_BREAKPOINT ? e->attr->type : PF_SCRIPT_OTHER;
}

enum { /* attr.config of software and hardware events */
       SW_PAGE_FAULTS = 2,
       SW_MINOR_FAULTS = 5,
       SW_MAJOR_FAULTS = 6,
       SW_DUMMY = 9,
       SW_BPF_OUTPUT = 10,
       HW_BRANCHES = 4
};

static bool is_software(const perfile_event *e, uint64_t config)
{
    return e->attr->type == PF_SCRIPT_SOFTWARE && e->attr->config == config;
}

enum { HAS_ADDRESS = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_ADDR };

/* The bit of sample_type that a field needs, and its name in messages.  With `aux`, decoders of AUX
 * data may add the field later, so captures with such data may lack it. */
static const struct {
    uint64_t fields, needs;
    const char *what;
    unsigned field; /* named in messages */
    bool aux;
} needs[] = {
    {UINT64_C(1) << PF_FIELD_NUMBER_IP, PERFILE_SAMPLE_IP, "IP", PF_FIELD_NUMBER_IP, false},
    {UINT64_C(1) << PF_FIELD_NUMBER_ADDR, PERFILE_SAMPLE_ADDR, "ADDR", PF_FIELD_NUMBER_ADDR, true},
    {UINT64_C(1) << PF_FIELD_NUMBER_DATA_SRC, PERFILE_SAMPLE_DATA_SRC, "DATA_SRC",
     PF_FIELD_NUMBER_DATA_SRC, true},
    {UINT64_C(1) << PF_FIELD_NUMBER_WEIGHT,
     (uint64_t)PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT, "WEIGHT",
     PF_FIELD_NUMBER_WEIGHT, true},
    {UINT64_C(1) << PF_FIELD_NUMBER_TID | UINT64_C(1) << PF_FIELD_NUMBER_PID, PERFILE_SAMPLE_TID,
     "TID", PF_FIELD_NUMBER_TID, false},
    {UINT64_C(1) << PF_FIELD_NUMBER_TIME, PERFILE_SAMPLE_TIME, "TIME", PF_FIELD_NUMBER_TIME, false},
    {UINT64_C(1) << PF_FIELD_NUMBER_CPU, PERFILE_SAMPLE_CPU, "CPU", PF_FIELD_NUMBER_CPU, true},
    {UINT64_C(1) << PF_FIELD_NUMBER_IREGS, PERFILE_SAMPLE_REGS_INTR, "IREGS", PF_FIELD_NUMBER_IREGS,
     true},
    {UINT64_C(1) << PF_FIELD_NUMBER_UREGS, PERFILE_SAMPLE_REGS_USER, "UREGS", PF_FIELD_NUMBER_UREGS,
     false},
    {UINT64_C(1) << PF_FIELD_NUMBER_PHYS_ADDR, PERFILE_SAMPLE_PHYS_ADDR, "PHYS_ADDR",
     PF_FIELD_NUMBER_PHYS_ADDR, true},
    {UINT64_C(1) << PF_FIELD_NUMBER_DATA_PAGE_SIZE, PERFILE_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE",
     PF_FIELD_NUMBER_DATA_PAGE_SIZE, false},
    {UINT64_C(1) << PF_FIELD_NUMBER_CODE_PAGE_SIZE, PERFILE_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE",
     PF_FIELD_NUMBER_CODE_PAGE_SIZE, false},
    {UINT64_C(1) << PF_FIELD_NUMBER_INS_LAT, PERFILE_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT",
     PF_FIELD_NUMBER_INS_LAT, false},
    {UINT64_C(1) << PF_FIELD_NUMBER_RETIRE_LAT, PERFILE_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT",
     PF_FIELD_NUMBER_RETIRE_LAT, false},
};

/* Removes the fields that samples of the event do not have. */
static perfile_status check_needs(pf_script_type *t, const perfile_event *e, bool aux,
                                  perfile_error *err)
{
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (!(t->fields & needs[i].fields) || e->attr->sample_type & needs[i].needs)
            continue;
        if (!(t->asked & needs[i].fields))
            t->fields &= ~needs[i].fields;
        else if (!needs[i].aux || !aux)
            return pf_fail(
                err, PERFILE_E_USAGE, "fields",
                "samples for '%s' event do not have %s attribute set; cannot print '%s' field",
                e->name, needs[i].what, field_names[needs[i].field]);
    }
    return PERFILE_OK;
}

/* Checks an event that represents its type. */
static perfile_status check_event(pf_script_type *t, const perfile_event *e, bool aux,
                                  perfile_error *err)
{
    const bool has_address = e->attr->sample_type & HAS_ADDRESS;
    if (!t->is_set && !has_address) /* perf refuses the capture */
        t->fields &= ~(PF_FIELD_SYM | PF_FIELD_SYMOFF | PF_FIELD_DSO);
    const perfile_status st = check_needs(t, e, aux, err);
    if (st != PERFILE_OK)
        return st;
    if (t->fields & PF_FIELD_SYM && !has_address)
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "display of symbols requested, but samples for '%s' have no address",
                       e->name);
    if (t->fields & PF_FIELD_SYMOFF && !(t->fields & PF_FIELD_SYM))
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "display of offsets requested but symbol is not selected");
    if (t->fields & (PF_FIELD_DSO | PF_FIELD_DSOFF) && !has_address)
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "display of DSO requested, but samples for '%s' have no address", e->name);
    if (t->fields & PF_FIELD_SRCLINE && !(t->fields & PF_FIELD_IP))
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "display of source line number requested but sample IP is not selected");
    return PERFILE_OK;
}

/* Returns the first event of a type that has one of these bits in sample_type.  NULL if there is
 * none. */
static const perfile_event *first_of_type(const perfile_session *s, unsigned type, uint64_t bits)
{
    for (uint32_t i = 0; i < pf_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (type_of(e) == type && !is_software(e, SW_DUMMY) && e->attr->sample_type & bits)
            return e;
    }
    return NULL;
}

/* Checks a type by its first event, if there is one.  In a pipe no events are known yet. */
static perfile_status check_type(pf_script_plan *plan, const perfile_session *s, unsigned type,
                                 bool is_pipe, bool aux, perfile_error *err)
{
    pf_script_type *t = &plan->types[type];
    const perfile_event *e = is_pipe ? NULL : first_of_type(s, type, UINT64_MAX);
    if (e && !t->is_set && !(e->attr->sample_type & HAS_ADDRESS)) { /* perf refuses the capture */
        const perfile_event *other = first_of_type(s, type, HAS_ADDRESS);
        e = other ? other : e;
    }
    if (!e && t->is_set && !t->is_of_all && type != PF_SCRIPT_SYNTH)
        return pf_fail(err, PERFILE_E_USAGE, "fields",
                       "%s events do not exist, but there are fields for them",
                       type_names[type].words);
    if (perfile_session_feature(s, PERFILE_FEATURE_STAT)) /* counters have no samples */
        return PERFILE_OK;
    return e && t->fields ? check_event(t, e, aux, err) : PERFILE_OK;
}

/* Adds the address and its symbol to the default fields of tracepoints, if some have callchains. */
static void add_chains(pf_script_plan *plan, const perfile_session *s)
{
    pf_script_type *t = &plan->types[PF_SCRIPT_TRACEPOINT];
    for (uint32_t i = 0; i < pf_session_n_events(s) && !t->is_set; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (type_of(e) == PF_SCRIPT_TRACEPOINT && e->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN)
            t->fields |= PF_FIELD_IP | PF_FIELD_SYM | PF_FIELD_SYMOFF | PF_FIELD_DSO;
    }
}

/* Checks an event of a pipe.  Its type shows address and symbol if some event so far has callchains
 * or similar data. */
static perfile_status check_piped(pf_script_plan *plan, const perfile_event *e, bool aux,
                                  bool chains, uint64_t *seen, perfile_error *err)
{
    const uint64_t copied = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    pf_script_type *t = &plan->types[type_of(e)];
    const perfile_status st =
        e->attr->sample_type ? check_event(t, e, aux, err) : (perfile_status)PERFILE_OK;
    *seen |= e->attr->sample_type;
    if (chains && (*seen & (PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_BRANCH_STACK) ||
                   (*seen & copied) == copied))
        t->fields |= (PF_FIELD_IP | PF_FIELD_SYM) & ~t->unset;
    return st;
}

static perfile_status check_all(pf_script_plan *plan, const perfile_session *s, bool chains,
                                bool is_pipe, perfile_error *err)
{
    const bool aux = perfile_session_feature(s, PERFILE_FEATURE_AUXTRACE);
    perfile_status st = PERFILE_OK;
    uint64_t seen = 0;
    for (unsigned i = 0; i < PF_SCRIPT_TYPES && st == PERFILE_OK; i++)
        st = check_type(plan, s, i, is_pipe, aux, err);
    for (uint32_t i = 0; i < pf_session_n_events(s) && is_pipe && st == PERFILE_OK; i++)
        st = check_piped(plan, perfile_session_event(s, i), aux, chains, &seen, err);
    if (st == PERFILE_OK && chains && !is_pipe)
        add_chains(plan, s);
    return st;
}

enum { NAME_MOST = 256 /* bytes of a name made from an attr, with its NUL */ };

/* Appends the letter of a mode that is not excluded. */
static void add_letter(const perfile_attr *a, unsigned excluded, char letter, char *text)
{
    const size_t n = strlen(text);
    if (a->flags >> excluded & 1)
        return;
    text[n] = letter;
    text[n + 1] = '\0';
}

/* Makes the modifiers that perf appends to a name which it makes from an attr: at most 9
 * letters. */
static void perf_modifiers(const perfile_attr *a, char *text)
{
    const unsigned precise = a->flags >> PERFILE_ATTR_BIT_PRECISE_IP & 3;
    const uint64_t modes = UINT64_C(1) << PERFILE_ATTR_BIT_EXCLUDE_KERNEL |
                           UINT64_C(1) << PERFILE_ATTR_BIT_EXCLUDE_USER |
                           UINT64_C(1) << PERFILE_ATTR_BIT_EXCLUDE_HV;
    const bool usual = a->flags & modes || precise; /* guests are then excluded too */
    text[0] = '\0';
    if (a->flags & modes) {
        add_letter(a, PERFILE_ATTR_BIT_EXCLUDE_KERNEL, 'k', text);
        add_letter(a, PERFILE_ATTR_BIT_EXCLUDE_USER, 'u', text);
        add_letter(a, PERFILE_ATTR_BIT_EXCLUDE_HV, 'h', text);
    }
    strcat(text, &"ppp"[3 - precise]);
    if (a->flags >> PERFILE_ATTR_BIT_EXCLUDE_HOST & 1 ||
        (a->flags >> PERFILE_ATTR_BIT_EXCLUDE_GUEST & 1) == usual) {
        add_letter(a, PERFILE_ATTR_BIT_EXCLUDE_HOST, 'H', text);
        add_letter(a, PERFILE_ATTR_BIT_EXCLUDE_GUEST, 'G', text);
    }
}

/* Returns perf's name for an event.  perf appends more modifiers than this library to a name made
 * from the attr; such a name is made in `text`. */
static const char *name_of(const perfile_event *e, char text[NAME_MOST])
{
    char ours[16] = "", modifiers[16];
    const size_t n = strlen(e->name);
    if (e->name_origin != PERFILE_ORIGIN_DERIVED || n + sizeof modifiers > NAME_MOST ||
        e->attr->type == PF_SCRIPT_TRACEPOINT || e->attr->type > PF_SCRIPT_BREAKPOINT)
        return e->name;
    pf_name_modifiers(e->attr, ours, sizeof ours);
    const size_t m = strlen(ours);
    memcpy(text, e->name, n + 1);
    if (e->attr->type == PF_SCRIPT_RAW)
        snprintf(text, NAME_MOST, "raw 0x%" PRIx64, e->attr->config);
    else if (m && n > m && strcmp(text + n - m, ours) == 0)
        text[n - m] = '\0';
    perf_modifiers(e->attr, modifiers);
    if (modifiers[0])
        strcat(strcat(text, ":"), modifiers);
    return text;
}

/* Appends the name of an event, padded to the longest one.  Returns false when out of memory. */
static bool add_name(pf_script_plan *plan, pf_script_event *out, const char *name, size_t width)
{
    const size_t n = strlen(name);
    bool ok = true;
    out->name = plan->names.len;
    for (size_t i = n; i < width && ok; i++)
        ok = pf_buffer_append_u8(&plan->names, ' ');
    ok = ok && pf_script_put_text(&plan->names, name, n, PF_NAME_MOST) &&
         pf_buffer_append(&plan->names, ": ", 2);
    out->n_name = plan->names.len - out->name;
    return ok;
}

/* Adds how samples of an event are printed.  Returns false when out of memory. */
static bool add_event(pf_script_plan *plan, const perfile_event *e, bool chains, size_t width)
{
    const uint64_t decoded = PF_FIELD_ADDR | PF_FIELD_DATA_SRC | PF_FIELD_WEIGHT |
                             PF_FIELD_INS_LAT | PF_FIELD_IREGS | PF_FIELD_UREGS | PF_FIELD_BRSTACK |
                             PF_FIELD_BRSTACKSYM | PF_FIELD_BRSTACKOFF | PF_FIELD_TRACE |
                             PF_FIELD_PHYS_ADDR | PF_FIELD_DATA_PAGE_SIZE |
                             PF_FIELD_CODE_PAGE_SIZE | PF_FIELD_RETIRE_LAT;
    pf_script_event *out = &plan->events[plan->n++];
    char text[NAME_MOST];
    const perfile_attr *a = e->attr;
    *out =
        (pf_script_event){.type = (uint8_t)type_of(e),
                          .has_chain = chains && a->sample_type & PERFILE_SAMPLE_CALLCHAIN,
                          .is_bpf = is_software(e, SW_BPF_OUTPUT),
                          .is_branch = a->type == PF_SCRIPT_HARDWARE && a->config & HW_BRANCHES &&
                                       !a->is_freq && a->sample_period == 1,
                          .period = a->is_freq ? a->sample_freq : a->sample_period};
    out->fields = plan->types[out->type].fields;
    out->has_time = a->sample_type & PERFILE_SAMPLE_TIME;
    plan->timed_all &= out->has_time;
    out->has_asked = plan->types[out->type].is_set;
    out->has_data_sym = is_software(e, SW_PAGE_FAULTS) || is_software(e, SW_MINOR_FAULTS) ||
                        is_software(e, SW_MAJOR_FAULTS) || out->is_branch;
    if (!out->is_bpf)
        out->fields &= ~PF_FIELD_BPF_OUTPUT;
    out->has_chain = out->has_chain && out->fields & PF_FIELD_IP;
    plan->needs_records |= out->fields & decoded || out->is_bpf || out->is_branch;
    plan->in_order |= (out->fields & PF_FIELD_DATA_SRC) != 0;
    return add_name(plan, out, name_of(e, text), width);
}

/* Returns the length of the longest name of an event. */
static size_t longest_name(const perfile_session *s)
{
    size_t width = 0;
    char text[NAME_MOST];
    for (uint32_t i = 0; i < pf_session_n_events(s); i++) {
        const size_t n = strlen(name_of(perfile_session_event(s, i), text));
        width = n > width ? n : width;
        width = width < PF_NAME_MOST ? width : PF_NAME_MOST;
    }
    return width;
}

perfile_status pf_script_plan_make(pf_script_plan *plan,
                                   const pf_script_type types[PF_SCRIPT_TYPES],
                                   const perfile_session *s, uint32_t options, bool is_pipe,
                                   perfile_error *err)
{
    const uint32_t n = pf_session_n_events(s);
    const bool chains = !(options & PERFILE_SCRIPT_NO_CHAINS);
    const size_t width = longest_name(s);
    memcpy(plan->types, types, sizeof plan->types);
    perfile_status st = check_all(plan, s, chains, is_pipe, err);
    if (st != PERFILE_OK)
        return st;
    if (n > plan->cap) {
        pf_script_event *more = pf_realloc(plan->events, n, sizeof *more);
        if (!more)
            return pf_fail_nomem(err, "script");
        plan->events = more;
        plan->cap = n;
    }
    pf_buffer_clear(&plan->names);
    plan->n = 0;
    plan->needs_records = false;
    plan->timed_all = true;
    plan->in_order = options & PERFILE_SCRIPT_DELTATIME;
    for (uint32_t i = 0; i < n; i++)
        if (!add_event(plan, perfile_session_event(s, i), chains, width))
            return pf_fail_nomem(err, "script");
    return PERFILE_OK;
}

void pf_script_plan_free(pf_script_plan *plan)
{
    pf_free(plan->events);
    pf_buffer_free(&plan->names);
}
