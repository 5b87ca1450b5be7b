/* seeds FOLDER: writes the seeds of all targets into FOLDER/open, pipe, record …, and
 * FOLDER/../perfile.dict.  They are made only from the tables and from generated captures. */
#include "seeds.h"

#include <stdio.h>
#include <sys/stat.h>

#include "archive/meta.h"
#include "archive/pack.h"
#include "tests/columns_built.h"
#include "tests/hostile/every/every.h"

enum { SAMPLES = 3 };

void seeds_put(const char *folder, const char *target, const char *name, const builder *b)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", folder, target, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b->b.ptr, 1, b->b.len, f) != b->b.len || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* The choices of fuzz_record.c and fuzz_encode.c are after the body, last one first. */
static void put_record(const char *folder, const pf_row *row, dice *d)
{
    build_attr_plan plan = roll_plan(d);
    if (row->number == PERFILE_RECORD_SAMPLE)
        plan.sample_type = 0x1ffff;
    plan.size = 144;
    perfile_session *s = roll_session(&plan, false, 0);
    builder b = {.swap = false};
    uint16_t misc;
    char name[64];
    if (roll_record(d, row, s, &misc, &b)) {
        /* An attr: flags, intr, user, branch, read_format, sample_type, size. */
        build_u8(&b, plan.flags != 0);
        build_u16(&b, (uint16_t)plan.regs_intr);
        build_u16(&b, (uint16_t)plan.regs_user);
        build_u16(&b, (uint16_t)plan.branch);
        build_u8(&b, (uint8_t)(plan.branch >> 16));
        build_u8(&b, (uint8_t)plan.read_format);
        build_u32(&b, (uint32_t)plan.sample_type);
        build_u8(&b, 9);
        build_u16(&b, misc);
        build_u8(&b, (uint8_t)(row->number < 200 ? row->number
                                                 : row->number - PERFILE_RECORD_SIMPLEPERF + 200));
        build_u8(&b, 1 << 2);
        snprintf(name, sizeof name, "%u", row->number);
        seeds_put(folder, "record", name, &b);
        seeds_put(folder, "encode", name, &b);
    }
    build_clear(&b);
    pf_session_free(s);
}

static void put_feature(const char *folder, const pf_row *row, dice *d)
{
    build_attr_plan plan = {.size = 64};
    perfile_session *s = roll_session(&plan, false, 2);
    builder b = {.swap = false};
    char name[64];
    if (roll_feature(d, row, s, &b)) {
        build_u8(&b, 2);
        build_u8(&b, (uint8_t)row->number);
        build_u8(&b, 4);
        snprintf(name, sizeof name, "%u", row->number);
        seeds_put(folder, "feature", name, &b);
    }
    build_clear(&b);
    pf_session_free(s);
}

/* A ring with records that wrap, then the choices of fuzz_ring.c, last one first. */
static void put_ring(const char *folder, const char *name, uint8_t mode, uint64_t head,
                     uint64_t tail, const uint16_t *sizes)
{
    enum { ROOM_SHIFT = 5, ROOM = 8 << ROOM_SHIFT };
    uint8_t room[ROOM] = {0};
    uint64_t at = mode % 3 == 2 ? head : tail;
    for (; *sizes; at += *sizes++) {
        uint32_t type = 9;
        for (unsigned i = 0; i < *sizes; i++)
            room[(at + i) % ROOM] = (uint8_t)i;
        memcpy(room + at % ROOM, &type, 4);
        memset(room + (at + 4) % ROOM, 0, 2);
        memcpy(room + (at + 6) % ROOM, sizes, 2);
    }
    builder b = {.swap = false};
    build_zeros(&b, 8);
    build_u64(&b, 2 | UINT64_C(1) << 32); /* lock 2, index 1 */
    build_u64(&b, 5);                     /* offset */
    build_u64(&b, 3000);
    build_u64(&b, 1000);
    build_u64(&b, 0x3e); /* all capabilities */
    build_u16(&b, 48);
    build_u16(&b, 21);
    build_u32(&b, 699051);
    build_zeros(&b, 40);
    build_u64(&b, head);
    build_u64(&b, tail);
    build_u64(&b, 4096);
    build_u64(&b, ROOM);
    build_zeros(&b, 32);
    build_bytes(&b, room, ROOM);
    build_bytes(&b, "\x01\x0d\x06\x05\x08\x00\x06\x05\x03\x04", 10);
    build_u8(&b, ROOM_SHIFT);
    build_u8(&b, mode);
    seeds_put(folder, "ring", name, &b);
    build_clear(&b);
}

