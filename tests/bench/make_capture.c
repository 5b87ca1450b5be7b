/* make_capture KIND MEGABYTES FILE: writes a perf.data file (version 2, this machine's byte order)
 * with the mix of records that `perf record` leaves: the tasks first, then rounds of samples with
 * some COMM, MMAP2, FORK and EXIT between them; attrs, ids and the usual features.  KIND is flat,
 * chains (that hardly repeat), stacks (chains that repeat), tracepoints or dwarf. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/perfile.h"

enum {
    HEADER = 104,
    ATTR = 128,
    ATTR_ENTRY = ATTR + 16,
    TASKS = 32,
    ROUND = 8192,   /* samples of a round */
    SIDEBAND = 512, /* samples for one record of a task */
    STACK = 8192,
    REGS = 20,
    PAYLOAD = 100,
    CALLCHAIN_USER = -512
};

#define REGS_MASK 0xff0fffULL
#define KERNEL    0xffffffff81000000ULL
#define TEXT      0x555555554000ULL

typedef struct capture_kind {
    const char *name;
    uint32_t type; /* of the attr */
    uint64_t config;
    uint64_t sample_type;
    uint32_t n_events;
    const char *event[2];
} capture_kind;

#define BASIC (PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_PERIOD)

static const capture_kind kinds[] = {
    {"flat", 1, 2, BASIC | PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_CPU, 1, {"page-faults"}},
    {"chains", 1, 2, BASIC | PERFILE_SAMPLE_CALLCHAIN, 1, {"page-faults"}},
    {"stacks", 1, 2, BASIC | PERFILE_SAMPLE_CALLCHAIN, 1, {"page-faults"}},
    {"tracepoints",
     2,
     300,
     BASIC | PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_RAW,
     2,
     {"bench:first", "bench:second"}},
    {"dwarf",
     1,
     2,
     BASIC | PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER,
     1,
     {"page-faults"}},
};

/* The file, and the record that is being put together. */
static FILE *out;
static uint8_t record[1 << 16];
static size_t used;
static const capture_kind *kind;
static uint64_t now = 1000000000000;

static uint64_t state = 88172645463325252;

static uint32_t random32(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static void put(const void *bytes, size_t n)
{
    memcpy(record + used, bytes, n);
    used += n;
}

static void put_u16(unsigned v)
{
    uint16_t w = (uint16_t)v;
    put(&w, sizeof w);
}

static void put_u32(uint32_t v)
{
    put(&v, sizeof v);
}

static void put_u64(uint64_t v)
{
    put(&v, sizeof v);
}

/* Text with its NUL, filled up to a multiple of `align`. */
static void put_text(const char *text, size_t align)
{
    size_t n = strlen(text) + 1;
    put(text, n);
    for (; n % align; n++)
        record[used++] = 0;
}

static void begin(uint32_t type, unsigned misc)
{
    used = 0;
    put_u32(type);
    put_u16(misc);
    put_u16(0);
}

static void write_out(const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, out) != n) {
        perror("make_capture");
        exit(1);
    }
}

static void end(void)
{
    uint16_t size = (uint16_t)used;
    memcpy(record + 6, &size, sizeof size);
    write_out(record, used);
}

static uint64_t id_of(uint32_t event, uint32_t cpu)
{
    return 100 + 4 * event + cpu;
}

static void put_trailer(uint32_t pid, uint32_t cpu)
{
    put_u32(pid);
    put_u32(pid);
    put_u64(now);
    if (kind->sample_type & PERFILE_SAMPLE_CPU) {
        put_u32(cpu);
        put_u32(0);
    }
    if (kind->sample_type & PERFILE_SAMPLE_IDENTIFIER)
        put_u64(id_of(0, cpu));
}

static void put_comm(uint32_t pid)
{
    char comm[16];
    snprintf(comm, sizeof comm, "task-%u", pid);
    begin(PERFILE_RECORD_COMM, 0);
    put_u32(pid);
    put_u32(pid);
    put_text(comm, 8);
    put_trailer(pid, 0);
    end();
}

