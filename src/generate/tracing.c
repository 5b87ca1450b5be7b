/* TRACING_DATA: the descriptions of the tracepoints that are events of the capture, as the kernel
 * has them in tracefs.  All payloads have the same fields:
 *
 *     common_type (2 bytes), common_flags, common_preempt_count (1), common_pid (4)
 *     comm (16, a text), number (4)
 *
 * The section is written here by hand, apart from the table `tracing_formats`, whose decoder is
 * what such a capture tests. */
#include "generate/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_order.h"
#include "base/error.h"

enum {
    COMM_AT = 8,
    COMM = 16,
    PAYLOAD = 28,             /* with its size, a u32, a multiple of 8 */
    NUMBER_MOST = UINT16_MAX, /* common_type is a u16 */
    NUMBER_ALONE = 100        /* of the tracepoint that is described if no event is one */
};

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static const char header_event[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n";

static const char fields[] = "format:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                             "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"
                             "\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                             "\n"
                             "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:unsigned int number;\toffset:24;\tsize:4;\tsigned:0;\n"
                             "\n"
                             "print fmt: \"comm=%s number=%u\", REC->comm, REC->number\n";

static bool is_described(const pf_gen_event *e)
{
    return e->attr.type == PERFILE_TYPE_TRACEPOINT && e->attr.config <= NUMBER_MOST;
}

bool pf_gen_has_tracepoint(const pf_gen *g)
{
    for (uint32_t i = 0; i < g->o->n_events; i++)
        if (is_described(&g->events[i]))
            return true;
    return false;
}

perfile_status pf_gen_tracepoint_payload(pf_gen *g, perfile_bytes *raw, perfile_error *err)
{
    static const char *const comms[] = {"perf", "kworker/0:1", "", "0123456789abcdef"};
    pf_random *d = &g->maker.dice;
    void *p;
    if (!is_described(g->current) || !raw->ptr)
        return PERFILE_OK;
    perfile_status st = pf_arena_get(&g->maker.arena, PAYLOAD, &p, err);
    if (st != PERFILE_OK)
        return st;
    uint8_t *at = p;
    const char *comm = comms[pf_random_below(d, sizeof comms / sizeof comms[0])];
    pf_store_u16(at, (uint16_t)g->current->attr.config, g->swap);
    pf_store_u32(at + 4, 1 + (uint32_t)pf_random_below(d, 50000), g->swap);
    memcpy(at + COMM_AT, comm, strnlen(comm, COMM));
    pf_store_u32(at + COMM_AT + COMM, (uint32_t)pf_random_next(d), g->swap);
    *raw = (perfile_bytes){at, PAYLOAD};
    return st;
}

/* Writing the section.  After a failure `failed` stays set. */
typedef struct section {
    pf_buffer bytes;
    bool swap, failed;
} section;

static void put(section *s, const void *bytes, size_t n)
{
    s->failed = s->failed || !pf_buffer_append(&s->bytes, bytes, n);
}

static void put_u32(section *s, uint32_t n)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, n, s->swap);
    put(s, bytes, sizeof bytes);
}

static void put_u64(section *s, uint64_t n)
{
    uint8_t bytes[8];
    pf_store_u64(bytes, n, s->swap);
    put(s, bytes, sizeof bytes);
}

static void put_name(section *s, const char *name)
{
    put(s, name, strlen(name) + 1);
}

/* Puts a file of tracefs. */
static void put_file(section *s, const char *text)
{
    put_u64(s, strlen(text));
    put(s, text, strlen(text));
}

static void put_format(section *s, uint32_t number)
{
    char text[sizeof fields + 64];
    snprintf(text, sizeof text, "name: event_%" PRIu32 "\nID: %" PRIu32 "\n%s", number, number,
             fields);
    put_file(s, text);
}

/* Returns true if no event before number `i` is the same tracepoint. */
static bool is_first(const pf_gen *g, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (is_described(&g->events[k]) && g->events[k].attr.config == g->events[i].attr.config)
            return false;
    return is_described(&g->events[i]);
}