static void put_rings(const char *folder)
{
    static const uint16_t fitting[] = {16, 24, 64, 56, 40, 48, 8, 0}; /* 256 in all */
    static const uint16_t bad[] = {16, 24, 4, 0};
    put_ring(folder, "forward", 0, 712, 456, fitting);
    put_ring(folder, "forward-bad-size", 128, 712, 456, bad);
    put_ring(folder, "forward-overrun", 0, 1000, 456, fitting);
    put_ring(folder, "forward-past-2-64", 128, 200, UINT64_C(0) - 56, fitting);
    put_ring(folder, "read-only", 1, 248, 0, fitting);
    put_ring(folder, "overwrite", 2 + 192, UINT64_C(0) - 1000, 0, fitting);
    put_ring(folder, "overwrite-not-full", 2, UINT64_C(0) - 104, 0, fitting);
    put_ring(folder, "overwrite-bad-size", 2, UINT64_C(0) - 1000, 0, bad);
}

/* Spans, then the choices of fuzz_live.c, last one first: lengths of spans, the events, byte order
 * and policy. */
static void put_live(const char *folder, const char *name, uint8_t act, unsigned bad_size)
{
    builder b = {.swap = act & 1};
    size_t lengths[9] = {0}, n = 0;
    for (uint32_t i = 0; i < 8; i++) {
        size_t at = b.b.len;
        capture_sample(&b, 2 * i);
        if (bad_size && i == 3)
            build_u16_at(&b, at + 6, (uint16_t)bad_size);
        lengths[n++] = b.b.len - at;
    }
    b.swap = PF_NATIVE_BIG;
    while (n)
        build_u16(&b, (uint16_t)lengths[--n]);
    build_u16(&b, (uint16_t)CAPTURE_SAMPLE_TYPE);
    build_u8(&b, CAPTURE_SAMPLE_TYPE >> 16);
    build_u8(&b, 0); /* one event */
    build_u8(&b, act);
    seeds_put(folder, "live", name, &b);
    build_clear(&b);
}

static void put_lives(const char *folder)
{
    put_live(folder, "samples", 0, 0);
    put_live(folder, "samples-other-order", 1, 0);
    put_live(folder, "size-7", 0, 7);
    put_live(folder, "size-7-resync", 2, 7);
    put_live(folder, "size-1-salvage", 4, 1);
    put_live(folder, "size-beyond", 2, 60000);
}

/* Appends `value` as a choice of `bytes` bytes: the last byte is read first, as the highest. */
static void build_choices(builder *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        build_u8(b, (uint8_t)(value >> 8 * i));
}

/* An archive with the choices of fuzz_archive_verify.c: the operation, the capture, and more
 * choices of the operation. */
static void put_verified(const char *folder, const char *name, builder *archive)
{
    const size_t whole = archive->b.len;
    for (unsigned i = 0; i < 8; i++) {
        char numbered[96];
        archive->b.len = whole;
        build_choices(archive, i % 4 | i / 4 << 2 | i * 37 << 4 | (uint64_t)(i & 3) << 29, 4);
        snprintf(numbered, sizeof numbered, "%s-%u", name, i);
        seeds_put(folder, "archive_verify", numbered, archive);
    }
    archive->b.len = whole;
}

/* A capture with the choices of fuzz_archive_pack.c: packed as a capture, and as bytes with a
 * script. */
static void put_packed(const char *folder, const char *name, builder *capture, unsigned turn)
{
    const size_t whole = capture->b.len;
    char numbered[96];
    dice d = {turn + 99};
    for (unsigned i = 0; i < 3; i++) {
        capture->b.len = whole;
        for (unsigned k = 0; i && k < 96; k++)
            build_u8(capture, (uint8_t)roll(&d, 256));
        build_choices(capture, (turn * 37 + i * 11) % 0x10000 | (uint64_t)(i == 0) << 16, 3);
        snprintf(numbered, sizeof numbered, "%s-%u", name, i);
        seeds_put(folder, "archive_pack", numbered, capture);
    }
    capture->b.len = whole;
}