static void put_mmap2(uint32_t pid)
{
    begin(PERFILE_RECORD_MMAP2, 2);
    put_u32(pid);
    put_u32(pid);
    put_u64(TEXT);
    put_u64(0x200000);
    put_u64(0);
    put_u32(8);
    put_u32(1);
    put_u64(1000 + pid);
    put_u64(0);
    put_u32(5);
    put_u32(2);
    put_text("/usr/bin/some-program", 8);
    put_trailer(pid, 0);
    end();
}

static void put_task(uint32_t type, uint32_t pid, uint32_t parent)
{
    begin(type, 0);
    put_u32(pid);
    put_u32(parent);
    put_u32(pid);
    put_u32(parent);
    put_u64(now);
    put_trailer(pid, 0);
    end();
}

static void put_stack(void)
{
    put_u64(2); /* ABI: 64 bits */
    for (unsigned i = 0; i < REGS; i++)
        put_u64(TEXT + random32() % 4096);
    put_u64(STACK);
    for (unsigned i = 0; i < STACK / 8; i++)
        put_u64(i % 3 ? 0 : TEXT + i);
    put_u64(STACK - 8 * (random32() % 512));
}

/* A chain of the kind stacks is one of a thousand. */
static void put_chain(uint64_t ip)
{
    const bool repeats = strcmp(kind->name, "stacks") == 0;
    const uint64_t which = 1 + random32() % 1000, saved = state;
    if (repeats)
        state = which * 88172645463325252;
    uint32_t depth = 8 + random32() % 9;
    put_u64(depth);
    put_u64((uint64_t)(int64_t)CALLCHAIN_USER);
    put_u64(repeats ? TEXT + random32() % 0x200000 : ip);
    for (uint32_t i = 2; i < depth; i++)
        put_u64(TEXT + random32() % 0x200000);
    if (repeats)
        state = saved;
}

static void put_sample(void)
{
    uint32_t pid = 2000 + random32() % TASKS;
    uint32_t cpu = random32() % 4;
    uint32_t event = random32() % kind->n_events;
    uint64_t ip = TEXT + random32() % 0x200000;
    now += 200 + random32() % 2000;
    begin(PERFILE_RECORD_SAMPLE, 2);
    if (kind->sample_type & PERFILE_SAMPLE_IDENTIFIER)
        put_u64(id_of(event, cpu));
    put_u64(ip);
    put_u32(pid);
    put_u32(pid);
    put_u64(now);
    if (kind->sample_type & PERFILE_SAMPLE_CPU) {
        put_u32(cpu);
        put_u32(0);
    }
    put_u64(1);
    if (kind->sample_type & PERFILE_SAMPLE_CALLCHAIN) {
        put_chain(ip);
    }
    if (kind->sample_type & PERFILE_SAMPLE_RAW) {
        put_u32(PAYLOAD);
        put_u16((unsigned)(kind->config + event));
        put_u16(0);
        put_u32(pid);
        for (unsigned i = 8; i < PAYLOAD; i += 4)
            put_u32(random32());
    }
    if (kind->sample_type & PERFILE_SAMPLE_STACK_USER)
        put_stack();
    end();
}

static void put_records(uint64_t bytes)
{
    uint64_t start = (uint64_t)ftello(out);
    for (uint32_t i = 0; i < TASKS; i++) {
        put_comm(2000 + i);
        put_mmap2(2000 + i);
    }
    for (uint64_t n = 1; (uint64_t)ftello(out) - start < bytes; n++) {
        put_sample();
        if (n % SIDEBAND == 0) {
            uint32_t child = 10000 + (uint32_t)(n / SIDEBAND % 20000);
            put_task(PERFILE_RECORD_FORK, child, 2000 + child % TASKS);
            put_comm(child);
            put_mmap2(child);
            put_task(PERFILE_RECORD_EXIT, child, 2000 + child % TASKS);
        }
        if (n % ROUND == 0) {
            begin(PERFILE_RECORD_FINISHED_ROUND, 0);
            end();
        }
    }
    begin(PERFILE_RECORD_FINISHED_ROUND, 0);
    end();
}