static void put_formats(const pf_gen *g, section *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->o->n_events; i++)
        n += is_first(g, i);
    put_u32(s, n ? n : 1);
    for (uint32_t i = 0; i < g->o->n_events; i++)
        if (is_first(g, i))
            put_format(s, (uint32_t)g->events[i].attr.config);
    if (!n)
        put_format(s, NUMBER_ALONE);
}

perfile_status pf_gen_describe_tracepoints(pf_gen *g, perfile_tracing_data *data,
                                           perfile_error *err)
{
    enum { LONG_SIZE = 8, PAGE = 4096, NO_FTRACE = 0, SYSTEMS = 1 };
    static const char magic[] = "\x17\x08\x44tracing";
    const uint8_t machine[] = {g->o->byte_order == PERFILE_BYTE_ORDER_BIG, LONG_SIZE};
    section s = {.swap = g->swap};
    put(&s, magic, sizeof magic - 1);
    put_name(&s, "0.6");
    put(&s, machine, sizeof machine);
    put_u32(&s, PAGE);
    put_name(&s, "header_page");
    put_file(&s, header_page);
    put_name(&s, "header_event");
    put_file(&s, header_event);
    put_u32(&s, NO_FTRACE);
    put_u32(&s, SYSTEMS);
    put_name(&s, "generated");
    put_formats(g, &s);
    put_u32(&s, 0);   /* kallsyms */
    put_u32(&s, 0);   /* printk_formats */
    put_file(&s, ""); /* names of threads */
    perfile_status st =
        s.failed ? pf_fail_nomem(err, "generate")
                 : pf_arena_copy(&g->maker.arena, (perfile_bytes){s.bytes.ptr, s.bytes.len},
                                 &data->data, err);
    pf_buffer_free(&s.bytes);
    data->data_size = data->data.len;
    return st;
}

/* Marks the row of HEADER_TRACING_DATA, which is encoded here, as seen. */
static void see(pf_gen *g)
{
    static const perfile_header_tracing_data zeros = {0};
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].number == PERFILE_RECORD_HEADER_TRACING_DATA)
            pf_covered_see(g->o->covered, rows[i].name, pf_shape_at((unsigned)i), PF_N_SHAPES,
                           &zeros);
}

static void show(pf_gen *g, const pf_gen_stored *r)
{
    pf_shown *out = pf_gen_begin_record(g, r->type, "HEADER_TRACING_DATA", r->misc, r->record.len);
    pf_show_key(out, "body");
    pf_show_open(out, '{');
    pf_show_key(out, "size");
    pf_show_count(out, r->after.len);
    pf_show_shut(out, '}');
    pf_gen_show_after(g, out, r->after);
    pf_show_line_end(out);
}

perfile_status pf_gen_put_tracing(pf_gen *g, perfile_bytes payload, perfile_error *err)
{
    enum { BODY = 8 }; /* the size of the data, and padding */
    uint8_t bytes[PF_PERF_RECORD_HEADER + BODY] = {0};
    void *p;
    const size_t padded = (payload.len + 7) & ~(size_t)7;
    perfile_status st = pf_arena_get(&g->maker.arena, padded, &p, err);
    if (st != PERFILE_OK)
        return st;
    memcpy(p, payload.ptr, payload.len);
    pf_store_u32(bytes, PERFILE_RECORD_HEADER_TRACING_DATA, g->swap);
    pf_store_u16(bytes + PF_PERF_SIZE_AT, (uint16_t)sizeof bytes, g->swap);
    pf_store_u32(bytes + PF_PERF_RECORD_HEADER, (uint32_t)padded, g->swap);
    const pf_gen_stored out = {.type = PERFILE_RECORD_HEADER_TRACING_DATA,
                               .record = {bytes, sizeof bytes},
                               .after = {p, padded}};
    st = pf_gen_write(g, &out, err);
    see(g);
    show(g, &out);
    return st;
}