/* Archives of some text: empty, one chunk, several with metadata, unfinished. */
static void put_archives(const char *folder)
{
    static const char text[] =
        "samples samples samples, and a few words that do not repeat so often";
    static const char *const names[] = {"empty", "one", "several", "unfinished"};
    for (unsigned i = 0; i < 4; i++) {
        const pf_pack_options options = {.id = 1};
        const size_t n = i == 0 ? 0 : i == 1 ? sizeof text : 20, parts = i < 2 ? i : 4;
        builder b = {.swap = false};
        perfile_sink *sink;
        pf_pack *p;
        if (perfile_sink_memory(names[i], &sink, NULL) != PERFILE_OK ||
            pf_pack_new(sink, &options, &p, NULL) != PERFILE_OK)
            exit(1);
        for (size_t k = 0; k < parts; k++) {
            const pf_pack_chunk c = {.kind = k ? PF_CHUNK_RECORDS : PF_CHUNK_BYTES,
                                     .raw_off = k * n,
                                     .raw = {(const uint8_t *)text, n},
                                     .meta = {(const uint8_t *)text, k * 5}};
            if (pf_pack_put(p, &c, NULL) != PERFILE_OK)
                exit(1);
        }
        if (i < 3 && pf_pack_finish(p, NULL) != PERFILE_OK)
            exit(1);
        pf_pack_close(p);
        const perfile_bytes bytes = perfile_sink_bytes(sink);
        build_bytes(&b, bytes.ptr, bytes.len);
        build_u8(&b, 4); /* the choice of fuzz_archive.c */
        seeds_put(folder, "archive", names[i], &b);
        b.b.len--;
        put_verified(folder, names[i], &b);
        build_clear(&b);
        perfile_sink_close(sink);
    }
}

/* An archive like those of the packer: META, records in columns with a zone, META, INDEX, END. */
static void put_columns_archive(const char *folder, const built_columns *example)
{
    static const uint8_t part[] = "\xa1\x65parts\xa1\x00\xa1\x66"
                                  "format\x69perf.data";
    static const uint8_t zone[] = "\xa2\x01\x04\x04\xa2\x03\x01\x09\x03"; /* 1 COMM, 3 SAMPLE */
    static uint8_t raw[BUILT_EXAMPLE];
    const pf_pack_options options = {.id = 1, .needs = PF_ARCHIVE_NEEDS_COLUMNS};
    pf_columns_decoder *d = pf_columns_decoder_new();
    builder b = {.swap = false};
    perfile_sink *sink;
    pf_pack *p;
    size_t len;
    uint8_t *payload = built_payload(example, &len);
    const pf_pack_chunk meta = {.kind = PF_CHUNK_META, .raw = {part, sizeof part - 1}};
    const pf_pack_chunk records = {.kind = PF_CHUNK_RECORDS,
                                   .raw = {raw, sizeof raw},
                                   .columns = {payload, len},
                                   .meta = {zone, sizeof zone - 1}};
    if (!d || pf_columns_decode(d, records.columns, false, raw, sizeof raw, NULL) != PERFILE_OK ||
        perfile_sink_memory("records", &sink, NULL) != PERFILE_OK ||
        pf_pack_new(sink, &options, &p, NULL) != PERFILE_OK ||
        pf_pack_put(p, &meta, NULL) != PERFILE_OK || pf_pack_put(p, &records, NULL) != PERFILE_OK ||
        pf_pack_put(p, &meta, NULL) != PERFILE_OK || pf_pack_finish(p, NULL) != PERFILE_OK)
        abort();
    pf_pack_close(p);
    const perfile_bytes bytes = perfile_sink_bytes(sink);
    build_bytes(&b, bytes.ptr, bytes.len);
    build_u8(&b, 4); /* the choice of fuzz_archive.c */
    seeds_put(folder, "archive", "records", &b);
    b.b.len--;
    put_verified(folder, "records", &b);
    build_clear(&b);
    perfile_sink_close(sink);
    pf_columns_decoder_free(d);
    free(payload);
}

/* The zone of all records of a generated capture. */
static void put_zone(const char *folder, unsigned form)
{
    builder b, out = {.swap = false};
    char name[64];
    pf_zone z = {0};
    pf_buffer cbor = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *first;
    size_t n;
    capture_make(&b, form, false, SAMPLES);
    if (perfile_source_memory(built(&b), "capture", &source, NULL) != PERFILE_OK ||
        perfile_open(source, NULL, &s, NULL) != PERFILE_OK)
        abort();
    pf_zone_clear(&z);
    while (perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK)
        if (!pf_zone_add(&z, first, n))
            abort();
    pf_zone_seal(&z);
    if (pf_zone_encode(&z, &cbor, NULL) != PERFILE_OK)
        abort();
    build_bytes(&out, cbor.ptr, cbor.len);
    snprintf(name, sizeof name, "zone-%s", capture_names[form]);
    seeds_put(folder, "archive_meta", name, &out);
    perfile_stream_close(s);
    pf_zone_free(&z);
    pf_buffer_free(&cbor);
    build_clear(&out);
    build_clear(&b);
}