static void put_attr(uint32_t event)
{
    const uint64_t flags = 1ULL << PERFILE_ATTR_BIT_DISABLED | 1ULL << PERFILE_ATTR_BIT_INHERIT |
                           1ULL << PERFILE_ATTR_BIT_MMAP | 1ULL << PERFILE_ATTR_BIT_COMM |
                           1ULL << PERFILE_ATTR_BIT_TASK | 1ULL << PERFILE_ATTR_BIT_SAMPLE_ID_ALL |
                           1ULL << PERFILE_ATTR_BIT_MMAP2;
    bool stack = kind->sample_type & PERFILE_SAMPLE_STACK_USER;
    put_u32(kind->type);
    put_u32(ATTR);
    put_u64(kind->config + event);
    put_u64(1); /* period */
    put_u64(kind->sample_type);
    put_u64(PERFILE_FORMAT_ID);
    put_u64(flags);
    put_u64(0);                     /* wakeup_events, bp_type */
    put_u64(0);                     /* config1 */
    put_u64(0);                     /* config2 */
    put_u64(0);                     /* branch_sample_type */
    put_u64(stack ? REGS_MASK : 0); /* sample_regs_user */
    put_u32(stack ? STACK : 0);     /* sample_stack_user */
    put_u32(0);                     /* clockid */
    put_u64(0);                     /* sample_regs_intr */
    put_u64(0);                     /* aux_watermark, sample_max_stack */
    put_u64(0);                     /* aux_sample_size */
    put_u64(0);                     /* sig_data */
}

/* Sections of the feature table: where each is, in ascending order of number. */
typedef struct section {
    uint64_t offset;
    uint64_t size;
} section;

static section sections[16];
static unsigned n_sections;
static uint64_t features;

static void begin_feature(unsigned number)
{
    features |= 1ULL << number;
    sections[n_sections].offset = (uint64_t)ftello(out);
    used = 0;
}

static void end_feature(void)
{
    write_out(record, used);
    sections[n_sections].size = (uint64_t)ftello(out) - sections[n_sections].offset;
    n_sections++;
}

static void put_string(const char *text)
{
    put_u32((uint32_t)(strlen(text) / 64 + 1) * 64);
    put_text(text, 64);
}

static void put_string_feature(unsigned number, const char *text)
{
    begin_feature(number);
    put_string(text);
    end_feature();
}

/* The least that perf takes for the formats of the two tracepoints. */
static void put_tracing_data(void)
{
    static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                               "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                               "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
    static const char *const names[] = {"first", "second"};
    begin_feature(PERFILE_FEATURE_TRACING_DATA);
    put("\x17\x08\x44tracing", 10);
    put("0.5", 4);
    put("\0\x08", 2); /* little-endian, size of a long */
    put_u32(4096);
    put("header_page", 12);
    put_u64(sizeof page - 1);
    put(page, sizeof page - 1);
    put("header_event", 13);
    put_u64(0);
    put_u32(0); /* formats of ftrace */
    put_u32(1); /* systems */
    put("bench", 6);
    put_u32(2);
    for (unsigned i = 0; i < 2; i++) {
        char text[1024];
        int n =
            snprintf(text, sizeof text,
                     "name: %s\nID: %u\nformat:\n"
                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                     "\tfield:unsigned int value;\toffset:8;\tsize:4;\tsigned:0;\n"
                     "\tfield:unsigned int more[%d];\toffset:12;\tsize:%d;\tsigned:0;\n\n"
                     "print fmt: \"value=%%u\", REC->value\n",
                     names[i], (unsigned)kind->config + i, (PAYLOAD - 12) / 4, PAYLOAD - 12);
        put_u64((uint64_t)n);
        put(text, (size_t)n);
    }
    put_u32(0); /* kallsyms */
    put_u32(0); /* printk formats */
    end_feature();
}

