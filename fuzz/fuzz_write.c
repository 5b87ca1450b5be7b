/* Any calls of the writer, in any order.  If perfile_writer_finish() succeeds, the output is a
 * capture without damage and breaks no rule about containers.  Every rejected call has a
 * message. */
#include <string.h>

#include "attrs.h"
#include "perfile/perfile.h"
#include "core/command.h"

typedef struct fuzzed {
    perfile_writer *w;
    choices c;
    perfile_bytes bytes; /* the source of payloads and bodies */
    uint64_t records;    /* number of accepted records */
    bool swap;
} fuzzed;

static perfile_bytes cut(fuzzed *f)
{
    size_t n = (size_t)choose(&f->c, 1);
    if (n >= 250)
        n = (n - 249) * 16384; /* may be larger than a record can be */
    if (n > f->bytes.len)
        n = f->bytes.len;
    return (perfile_bytes){f->bytes.ptr, n};
}

static bool tell(perfile_status st, const perfile_error *err)
{
    ENSURE(st == PERFILE_OK || (st < 0 && st != PERFILE_E_IO && err->where && err->message[0]));
    return st == PERFILE_OK;
}

static void add_stored_event(fuzzed *f, perfile_error *err)
{
    builder b = {.swap = f->swap};
    uint64_t ids[4] = {choose(&f->c, 1), choose(&f->c, 1)};
    build_attr_plan plan = {.size = attr_sizes[choose(&f->c, 1) % 10],
                            .sample_type = choose(&f->c, 4),
                            .read_format = choose(&f->c, 1),
                            .flags = (choose(&f->c, 1) & 1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    perfile_words words = perfile_words_u64(ids, (size_t)choose(&f->c, 1) % 3);
    build_attr(&b, &plan);
    tell(perfile_writer_event(f->w, built(&b), &words, err), err);
    build_clear(&b);
}

static void add_new_event(fuzzed *f, perfile_error *err)
{
    uint64_t ids[2] = {choose(&f->c, 1), choose(&f->c, 1)};
    perfile_attr a = {.type = (uint32_t)choose(&f->c, 1) % 7,
                      .size = attr_sizes[choose(&f->c, 1) % 10],
                      .sample_type = choose(&f->c, 4),
                      .read_format = choose(&f->c, 1),
                      .flags = (choose(&f->c, 1) & 1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    perfile_new_event e = {.size = sizeof e,
                           .attr = &a,
                           .ids = ids,
                           .n_ids = (size_t)choose(&f->c, 1) % 3,
                           .name = choose(&f->c, 1) & 1 ? "named" : NULL,
                           .unit = choose(&f->c, 1) & 1 ? "s" : NULL,
                           .scale = (double)(choose(&f->c, 1) % 3)};
    tell(perfile_writer_add_event(f->w, &e, NULL, err), err);
}

/* Writes a record as stored, of any type.  The bytes that it announces after it follow, or not. */
static void put_stored(fuzzed *f, perfile_error *err)
{
    uint8_t bytes[272] = {0};
    uint32_t type = (uint32_t)choose(&f->c, 1);
    size_t n = (size_t)choose(&f->c, 1);
    if (type > 200)
        type = PERFILE_RECORD_SIMPLEPERF + type - 201;
    pf_store_u32(bytes, type, f->swap);
    pf_store_u16(bytes + 6, (uint16_t)(8 + n), f->swap);
    if (f->bytes.len)
        memcpy(bytes + 8, f->bytes.ptr, n < f->bytes.len ? n : f->bytes.len);
    perfile_record r = {.header = bytes,
                        .body = {bytes + 8, n},
                        .type = type,
                        .flags = f->swap ? PERFILE_REC_SWAPPED : 0,
                        .part = (uint32_t)choose(&f->c, 1) % 3};
    perfile_status st = perfile_writer_put(f->w, &r, err);
    if (st == PERFILE_E_USAGE) { /* it has bytes after it, at most 255 here */
        r.extra.len = (size_t)choose(&f->c, 1);
        st = perfile_writer_put(f->w, &r, err);
    }
    f->records += tell(st, err);
}

static void put_structs(fuzzed *f, perfile_error *err)
{
    perfile_put_options how = {.size = sizeof how,
                               .event = (uint32_t)choose(&f->c, 1) % 4,
                               .misc = (uint16_t)choose(&f->c, 2),
                               .time = choose(&f->c, 2)};
    perfile_bytes text = cut(f);
    perfile_comm comm = {.pid = 1, .tid = 2, .comm = text};
    perfile_auxtrace aux = {.size = choose(&f->c, 1) % 40};
    perfile_sample sample = {.ip = 5, .raw = text, .raw_size = 1};
    perfile_ksymbol symbol = {.addr = 1, .name = text};
    switch (choose(&f->c, 1) % 4) {
    case 0:
        f->records += tell(perfile_writer_put_comm(f->w, &comm, sizeof comm, &how, err), err);
        return;
    case 1:
        f->records += tell(perfile_writer_put_auxtrace(f->w, &aux, sizeof aux, NULL, err), err);
        return;
    case 2:
        f->records += tell(perfile_writer_put_sample(f->w, &sample, sizeof sample, &how, err), err);
        return;
    default:
        f->records +=
            tell(perfile_writer_put_ksymbol(f->w, &symbol, sizeof symbol, &how, err), err);
        return;
    }
}

static void put_spans(fuzzed *f, perfile_error *err)
{
    uint8_t bytes[256];
    size_t n = 0;
    for (size_t size = 8; n + size + 8 < sizeof bytes; n += size) {
        size = 8 + choose(&f->c, 1) % 64;
        if (n + size > sizeof bytes)
            break;
        memset(bytes + n, 0, size);
        pf_store_u32(bytes + n, (uint32_t)choose(&f->c, 1) % 70, false);
        pf_store_u16(bytes + n + 6, (uint16_t)size, false);
    }
    size_t half = (size_t)choose(&f->c, 1) % (n + 1);
    const perfile_bytes spans[2] = {{bytes, half}, {bytes + half, n - half}};
    perfile_status st = perfile_writer_put_spans(f->w, spans, 0, err);
    tell(st, err);
    for (size_t at = 0; st == PERFILE_OK && at < n; at += pf_load_u16(bytes + at + 6, false))
        f->records++;
}

static void step(fuzzed *f)
{
    perfile_error err = {0};
    perfile_nrcpus cpus = {.nr_cpus_avail = 1};
    uint64_t what = choose(&f->c, 1);
    uint32_t number = (uint32_t)choose(&f->c, 1);
    switch (what % 10) {
    case 0:
        add_stored_event(f, &err);
        break;
    case 1:
        add_new_event(f, &err);
        break;
    case 2:
        tell(perfile_writer_feature(f->w, number, cut(f), &err), &err);
        break;
    case 3:
        tell(perfile_writer_text(f->w, number % 12, "text", &err), &err);
        tell(perfile_writer_set_nrcpus(f->w, &cpus, sizeof cpus, &err), &err);
        break;
    case 4:
        put_stored(f, &err);
        break;
    case 5:
        tell(perfile_writer_extra(f->w, cut(f), &err), &err);
        break;
    case 6:
        f->records += tell(perfile_writer_round(f->w, &err), &err);
        break;
    case 7:
        tell(perfile_writer_event_name(f->w, number % 4, "other", &err), &err);
        tell(pf_writer_event_type(f->w, number, (perfile_bytes){f->bytes.ptr, 0}, &err), &err);
        break;
    case 8:
        put_spans(f, &err);
        break;
    default:
        put_structs(f, &err);
    }
}

static void on_finding(void *user, const perfile_finding *f)
{
    (void)user;
    if (f->severity != PERFILE_SEVERITY_ERROR)
        return;
    if (perfile_rule_of(f->rule)->where == PERFILE_RULE_SCOPE_CONTAINER ||
        f->rule == PERFILE_RULE_V_201 || f->rule == PERFILE_RULE_V_202)
        fprintf(stderr, "%s: %s\n", perfile_rule_of(f->rule)->id, f->message);
    ENSURE(perfile_rule_of(f->rule)->where != PERFILE_RULE_SCOPE_CONTAINER);
    ENSURE(f->rule != PERFILE_RULE_V_201 && f->rule != PERFILE_RULE_V_202);
}

static void read_back(const fuzzed *f, perfile_bytes bytes, const perfile_writer_options *o)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t records = 0;
    perfile_open_options in = {.size = sizeof in, .envelopes = PERFILE_ENVELOPES_OUTER};
    if (o->compress_level)
        in.envelopes = PERFILE_ENVELOPES_BOTH;
    ENSURE(perfile_source_memory(bytes, "written", &source, NULL) == PERFILE_OK);
    ENSURE(perfile_open(source, &in, &s, NULL) == PERFILE_OK);
    perfile_check_options how = {.size = sizeof how, .finding = on_finding};
    ENSURE(perfile_check(s, &how, &s, NULL) == PERFILE_OK);
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        records++;
    ENSURE(st == PERFILE_END);
    ENSURE(records >= f->records); /* facts are records, too */
    perfile_stream_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzzed f = {.c = {data, size}, .bytes = {data, size}};
    perfile_error err = {0};
    perfile_sink *sink;
    uint64_t mode = choose(&f.c, 1);
    perfile_writer_options o = {.size = sizeof o,
                                .as_stored = mode & 64,
                                .form = mode & 1 ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
                                .byte_order = pf_byte_order_of(mode & 2),
                                .compress_level = mode & 4 ? 1 : 0,
                                .compressed2 = mode & 8,
                                .progressive = mode & 16,
                                .attr_size = mode & 32 ? 80 : 0};
    f.swap = pf_byte_order_swaps(o.byte_order);
    ENSURE(perfile_sink_memory("memory", &sink, NULL) == PERFILE_OK);
    ENSURE(perfile_writer_open(sink, &o, &f.w, NULL) == PERFILE_OK);
    while (f.c.left)
        step(&f);
    if (tell(perfile_writer_finish(f.w, &err), &err))
        read_back(&f, perfile_sink_bytes(sink), &o);
    perfile_writer_close(f.w);
    perfile_sink_close(sink);
    return 0;
}
