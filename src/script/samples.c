/* The line of a sample.
 *
 * Most lines only have thread, CPU, time, period, event and address.  These are in the reader's
 * pf_unresolved, and are written with the functions of emit/emitter.h.  A record is only decoded
 * for events with other fields. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/shorten.h"
#include "core/layout.h"
#include "model/ask.h"
#include "perfile/session.h"
#include "perfile/text.h"
#include "script/script.h"
#include "trace/print.h"
#include "trace/tracepoints.h"
#include "base/command.h"

/* The name of a thread at the times from `first` to `last`. */
typedef struct pf_script_thread {
    uint64_t first, last;
    const char *comm; /* of the model; NULL if not known */
    uint32_t pid, tid;
    uint8_t n; /* length of `text`; 0 if the name is longer */
    bool used;
    char text[PF_SCRIPT_COMM]; /* the name as it is shown */
} pf_script_thread;

void *pf_script_state_open(void *user, pf_resolver *resolver)
{
    pf_script_state *s = pf_alloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (pf_script_state){.x = user, .resolver = resolver, .kernel = PF_NO_OBJECT};
    s->threads = pf_alloc(PF_SCRIPT_THREADS, sizeof *s->threads);
    if (s->threads)
        return s;
    pf_free(s);
    return NULL;
}

static void free_pieces(pf_budget *budget, pf_script_pieces *p)
{
    pf_budget_free(budget, p->at, p->n, sizeof *p->at);
    *p = (pf_script_pieces){0};
}

void pf_script_state_forget(void *state)
{
    pf_script_state *s = state;
    pf_budget *budget = &s->resolver->profile->budget;
    for (unsigned i = 0; i < PF_SCRIPT_TYPES; i++) {
        free_pieces(budget, &s->frames[i]);
        free_pieces(budget, &s->chains[i]);
        free_pieces(budget, &s->unwound[i]);
        free_pieces(budget, &s->places[i]);
    }
    pf_budget_free(budget, s->texts, s->texts_cap, 1);
    s->texts = NULL;
    s->n_texts = s->texts_cap = 0;
    s->kernel = PF_NO_OBJECT;
}

void pf_script_state_close(void *state)
{
    pf_script_state *s = state;
    pf_script_state_forget(s);
    perfile_tracepoints_close(s->tracepoints);
    pf_buffer_free(&s->scratch);
    pf_free(s->threads);
    pf_free(s);
}

bool pf_script_printf(pf_buffer *out, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return n >= 0 && pf_buffer_append(out, text, (size_t)n < sizeof text ? (size_t)n : 255);
}

bool pf_script_put_text(pf_buffer *out, const char *text, size_t n, size_t most)
{
    uint8_t room[PF_SCRIPT_FUNCTION];
    perfile_bytes t = {(const uint8_t *)text, n};
    if (n > most)
        t = pf_shortened(t, most, room);
    if (!pf_buffer_reserve(out, t.len))
        return false;
    for (size_t i = 0, length; i < t.len; i += length) {
        uint32_t code = 0;
        length = perfile_utf8_char(t.ptr + i, t.len - i, &code);
        if (length && pf_is_printable(code)) {
            memcpy(out->ptr + out->len, t.ptr + i, length);
            out->len += length;
        } else {
            out->ptr[out->len++] = '?';
            length = length ? length : 1;
        }
    }
    return true;
}

/* Numbers in columns.  `at` has room for 32 bytes. */

static inline uint8_t *put_spaces(uint8_t *at, size_t n)
{
    memset(at, ' ', n);
    return at + n;
}

/* Writes a decimal number, right-aligned. */
static inline uint8_t *put_right(uint8_t *at, uint64_t v, size_t width)
{
    uint8_t digits[32];
    const size_t n = (size_t)(pf_put_dec(digits, v) - digits);
    if (n < width)
        at = put_spaces(at, width - n);
    memcpy(at, digits, PF_DEC_MAX);
    return at + n;
}

/* Writes a pid or tid, which may be -1. */
static inline uint8_t *put_id(uint8_t *at, uint32_t id, size_t width)
{
    if (id <= INT32_MAX)
        return put_right(at, id, width);
    uint8_t digits[32];
    digits[0] = '-';
    const size_t n = (size_t)(pf_put_dec(digits + 1, 0 - (uint64_t)(int64_t)(int32_t)id) - digits);
    if (n < width)
        at = put_spaces(at, width - n);
    memcpy(at, digits, n);
    return at + n;
}

/* Like %-5d. */
static uint8_t *put_left(uint8_t *at, uint32_t id, size_t width)
{
    uint8_t *end = put_id(at, id, 0);
    const size_t n = (size_t)(end - at);
    return n < width ? put_spaces(end, width - n) : end;
}