static void put_event_desc(void)
{
    begin_feature(PERFILE_FEATURE_EVENT_DESC);
    put_u32(kind->n_events);
    put_u32(ATTR);
    for (uint32_t event = 0; event < kind->n_events; event++) {
        put_attr(event);
        put_u32(4);
        put_string(kind->event[event]);
        for (uint32_t cpu = 0; cpu < 4; cpu++)
            put_u64(id_of(event, cpu));
    }
    end_feature();
}

static void put_features(uint64_t first_time)
{
    uint64_t table = (uint64_t)ftello(out);
    unsigned n = kind->type == 2 ? 11 : 10;
    write_out(record, n * sizeof(section)); /* written again below */
    if (kind->type == 2)
        put_tracing_data();
    put_string_feature(PERFILE_FEATURE_HOSTNAME, "bench");
    put_string_feature(PERFILE_FEATURE_OSRELEASE, "6.1.0");
    put_string_feature(PERFILE_FEATURE_VERSION, "6.1.0");
    put_string_feature(PERFILE_FEATURE_ARCH, "x86_64");
    begin_feature(PERFILE_FEATURE_NRCPUS);
    put_u32(4);
    put_u32(4);
    end_feature();
    /* `perf data convert --to-json` dies without these two. */
    put_string_feature(PERFILE_FEATURE_CPUDESC, "none");
    put_string_feature(PERFILE_FEATURE_CPUID, "none");
    begin_feature(PERFILE_FEATURE_CMDLINE);
    put_u32(2);
    put_string("make_capture");
    put_string(kind->name);
    end_feature();
    put_event_desc();
    begin_feature(PERFILE_FEATURE_SAMPLE_TIME);
    put_u64(first_time);
    put_u64(now);
    end_feature();
    fseeko(out, (off_t)table, SEEK_SET);
    write_out(sections, n * sizeof(section));
}

static void put_header(uint64_t attrs, uint64_t data, uint64_t size)
{
    used = 0;
    put("PERFILE2", 8);
    put_u64(HEADER);
    put_u64(ATTR_ENTRY);
    put_u64(attrs);
    put_u64((uint64_t)kind->n_events * ATTR_ENTRY);
    put_u64(data);
    put_u64(size);
    put_u64(0); /* event types */
    put_u64(0);
    put_u64(features);
    for (unsigned i = 0; i < 3; i++)
        put_u64(0);
    fseeko(out, 0, SEEK_SET);
    write_out(record, used);
}

static void put_file(uint64_t bytes)
{
    uint64_t first_time = now;
    put_header(0, 0, 0);
    used = 0;
    for (uint32_t event = 0; event < kind->n_events; event++)
        for (uint32_t cpu = 0; cpu < 4; cpu++)
            put_u64(id_of(event, cpu));
    write_out(record, used);
    uint64_t attrs = (uint64_t)ftello(out);
    used = 0;
    for (uint32_t event = 0; event < kind->n_events; event++) {
        put_attr(event);
        put_u64(HEADER + (uint64_t)event * 32);
        put_u64(32);
    }
    write_out(record, used);
    uint64_t data = (uint64_t)ftello(out);
    put_records(bytes);
    uint64_t size = (uint64_t)ftello(out) - data;
    put_features(first_time);
    put_header(attrs, data, size);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 4 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            kind = &kinds[i];
    if (!kind) {
        fputs("usage: make_capture flat|chains|stacks|tracepoints|dwarf MEGABYTES FILE\n", stderr);
        return 2;
    }
    out = fopen(argv[3], "wb");
    if (!out) {
        perror(argv[3]);
        return 1;
    }
    put_file(strtoull(argv[2], NULL, 10) << 20);
    if (fclose(out)) {
        perror(argv[3]);
        return 1;
    }
    return 0;
}