/* The META maps of a directory: at its beginning, and when it is complete. */
static void put_metas(const char *folder)
{
    static const uint8_t attr[64] = {1, [4] = 64};
    pf_meta_part parts[] = {
        {.number = 0, .name = "data"},
        {.number = 1, .name = "data.0", .form = "file", .has_mode = true, .mode = 0600}};
    pf_meta_event event = {.name = "cycles", .attr = {attr, sizeof attr}};
    const char *lossy[] = {"filtered"};
    pf_meta m = {.parts = parts, .n_parts = 2};
    for (unsigned complete = 0; complete < 2; complete++) {
        builder out = {.swap = false};
        pf_buffer cbor = {0};
        if (pf_meta_encode(&m, &cbor, NULL) != PERFILE_OK)
            abort();
        build_bytes(&out, cbor.ptr, cbor.len);
        seeds_put(folder, "archive_meta", complete ? "meta-complete" : "meta-begin", &out);
        build_clear(&out);
        pf_buffer_free(&cbor);
        for (unsigned i = 0; i < 2; i++) {
            parts[i].format = i ? "opaque" : "perf.data";
            parts[i].has_size = parts[i].has_crc32c = true;
            parts[i].size = 100000 * (uint64_t)i;
            parts[i].crc32c = 0xe3069283U;
        }
        m.creator = "perfile";
        m.host = "host";
        m.name = "perf.data";
        m.has_modified = true;
        m.has_created = m.has_events = m.has_lossy = true;
        m.created = UINT64_C(1700000000000000000);
        m.events = &event;
        m.lossy = lossy;
        m.n_events = m.n_lossy = 1;
    }
}

static void put_archive_meta(const char *folder)
{
    static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_PIPE_ZSTD, CAPTURE_SPLIT,
                                     CAPTURE_RECORDS};
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++)
        put_zone(folder, forms[i]);
    put_metas(folder);
}

/* A payload of the codec COLUMNS: with small streams, with frames, with compressed frames.  Then
 * the choice of fuzz_columns.c, the decoded size. */
static void put_columns(const char *folder)
{
    static const char *const names[] = {"small", "frames", "packed"};
    for (unsigned i = 0; i < 3; i++) {
        built_columns example = {.own = i > 0, .frames_packed = i > 1};
        builder b = {.swap = false};
        size_t len;
        built_example(&example);
        uint8_t *payload = built_payload(&example, &len);
        build_bytes(&b, payload, len);
        build_u8(&b, BUILT_EXAMPLE & 0xff);
        build_u8(&b, BUILT_EXAMPLE >> 8);
        seeds_put(folder, "columns", names[i], &b);
        build_clear(&b);
        if (i == 2)
            put_columns_archive(folder, &example);
        built_clear(&example);
        free(payload);
    }
}

/* Descriptions of captures for fuzz_spec.c: all kinds of statements, members and values, and some
 * that are wrong. */
static void put_descriptions(const char *folder)
{
    static const char *const texts[] = {
        "seed 7 # settings\nto pipe\nbyte-order big\nattr-size 96\nrecords 1\nevents 2\n",
        "event type=software sample_type=IP,TID,TIME,ID flags=sample_id_all,precise_ip:2 ids=5,6\n"
        "event sample_freq=4000 sample_type=IP,TID,TIME,ID ids=9\nfeature none\n"
        "record COMM pid=7 comm=\"two words\" sample_id.time=1000\nrecord SAMPLE 3 attr=1 id=9\n",
        "record MMAP2 3 pid=0x7 filename=\"/bin/\\xff\\\"a b\" prot=5\n"
        "record MMAP2 misc=0x4002 build_id=0102030405060708090a0b0c0d0e0f1011121314\n",
        "event sample_type=READ,CALLCHAIN,RAW,BRANCH_STACK,REGS_USER,STACK_USER,WEIGHT_STRUCT "
        "read_format=GROUP,LOST sample_regs_user=3 branch_sample_type=USER\n"
        "record SAMPLE callchain=0x1000,-1 values.cntr[1].lost=3 raw=00000000 regs_user.abi=2 "
        "regs_user.regs=1,2 stack_user.data=0102030405060708 branch_stack.lbr[1].from=9 "
        "branch_stack.lbr[0].flags=mispred,cycles:3 weight.var2_w=4\n",
        "feature NRCPUS nr_cpus_avail=2\nfeature CPU_TOPOLOGY\nfeature HOSTNAME string=demo\n"
        "feature CMDLINE cmdline=perf,\"a, b\",c\nrecord none\n",
        "to pipe\nrecord THREAD_MAP entries[2].comm=x entries[0].pid=-1\nrecord CPU_MAP type=0\n"
        "record STAT_CONFIG data=2\nrecord ID_INDEX entries=0\nrecord EVENT_UPDATE type=0\n",
        "record SAMPLE ip=\"x\n",
        "record MMAP2 pdi=7\n",
        "evnt\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char name[16];
        builder b = {0};
        build_bytes(&b, texts[i], strlen(texts[i]));
        snprintf(name, sizeof name, "%zu", i);
        seeds_put(folder, "spec", name, &b);
        build_clear(&b);
    }
}