static inline uint8_t *put_cpu(uint8_t *at, uint32_t cpu)
{
    *at++ = '[';
    if (cpu < 1000) {
        at = pf_put_dec_fixed(at, cpu, 3);
    } else if (cpu <= INT32_MAX) {
        at = pf_put_dec(at, cpu);
    } else { /* %03d of a negative number */
        char text[16];
        const int n = snprintf(text, sizeof text, "%03" PRId32, (int32_t)cpu);
        memcpy(at, text, (size_t)n);
        at += n;
    }
    memcpy(at, "] ", 2);
    return at + 2;
}

static uint8_t *put_misc(uint8_t *at, uint16_t misc, uint32_t type)
{
    /* Letters by cpumode.  perf tests it as bits: 3 is hypervisor, and sets both other letters. */
    static const char *const modes[] = {"", "K", "U", "KUH", "G", "KGg", "UG", "KUHGg"};
    const char *mode = modes[misc & PERFILE_MISC_CPUMODE_MASK];
    uint8_t *end = at;
    const size_t n = strlen(mode);
    memcpy(end, mode, n);
    end += n;
    const bool is_mmap = type == PERFILE_RECORD_MMAP || type == PERFILE_RECORD_MMAP2;
    const bool is_switch = type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE;
    if (is_mmap && misc & PERFILE_MISC_MMAP_DATA)
        *end++ = 'M';
    if (type == PERFILE_RECORD_COMM && misc & PERFILE_MISC_COMM_EXEC)
        *end++ = 'E';
    if (is_switch && misc & PERFILE_MISC_SWITCH_OUT)
        *end++ = 'S';
    if (is_switch && misc & PERFILE_MISC_SWITCH_OUT && misc & PERFILE_MISC_SWITCH_OUT_PREEMPT)
        *end++ = 'p';
    const size_t used = (size_t)(end - at);
    return put_spaces(end, used < 5 ? 6 - used : 1);
}

/* Writes seconds and their fraction, at least 12 characters. */
static inline uint8_t *put_time(uint8_t *at, uint64_t time, bool nanoseconds)
{
    const uint64_t ns = time % 1000000000;
    at = put_right(at, time / 1000000000, 5);
    *at++ = '.';
    at = nanoseconds ? pf_put_dec_fixed(at, ns, 9) : pf_put_dec_fixed(at, ns / 1000, 6);
    memcpy(at, ": ", 2);
    return at + 2;
}

/* Writes the wall clock time in the local time zone. */
static uint8_t *put_tod(uint8_t *at, const pf_script *x, uint64_t time)
{
    char text[64];
    struct tm parts;
    uint64_t wall;
    const bool ns = x->base.flags & PERFILE_SCRIPT_NANOSECONDS;
    if (!perfile_session_wall_time(x->reader.session, time, &wall)) { /* in a pipe */
        memcpy(at, "disabled ", 9);
        return at + 9;
    }
    const time_t seconds = (time_t)(wall / 1000000000);
    if (!localtime_r(&seconds, &parts))
        return at;
    size_t n = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S.", &parts);
    memcpy(at, text, n);
    at += n;
    at = ns ? pf_put_dec_fixed(at, wall % 1000000000, 9)
            : pf_put_dec_fixed(at, wall % 1000000000 / 1000, 6);
    *at = ' ';
    return at + 1;
}

/* Writes the name of a thread, padded to a column unless callchains follow. */
static inline uint8_t *put_comm(uint8_t *at, const pf_script_start *s)
{
    size_t n = s->n_comm;
    uint8_t digits[32];
    const char *text = s->comm;
    if (!text) { /* perf's name for threads without a name */
        digits[0] = ':';
        n = (size_t)(put_id(digits + 1, s->tid, 0) - digits);
        text = (const char *)digits;
    }
    if (!s->has_chain && n < 16)
        at = put_spaces(at, 16 - n);
    memcpy(at, text, n);
    at[n] = ' ';
    return at + n + 1;
}

/* Returns the time to print.  With DELTATIME one thread prints all samples, in order. */
static uint64_t shown_time(pf_script *x, uint64_t time)
{
    if (!(x->base.flags & PERFILE_SCRIPT_DELTATIME))
        return time - x->first_time;
    const uint64_t previous = x->previous_time;
    x->previous_time = time;
    return previous ? time - previous : 0;
}