/* Text, NUL and body, then the choices of fuzz_expr.c. */
static void put_expressions(const char *folder)
{
    static const char *const texts[] = {
        "type == SAMPLE && period > 1e6 && (pid == 7 || comm ~ \"gcc*\")",
        "any(callchain, . in 0x400000..0x500000)",
        "all(callchain, . != USER) || count(callchain, . == KERNEL) >= 2",
        "any(branch_stack, .from == 0x10 && .flags & MISPRED && .flags.cycles > 5)",
        "count(branch_stack.lbr) + 2 * count(callchain) - 1 == 5",
        "data_src.mem_op == LOAD && data_src.lvl & (L1 + HIT) && data_src.lvl_num in {l1, L2, 9}",
        "!(misc & EXACT_IP) && !has(weight) && cpumode == guest_kernel",
        "mmap2.filename ~ \"*/lib[a-d]?[!x].so\\*\" && prot & EXEC && flags & PRIVATE",
        "build_id in {\"00ff\", \"12AB\"} || filename == '/a\\x20b\\n' || cgroup.path != filename",
        "sample_id.time > 1.5s && time <= 7ms + 3us - -1ns && size < 64K && addr >= 1G",
        "pid in {-1, 1, 5..9, 0b11, 0o17} && tid == -1 && -period < -0x10",
        "header_attr.attr.sample_type & CALLCHAIN && header_attr.attr.flags.freq",
        "depth == -3 || sched_switch.prev_comm == \"gcc-12\" || event ~ \"cy*\" || event == 0",
        "weight == 900 && weight.var1_dw * 2 > weight.var2_w & 0xff",
        "any(entries, .pid == 5 || .comm == \"x\") || any(data, .tag == interval)",
        "offset & 7 == 0 && sequence < 1e3 && part == 0 && type in {MMAP, 10, FORK..EXIT}",
    };
    for (size_t i = 0; i < 2 * sizeof texts / sizeof texts[0]; i++) {
        char name[16];
        builder b = {.swap = i % 2};
        build_bytes(&b, texts[i / 2], strlen(texts[i / 2]) + 1);
        capture_sample(&b, 1);
        for (unsigned k = 0; k < 4; k++)
            build_u64(&b, k);
        build_bytes(&b, "\x01\x00\x0f\x00\x0f\x00\x00\x0a\x00\x07\xff\x00\x00\x08", 14);
        build_u16(&b, 0x4002);
        build_u8(&b, i % 3 ? PERFILE_RECORD_SAMPLE : PERFILE_RECORD_MMAP2);
        build_u8(&b, (uint8_t)(4 | 2 | i % 2));
        snprintf(name, sizeof name, "%zu", i);
        seeds_put(folder, "expr", name, &b);
        build_clear(&b);
    }
}

/* Samples with callchains that come later: one that is completed, one that is not, and a mapping
 * with a build id among them. */