uint8_t *pf_script_put_start(pf_script *x, const pf_script_start *s, uint8_t *at)
{
    const uint64_t fields = s->fields;
    if (fields & PF_FIELD_COMM)
        at = put_comm(at, s);
    if (fields & PF_FIELD_PID) {
        at = put_id(at, s->pid, 5);
        *at++ = fields & PF_FIELD_TID ? '/' : ' ';
        if (fields & PF_FIELD_TID) {
            at = put_left(at, s->tid, 5);
            *at++ = ' ';
        }
    } else if (fields & PF_FIELD_TID) {
        at = put_id(at, s->tid, 5);
        *at++ = ' ';
    }
    if (fields & PF_FIELD_CPU)
        at = put_cpu(at, s->cpu);
    if (fields & PF_FIELD_MISC)
        at = put_misc(at, s->misc, s->type);
    if (fields & PF_FIELD_TOD)
        at = put_tod(at, x, s->time);
    if (fields & PF_FIELD_TIME)
        at = put_time(at, shown_time(x, s->time), x->base.flags & PERFILE_SCRIPT_NANOSECONDS);
    return at;
}

/* Returns the slot with the name of a thread; looks the name up unless the slot has it already. */
static const pf_script_thread *thread_of(pf_script_state *s, uint32_t pid, uint32_t tid,
                                         uint64_t time)
{
    pf_script_thread *t = &s->threads[(tid ^ pid * 0x9e3779b1U) % PF_SCRIPT_THREADS];
    if (t->used && t->tid == tid && t->pid == pid && time >= t->first && time <= t->last)
        return t;
    pf_reach reach = {.last = UINT64_MAX};
    const perfile_model *model = s->resolver->model;
    const char *comm = model ? pf_model_comm(model, pid, tid, time, &reach) : NULL;
    *t = (pf_script_thread){.first = reach.first,
                            .last = reach.last,
                            .comm = comm,
                            .pid = pid,
                            .tid = tid,
                            .used = true};
    if (!comm && tid == 0) /* perf always knows this name */
        t->comm = comm = "swapper";
    const size_t n = comm ? strlen(comm) : 0;
    pf_buffer_clear(&s->scratch);
    if (n && n <= PF_SCRIPT_COMM && pf_script_put_text(&s->scratch, comm, n, PF_NAME_MOST)) {
        memcpy(t->text, s->scratch.ptr, s->scratch.len);
        t->n = (uint8_t)s->scratch.len;
    }
    return t;
}

/* Appends everything up to the name of the event.  Returns false when out of memory. */
static bool put_head(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                     pf_buffer *out)
{
    const pf_profiled *p = &u->s;
    const pf_script_thread *t = thread_of(s, p->pid, p->tid, p->time);
    pf_script_start start = {.fields = e->fields,
                             .has_chain = e->has_chain,
                             .pid = p->pid,
                             .tid = p->tid,
                             .cpu = p->cpu,
                             .time = e->has_time ? p->time : UINT64_MAX,
                             .misc = u->misc,
                             .type = PERFILE_RECORD_SAMPLE,
                             .comm = t->comm ? t->text : NULL,
                             .n_comm = t->n};
    if (t->comm && !t->n) {
        pf_buffer_clear(&s->scratch);
        if (!pf_script_put_text(&s->scratch, t->comm, strlen(t->comm), PF_NAME_MOST))
            return false;
        start.comm = s->scratch.len ? (const char *)s->scratch.ptr : "";
        start.n_comm = s->scratch.len;
    }
    if (!pf_buffer_reserve(out, PF_START_ROOM + start.n_comm + e->n_name))
        return false;
    uint8_t *at = pf_script_put_start(s->x, &start, out->ptr + out->len);
    if (e->fields & PF_FIELD_PERIOD) {
        at = put_right(at, p->has_period ? p->period : e->period, 10);
        *at++ = ' ';
    }
    if (e->fields & PF_FIELD_EVENT) {
        memcpy(at, s->x->plan.names.ptr + e->name, e->n_name);
        at += e->n_name;
    }
    if (e->fields & PF_FIELD_FLAGS) /* only branches of AUX data have flags */
        at = put_spaces(at, 24);
    out->len = (size_t)(at - out->ptr);
    return true;
}

/* Appends the address of a sample, with its symbol or callchain. */
static bool put_ip(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                   pf_buffer *out)
{
    if (e->has_chain)
        return pf_buffer_append_u8(out, '\n') && pf_script_put_chain(s, e, u, out);
    if (!pf_buffer_reserve(out, PF_ADDRESS_ROOM))
        return false;
    uint8_t *at = out->ptr + out->len;
    *at = ' ';
    out->len = (size_t)(pf_script_put_address(at + 1, u->ip) - out->ptr);
    pf_code_place place;
    return !pf_script_shows_place(e) ||
           (pf_resolve_address(s->resolver, u->s.pid, pf_code_of_misc(u->misc), u->ip, u->s.time,
                               &place) &&
            pf_script_put_place(s, e, &place, out));
}

/* User data for looking up a kernel address in a payload. */
typedef struct asking {
    pf_script_state *s;
    const pf_unresolved *u;
} asking;

/* A perfile_tracepoint_symbol_fn. */
static const char *kernel_symbol(void *user, uint64_t address, uint64_t *offset)
{
    const asking *a = user;
    pf_code_place place;
    return pf_script_place(a->s, a->u, PF_CODE_KERNEL, address, &place)
               ? pf_script_kernel_function(a->s, &place, offset)
               : NULL;
}

/* Returns the number of bytes at the beginning of a text that are ASCII without control characters,
 * in steps of 8. */
static size_t plain_length(const uint8_t *text, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t i = 0;
    for (uint64_t eight; i + 8 <= n; i += 8) {
        memcpy(&eight, text + i, 8);
        /* The top bit of a byte is set by 0x80 and above, by 0x7f, and by values below 0x20. */
        if ((eight | (eight + ones) | ~((eight | 0x80 * ones) - 0x20 * ones)) & 0x80 * ones)
            break;
    }
    return i;
}

/* Makes the text of a payload safe to show, in place: control characters except tab and newline
 * become `?`.  Returns its new length. */
static size_t clean_payload_text(uint8_t *text, size_t n)
{
    size_t i = plain_length(text, n);
    uint8_t *at = text + i;
    while (i < n) {
        const uint8_t c = text[i];
        uint32_t code;
        size_t length = c < 0x80 ? 1 : perfile_utf8_char(text + i, n - i, &code);
        const bool shown = c < 0x80 ? (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t'
                                    : length && pf_is_printable(code);
        if (!shown) {
            *at++ = '?';
            i++;
            continue;
        }
        for (; length; length--)
            *at++ = text[i++];
    }
    return (size_t)(at - text);
}

/* Appends the text of a tracepoint, made from its raw data. */
static bool put_trace(pf_script_state *s, const pf_unresolved *u, perfile_bytes raw, pf_buffer *out)
{
    const pf_trace_format *format;
    asking a = {s, u};
    if (!s->tracepoints &&
        perfile_tracepoints_open(s->x->reader.session, &s->tracepoints, NULL) != PERFILE_OK)
        return false;
    perfile_status st = pf_tracepoints_of_event(s->tracepoints, u->s.event, &format, NULL);
    if (st != PERFILE_OK)
        return st == PERFILE_END;
    if (!pf_buffer_reserve(out, PF_PRINT_MOST))
        return false;
    uint8_t *text = out->ptr + out->len;
    out->len += clean_payload_text(text, pf_trace_print(format, raw, kernel_symbol, &a, text));
    return true;
}

/* Appends the rest of a branch line: from one address to another. */
static bool put_branch(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                       const perfile_sample *v, pf_buffer *out)
{
    pf_script_event to = *e;
    to.fields = (e->fields & ~PF_FIELD_DATA_SRC & ~PF_FIELD_WEIGHT & ~PF_FIELD_INS_LAT &
                 ~PF_FIELD_RETIRE_LAT) |
                PF_FIELD_ADDR;
    if (e->fields & PF_FIELD_IP && !put_ip(s, e, u, out))
        return false;
    if (!(e->fields & PF_FIELD_ADDR) && (e->has_asked || !(v->present & PERFILE_SAMPLE_ADDR)))
        return true;
    return pf_buffer_append(out, " => ", 4) && pf_script_put_memory(s, &to, u, v, out);
}

/* Appends everything after the name of the event. */
static bool put_body(pf_script_state *s, const pf_script_event *e, const pf_unresolved *u,
                     const perfile_sample *v, pf_buffer *out)
{
    if (e->is_branch && v)
        return put_branch(s, e, u, v, out);
    if (v && e->fields & PF_FIELD_TRACE && v->present & PERFILE_SAMPLE_RAW &&
        !put_trace(s, u, v->raw, out))
        return false;
    if (v && !pf_script_put_memory(s, e, u, v, out))
        return false;
    if (e->fields & PF_FIELD_IP && !put_ip(s, e, u, out))
        return false;
    return !v || pf_script_put_values(s, e, u, v, out);
}

bool pf_script_put(void *state, const pf_unresolved *u, pf_buffer *out)
{
    pf_script_state *s = state;
    const perfile_event *event = u->s.event;
    perfile_sample v, *decoded = NULL;
    if (u->is_note)
        return pf_buffer_append(out, u->words, strnlen((const char *)u->words, 8 * u->n));
    if (!event || event->index >= s->x->plan.n)
        return true;
    const pf_script_event *e = &s->x->plan.events[event->index];
    if (u->s.record) {
        if (perfile_sample_decode(u->s.record, &v, sizeof v, NULL) != PERFILE_OK)
            memset(&v, 0, sizeof v); /* damaged: only fields at fixed offsets are shown */
        decoded = &v;
    }
    return put_head(s, e, u, out) && put_body(s, e, u, decoded, out) &&
           pf_buffer_append_u8(out, '\n');
}