static void put_chains(const char *folder, bool swap)
{
    const build_attr_plan plan = {.type = 1,
                                  .size = 144,
                                  .period = 1000,
                                  .sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CALLCHAIN,
                                  .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL |
                                           (uint64_t)1 << PERFILE_ATTR_BIT_DEFER_CALLCHAIN};
    builder b = {.swap = swap};
    build_bytes(&b, swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(&b, 16);
    size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(&b, &plan);
    build_end(&b, start);
    for (uint64_t cookie = 7; cookie < 9; cookie++) {
        start = build_begin(&b, PERFILE_RECORD_SAMPLE, 1);
        build_u64(&b, 5);
        build_u64(&b, 4);
        build_u64(&b, (uint64_t)-128);
        build_u64(&b, 0x100);
        build_u64(&b, (uint64_t)-640);
        build_u64(&b, cookie);
        build_end(&b, start);
    }
    start = build_begin(&b, PERFILE_RECORD_MMAP2, PERFILE_MISC_MMAP_BUILD_ID | 2);
    build_zeros(&b, 32);
    build_u8(&b, 20);
    build_zeros(&b, 3);
    build_bytes(&b, "build id of 20 bytes", 20);
    build_zeros(&b, 8);
    build_text(&b, "/bin/true");
    build_u64(&b, 5);
    build_end(&b, start);
    start = build_begin(&b, PERFILE_RECORD_CALLCHAIN_DEFERRED, 0);
    build_u64(&b, 7);
    build_u64(&b, 1);
    build_u64(&b, 0x400100);
    build_u64(&b, 5);
    build_end(&b, start);
    const size_t whole = b.b.len;
    build_choices(&b, 1, 2);
    seeds_put(folder, "export", swap ? "chains-big" : "chains-little", &b);
    b.b.len = whole;
    build_choices(&b, 1 | 2 << 4, 3); /* samples */
    seeds_put(folder, "tables", swap ? "chains-big" : "chains-little", &b);
    b.b.len = whole;
    build_choices(&b, 1 | 0xc00, 2); /* dso, symbol */
    seeds_put(folder, "profile", swap ? "chains-big" : "chains-little", &b);
    b.b.len = whole;
    build_choices(&b, 0x08000000, 4);
    seeds_put(folder, "script", swap ? "chains-big" : "chains-little", &b);
    b.b.len = whole;
    build_u8(&b, 2);
    seeds_put(folder, "target", swap ? "chains-big" : "chains-little", &b);
    build_clear(&b);
}

/* The choices of fuzz_merge.c: flags, form, damage, an offset; before them the beginning of the
 * second capture. */
static void put_pairs(const char *folder)
{
    for (unsigned i = 0; i < 2 * CAPTURE_FORMS; i++) {
        const unsigned other = (i + 2 * (i % 3)) % (2 * CAPTURE_FORMS);
        builder one, two;
        char name[80];
        capture_make(&one, i / 2, i % 2, SAMPLES);
        capture_make(&two, other / 2, other % 2, SAMPLES);
        snprintf(name, sizeof name, "%s-%u-%s", capture_names[i / 2], i % 2,
                 i % 3 ? capture_names[other / 2] : "itself");
        const size_t first = i % 3 ? one.b.len : 0xffffff;
        if (i % 3)
            build_bytes(&one, two.b.ptr, two.b.len);
        for (unsigned shift = 0; shift < 24; shift += 8)
            build_u8(&one, (uint8_t)(first >> shift));
        build_u8(&one, (uint8_t)(i * 37 & 0x1f));
        build_u8(&one, (uint8_t)(i % 2 ? 4 : 8 * i));
        seeds_put(folder, "merge", name, &one);
        build_clear(&one);
        build_clear(&two);
    }
}

/* Writes the dump of a capture, for fuzz_undump.c; nothing if it is not a capture. */
static void put_dump(const char *folder, const char *name, const builder *capture)
{
    const perfile_open_options how = {.size = sizeof how, .as_stored = true};
    perfile_source *source;
    perfile_stream *s;
    perfile_sink *sink;
    perfile_emitter *e;
    const perfile_record *r;
    builder b = {0};
    perfile_status st = perfile_source_memory((perfile_bytes){capture->b.ptr, capture->b.len},
                                              "seed", &source, NULL);
    if (st != PERFILE_OK || perfile_open(source, &how, &s, NULL) != PERFILE_OK)
        return;
    st = perfile_sink_memory("dump", &sink, NULL);
    if (st == PERFILE_OK)
        st = perfile_emitter_open("cbor", s, sink, NULL, &e, NULL);
    if (st != PERFILE_OK)
        abort();
    st = perfile_emitter_begin(e, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        st = perfile_emitter_put(e, r, NULL);
    if (st == PERFILE_END && perfile_emitter_finish(e, NULL) == PERFILE_OK) {
        build_bytes(&b, perfile_sink_bytes(sink).ptr, perfile_sink_bytes(sink).len);
        seeds_put(folder, "undump", name, &b);
    }
    build_clear(&b);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
}

/* Seeds of the targets that apply all operations to a capture. */
static void put_whole(const char *folder, const char *name, const builder *capture, unsigned turn)
{
    static const unsigned froms[] = {0, 1, 2, 3, 4};
    builder b = {0};
    char numbered[96];
    put_dump(folder, name, capture);
    build_bytes(&b, capture->b.ptr, capture->b.len);
    const size_t whole = b.b.len;
    for (unsigned i = 0; i < 3; i++) {
        /* fuzz_emit.c: text; JSON Lines and CBOR; with damage skipped */
        static const uint64_t how[] = {0x20, 0x07, 0x0b};
        b.b.len = whole;
        build_choices(&b, how[i] ^ (turn & 1) << 7 ^ (turn & 2) << 7, 2);
        snprintf(numbered, sizeof numbered, "%s-%u", name, i);
        seeds_put(folder, "emit", numbered, &b);
    }
    /* fuzz_export.c: alternating keys, weights and marks; twice the same capture */
    b.b.len = whole;
    build_choices(&b, 1 | (turn * 41 & 0x1fe) | (turn * 512 & 0xfe00), 2);
    seeds_put(folder, "export", name, &b);
    /* fuzz_tables.c: alternating damage, tables and columns */
    b.b.len = whole;
    build_choices(&b, 1 | turn % 3 << 1 | (turn & 1) << 3 | (turn * 2654435761U >> 8 & 0xfffff0),
                  3);
    seeds_put(folder, "tables", name, &b);
    /* fuzz_profile.c: alternating keys */
    b.b.len = whole;
    build_choices(&b, 1 | ((turn * 2654435761U >> 16) & 0x1ff8), 2);
    seeds_put(folder, "profile", name, &b);
    /* fuzz_script.c: alternating fields, all lines of side-band, one or two threads */
    b.b.len = whole;
    build_choices(&b, turn % 8 | (turn & 1) * UINT64_C(0xffff00) | (turn & 2) << 26, 4);
    seeds_put(folder, "script", name, &b);
    b.b.len = whole;
    build_choices(&b, turn % 4 == 3 ? 8 + 16 * turn % 240 : turn % 6, 1);
    seeds_put(folder, "model", name, &b);
    /* fuzz_mutate.c: room, then the seed of the mutation */
    b.b.len = whole;
    build_choices(&b, turn * 16, 1);
    build_choices(&b, turn * 2654435761U, 4);
    seeds_put(folder, "mutate", name, &b);
    /* fuzz_failing.c: each operation, with memory, callbacks, files and directories */
    for (unsigned i = 0; i < 9; i++) {
        b.b.len = whole;
        build_choices(&b, turn * 131 + i * 17, 2);
        build_choices(&b,
                      (turn + i / 4) % 2 | turn % 4 << 1 | i << 3 | turn * 5 % 256 << 8 |
                          turn % 3 << 16 | froms[(turn + i) % 5] << 18 |
                          (uint64_t)((turn / 2 + i) % 4) << 21 | (uint64_t)(turn * 3 % 16) << 24,
                      4);
        snprintf(numbered, sizeof numbered, "%s-%u", name, i);
        seeds_put(folder, "failing", numbered, &b);
    }
    build_clear(&b);
}

/* The files of a directory, one after another, then their lengths. */
static void put_directory(const char *folder, const char *name, const builder *first, unsigned turn)
{
    builder b = {.swap = false}, part = {.swap = first->swap};
    char numbered[96];
    const unsigned n = turn % 3;
    for (unsigned i = 0; i < 4; i++) {
        b.b.len = 0;
        build_bytes(&b, first->b.ptr, first->b.len);
        for (unsigned k = 0; k < n; k++) {
            part.b.len = 0;
            capture_stream(&part, 2 + k);
            build_bytes(&b, part.b.ptr, part.b.len);
        }
        /* Read from the end: choices, odd files, the length of each file except the last. */
        if (n > 1)
            build_choices(&b, part.b.len, 2);
        if (n > 0)
            build_choices(&b, first->b.len, 2);
        build_choices(&b, turn * 7 + i, 1);
        build_choices(&b,
                      (turn + 2 * i) % 8 | turn % 3 << 3 | n << 5 | turn * 37 % 256 << 8 |
                          (uint64_t)(i == 3) << 16 | (uint64_t)(turn * 5 + i) % 16 << 17,
                      4);
        snprintf(numbered, sizeof numbered, "%s-%u", name, i);
        seeds_put(folder, "directory", numbered, &b);
    }
    build_clear(&b);
    build_clear(&part);
}

/* Forms without another generator: see tests/hostile/every/forms.c. */
static void put_forms(const char *folder)
{
    static const char *const names[] = {"version1", "tracepoint"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        every_form form;
        if (!every_form_make(names[i], &form))
            abort();
        seeds_put(folder, "recover", names[i], &form.file);
        put_whole(folder, names[i], &form.file, i);
        put_directory(folder, names[i], &form.file, i);
        build_clear(&form.file);
        build_clear(&form.second);
    }
}

static void put_dictionary(const char *folder)
{
    char path[4096];
    size_t n;
    snprintf(path, sizeof path, "%s/../perfile.dict", folder);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fprintf(f, "# Made by seeds.c: magics, sizes, and a header of every record type.\n");
    fprintf(
        f,
        "\"PERFILE2\"\n\"2ELIFREP\"\n\"PERFFILE\"\n\"\\x10\\x00\\x00\\x00\\x00\\x00\\x00\\x00\"\n"
        "\"\\x68\\x00\\x00\\x00\\x00\\x00\\x00\\x00\"\n\"\\x28\\xb5\\x2f\\xfd\"\n"
        "\"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\"\n\"[kernel.kallsyms]\"\n");
    const pf_row *rows = pf_record_rows(&n);
    for (size_t i = 0; i < n; i++) {
        unsigned size = rows[i].fixed + 8U;
        fprintf(f, "\"\\x%02x\\x%02x\\x00\\x00\\x00\\x00\\x%02x\\x%02x\"\n", rows[i].number & 255,
                rows[i].number >> 8, size & 255, size >> 8);
        fprintf(f, "\"\\x00\\x00\\x%02x\\x%02x\\x00\\x00\\x%02x\\x%02x\"\n", rows[i].number >> 8,
                rows[i].number & 255, size >> 8, size & 255);
    }
    if (fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    size_t n;
    if (argc != 2) {
        fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        char name[64];
        builder b;
        capture_make(&b, form / 2, form % 2, SAMPLES);
        snprintf(name, sizeof name, "%s-%s", capture_names[form / 2], form % 2 ? "big" : "little");
        seeds_put(argv[1], "recover", name, &b);
        put_whole(argv[1], name, &b, form);
        put_directory(argv[1], name, &b, form);
        put_packed(argv[1], name, &b, form);
        size_t whole = b.b.len;
        build_u8(&b, (uint8_t)(form & 1)); /* from a pipe */
        build_u8(&b, (uint8_t)(form * 37));
        seeds_put(argv[1], "convert", name, &b);
        b.b.len = whole;
        build_u8(&b, (uint8_t)(form * 41)); /* how: see fuzz_filter.c */
        build_u8(&b, (uint8_t)(form * 37));
        build_u8(&b, (uint8_t)(form * 7));
        seeds_put(argv[1], "filter", name, &b);
        b.b.len = whole;
        build_u8(&b, (uint8_t)(form % 5)); /* how: see fuzz_split.c */
        build_u8(&b, (uint8_t)(form * 37));
        seeds_put(argv[1], "split", name, &b);
        b.b.len = whole;
        build_u8(&b, (uint8_t)(form / 2 + form));
        seeds_put(argv[1], "target", name, &b);
        b.b.len--;
        build_u8(&b, (uint8_t)(form % 3));
        seeds_put(argv[1], "open", name, &b);
        build_u8(&b, (uint8_t)(form * 11)); /* target offsets: see fuzz_seek.c */
        build_u8(&b, (uint8_t)(form % 4));
        seeds_put(argv[1], "seek", name, &b);
        b.b.len -= 2;
        b.b.ptr[b.b.len - 1] = 200;
        build_u8(&b, (uint8_t)(form % 2));
        seeds_put(argv[1], "pipe", name, &b);
        build_clear(&b);
    }
    const pf_row *rows = pf_record_rows(&n);
    for (size_t i = 0; i < n; i++)
        put_record(argv[1], &rows[i], &(dice){i + 7});
    rows = pf_feature_rows(&n);
    for (size_t i = 0; i < n; i++)
        put_feature(argv[1], &rows[i], &(dice){i + 7});
    put_chains(argv[1], false);
    put_chains(argv[1], true);
    put_rings(argv[1]);
    put_lives(argv[1]);
    put_pairs(argv[1]);
    put_expressions(argv[1]);
    put_descriptions(argv[1]);
    put_archives(argv[1]);
    put_archive_meta(argv[1]);
    put_columns(argv[1]);
    put_forms(argv[1]);
    seeds_put_commands(argv[1]);
    seeds_put_symbols(argv[1]);
    put_dictionary(argv[1]);
    return 0;
}
