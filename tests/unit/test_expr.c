/* The language of expressions: what holds of records that are known, what is refused and how. */
#include "testing.h"

#include <stdio.h>

#include "base/alloc.h"
#include "captures.h"
#include "expr/command.h"

/* A provider that knows how threads are called, names of functions, one number, and fails when
 * asked for "broken". */
enum { ASK_COMM = 1, ASK_DEPTH, ASK_BROKEN, ASK_SWITCH, ASK_STACK };
static unsigned n_asked;

static uint32_t knows(void *user, const char *name, uint32_t *handle)
{
    static const struct {
        const char *name;
        uint32_t handle, type;
    } names[] = {
        {"comm", ASK_COMM, PERFILE_EXPR_TEXT},
        {"depth", ASK_DEPTH, PERFILE_EXPR_NUMBER},
        {"broken", ASK_BROKEN, PERFILE_EXPR_NUMBER},
        {"sched_switch.prev_comm", ASK_SWITCH, PERFILE_EXPR_TEXT},
        {"stack", ASK_STACK, PERFILE_EXPR_TEXT},
    };
    (void)user;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0) {
            *handle = names[i].handle;
            return names[i].type;
        }
    return 0;
}

static perfile_status answer(void *user, const perfile_record *r, uint32_t handle,
                             perfile_expr_value *value, perfile_error *err)
{
    (void)user;
    n_asked++;
    if (handle == ASK_BROKEN) {
        snprintf(err->message, sizeof err->message, "the provider broke");
        return PERFILE_E_IO;
    }
    if (r->type != PERFILE_RECORD_SAMPLE)
        return PERFILE_END;
    value->number = (uint64_t)-3;
    value->negative = true;
    value->text = (perfile_bytes){(const uint8_t *)"gcc-12", 6};
    if (handle == ASK_STACK)
        value->text = (perfile_bytes){(const uint8_t *)"main;run;spin_lock", 18};
    return PERFILE_OK;
}

static const perfile_expr_provider provider = {sizeof provider, NULL, knows, answer};
static const perfile_expr_options options = {.size = sizeof options, .provider = &provider};

/* One record of each kind that is asked about. */
typedef struct scene {
    perfile_session *session;
    builder bodies[8];
    perfile_record records[8];
    unsigned n;
    bool swap;
} scene;

enum { SAMPLE, MMAP2, FORK, COMM, LOST, BAD, UNKNOWN, DAMAGE };

static builder *begin(scene *s)
{
    s->bodies[s->n].swap = s->swap;
    return &s->bodies[s->n];
}

static void end(scene *s, uint32_t type, uint16_t misc)
{
    s->records[s->n] = record_of(s->session, type, misc, built(&s->bodies[s->n]));
    s->records[s->n].sequence = s->n;
    s->records[s->n].offset = 1000 + s->n;
    s->n++;
}

static void trailer(builder *b)
{
    build_u32(b, 100);
    build_u32(b, 101);
    build_u64(b, 5000000000);
    build_u32(b, 3);
    build_u32(b, 0);
    build_u64(b, 70);
}

static uint64_t branch_flags(const builder *b, uint64_t flags)
{
    return b->swap != (bool)PF_NATIVE_BIG ? build_big_flags(flags, PERFILE_KIND_BRANCH_FLAGS)
                                          : flags;
}

static void add_sample(scene *s, uint64_t chain)
{
    builder *b = begin(s);
    build_u64(b, 70);       /* identifier */
    build_u64(b, 0x401000); /* ip */
    build_u32(b, 100);
    build_u32(b, 101);
    build_u64(b, 5000000000); /* time */
    build_u32(b, 3);          /* cpu */
    build_u32(b, 0);
    build_u64(b, 1000000); /* period */
    build_u64(b, chain);
    build_u64(b, (uint64_t)-512);
    build_u64(b, 0x401000);
    build_u64(b, 0x402000);
    build_u64(b, 2); /* branches */
    build_u64(b, 0x10);
    build_u64(b, 0x20);
    build_u64(b, branch_flags(b, 1 | 7 << 4));
    build_u64(b, 0x30);
    build_u64(b, 0x40);
    build_u64(b, branch_flags(b, 2 | 3 << 20));
    build_u64(b, UINT64_C(7) << 48 | UINT64_C(8) << 32 | 900); /* weight */
    build_u64(b, 2 | (8 | 2) << 5 | UINT64_C(1) << 33);        /* data_src: load, l1 hit */
    end(s, PERFILE_RECORD_SAMPLE, PERFILE_MISC_EXACT_IP | 2);
}

static void add_others(scene *s)
{
    builder *b = begin(s);
    build_u32(b, 200);
    build_u32(b, UINT32_MAX);
    build_u64(b, 0x400000);
    build_u64(b, 0x3000);
    build_u64(b, 0);
    build_u8(b, 4);
    build_zeros(b, 3);
    build_bytes(b, "\x12\xab\xcd\xef", 4);
    build_zeros(b, 16);
    build_u32(b, 5);
    build_u32(b, 2);
    build_text(b, "/usr/lib/libc.so.6");
    trailer(b);
    end(s, PERFILE_RECORD_MMAP2, PERFILE_MISC_MMAP_BUILD_ID | 2);
    b = begin(s);
    for (uint32_t i = 0; i < 4; i++)
        build_u32(b, 300 + i);
    build_u64(b, 777);
    trailer(b);
    end(s, PERFILE_RECORD_FORK, 0);
    b = begin(s);
    build_u32(b, 100);
    build_u32(b, 101);
    build_text(b, "a*[b]\\");
    trailer(b);
    end(s, PERFILE_RECORD_COMM, PERFILE_MISC_COMM_EXEC);
    b = begin(s);
    build_u64(b, 7);
    build_u64(b, UINT64_MAX);
    trailer(b);
    end(s, PERFILE_RECORD_LOST, 0);
}

static void scene_make(scene *s, bool swap)
{
    build_attr_plan plan = {.type = 0,
                            .size = 112,
                            .sample_type = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP |
                                           PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                                           PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD |
                                           PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_BRANCH_STACK |
                                           PERFILE_SAMPLE_WEIGHT_STRUCT | PERFILE_SAMPLE_DATA_SRC,
                            .flags = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL};
    *s = (scene){.swap = swap};
    s->session = roll_session(&plan, swap, 0);
    add_sample(s, 3);
    add_others(s);
    add_sample(s, UINT32_MAX); /* BAD: the chain does not fit */
    build_u64(begin(s), 0);
    end(s, 60, 0);
    s->records[DAMAGE] = (perfile_record){.family = PERFILE_FAMILY_DAMAGE,
                                          .body = {NULL, 40},
                                          .offset = 9,
                                          .sequence = DAMAGE,
                                          .session = s->session};
    s->n++;
}

static void scene_clear(scene *s)
{
    for (unsigned i = 0; i < 8; i++)
        build_clear(&s->bodies[i]);
    pf_session_free(s->session);
}

#define AT(i) (1U << (i))
#define ALL   (AT(8) - 1)
/* Those that can be decoded, and where fields in front can be read. */
#define SAMPLES (AT(SAMPLE) | AT(BAD))
#define OTHERS  (AT(MMAP2) | AT(FORK) | AT(COMM) | AT(LOST))

/* Of which records it holds. */
static const struct {
    const char *text;
    unsigned of;
} truths[] = {
    {"type == SAMPLE", SAMPLES},
    {"type == sample", SAMPLES},
    {"type == \"PERF_RECORD_SAMPLE\"", SAMPLES},
    {"type == 9 || type == 60", SAMPLES | AT(UNKNOWN)},
    {"type != SAMPLE", OTHERS | AT(UNKNOWN)},
    {"type in {MMAP2, fork, 3}", AT(MMAP2) | AT(FORK) | AT(COMM)},
    {"type ~ \"MM*\"", AT(MMAP2)},
    {"size == 40", AT(DAMAGE)},
    {"size in {56, 64}", AT(FORK) | AT(COMM) | AT(LOST)},
    {"offset in 1001..1002", AT(MMAP2) | AT(FORK)},
    {"offset == 9 && sequence == 7 && part == 0", AT(DAMAGE)},
    {"cpumode == USER", SAMPLES | AT(MMAP2)},
    {"cpumode == unknown", AT(FORK) | AT(COMM) | AT(LOST)},
    {"misc & EXACT_IP", SAMPLES},
    /* The same bit of another type is another thing. */
    {"misc & MMAP_BUILD_ID", AT(MMAP2)},
    {"misc & 0x4000", SAMPLES | AT(MMAP2)},
    {"misc & comm_exec", AT(COMM)},
    {"misc & build_id_size || misc & exact_ip", SAMPLES}, /* the former is of HEADER_BUILD_ID */
    {"event == 0", SAMPLES | OTHERS | AT(UNKNOWN)},
    {"event ~ \"*cycles*\"", SAMPLES | OTHERS | AT(UNKNOWN)},

    /* Own fields first, then the trailer. */
    {"pid == 100", SAMPLES | AT(COMM) | AT(LOST)},
    {"pid == 300", AT(FORK)},
    {"sample_id.pid == 100", OTHERS},
    {"fork.ppid == 301", AT(FORK)},
    {"FORK.ppid == 301", AT(FORK)},
    {"time == 5s", SAMPLES | AT(MMAP2) | AT(COMM) | AT(LOST)},
    {"time < 1us", AT(FORK)},
    {"cpu == 3", SAMPLES | OTHERS},
    {"tid == -1", AT(MMAP2)},
    {"tid != -1", SAMPLES | AT(FORK) | AT(COMM) | AT(LOST)},
    {"tid in {-1, 302}", AT(MMAP2) | AT(FORK)},
    {"id == 7", AT(LOST)},
    {"identifier == 70", SAMPLES | OTHERS},

    /* Numbers and what is made of them. */
    {"period == 1e6 && period == 1000000 && period == 0xf4240 && period == 0o3641100", SAMPLES},
    {"period == 0xF4240 && period == 1000000.00 && time == 5.0s", SAMPLES},
    {"period > 0b1 && period < 1M && period >= 1.0e6 && period <= 1000000", SAMPLES},
    {"period in 1e6..1e6 && !(period in {1, 2, 999999, 1000001..5G})", SAMPLES},
    {"2 < period && 1e6 == period && 1e7 > period", SAMPLES},
    {"period + 1 == 1000001 && period - 1000001 == -1 && period * 2 == 2e6", SAMPLES},
    {"1 - period < 0 && -period == -1000000 && -period < -1", SAMPLES},
    {"2 * 3 + 4 == sequence + 10", AT(SAMPLE)},
    {"2 + 3 * 4 == sequence + 14", AT(SAMPLE)},
    {"(2 + 3) * 4 == sequence + 20", AT(SAMPLE)},
    {"lost == 18446744073709551615 && lost > 1 && !(lost < 0)", AT(LOST)},
    {"period + 1 in {7, 1000001} && !(period + 1 in {7, 1000000})", SAMPLES},
    /* What is out of bounds is nothing. */
    {"lost > 18446744073709551615", 0},
    {"lost + 1 == 0 || lost + 1 != 0 || lost * 2 > 0 || -lost < 0", 0},
    {"lost - 18446744073709551615 == 0", AT(LOST)},
    {"pid == tid - 1", SAMPLES | AT(COMM) | AT(LOST)},
    {"pid < tid", SAMPLES | AT(MMAP2) | AT(FORK) | AT(COMM) | AT(LOST)},

    /* What is not there is neither equal nor unequal. */
    {"period != 7", SAMPLES},
    {"!(period == 7)", ALL},
    {"has(period)", SAMPLES},
    {"!has(period)", ALL & ~SAMPLES},
    {"has(type)", ALL & ~AT(DAMAGE)},
    {"period", SAMPLES},
    {"!res && has(res)", SAMPLES | OTHERS},

    /* Texts. */
    {"filename == \"/usr/lib/libc.so.6\"", AT(MMAP2)},
    {"filename != \"x\"", AT(MMAP2)},
    {"filename ~ '*/libc.so.?'", AT(MMAP2)},
    {"filename ~ \"*lib[a-d].so*\"", AT(MMAP2)},
    {"filename ~ \"*lib[!a-b]?so*\"", AT(MMAP2)},
    {"filename ~ \"*lib[\\[-\\]a-d].so*\"", AT(MMAP2)},
    {"filename ~ \"/usr\"", 0},
    {"filename ~ \"\" || filename == \"\" || filename in {\"\"}", 0},
    {"filename in {\"a\", \"/usr/lib/libc.so.6\", 'b'}", AT(MMAP2)},
    {"filename in {\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"/usr/lib/libc.so.6\",\"h\",\"i\"}",
     AT(MMAP2)},
    {"filename in {\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"j\",\"h\",\"i\"}", 0},
    {"filename in "
     "{\"!a\",\"!b\",\"!c\",\"!d\",\"!e\",\"!f\",\"!g\",\"!h\",\"!i\",\"/usr/lib/libc.so.6\"}",
     AT(MMAP2)},
    {"\"x\" != filename && \"/usr/lib/libc.so.6\" == filename", AT(MMAP2)},
    {"\"x\" == filename", 0},
    {"comm.comm == \"a*[b]\\\\\"", AT(COMM)},
    {"comm.comm == \"\\x61*[b]\\x5c\"", AT(COMM)},
    {"comm.comm ~ \"a\\*\\[b\\]\\\\\"", AT(COMM)},
    {"comm.comm ~ \"*[*]*\"", AT(COMM)},
    {"comm.comm ~ \"a\\*[\\[-\\]]b[\\]]\\\\\"", AT(COMM)},
    {"comm.comm ~ \"*[!\\[-\\]]\"", 0}, /* the backslash is between the brackets */
    {"comm.comm ~ \"a[b]\"", 0},
    {"build_id == \"12abcdef\" && build_id == \"12ABCDEF\"", AT(MMAP2)},
    {"build_id ~ \"12ab*\" && build_id in {\"12abcdef\"}", AT(MMAP2)},
    {"build_id == \"12abcdee\" || build_id in {\"12ABCDEE\", \"12abcde\"}", 0},
    {"filename == filename && filename != build_id", AT(MMAP2)},

    /* Words. */
    {"prot & EXEC", AT(MMAP2)},
    {"prot & (1 + 4) == 5 && prot & READ", AT(MMAP2)},
    {"flags & private && flags & \"PRIVATE\" && !(flags & SHARED)", AT(MMAP2)},
    {"data_src.mem_op == LOAD && data_src.op & LOAD && data_src.op.load", AT(SAMPLE)},
    {"data_src.lvl & L1 && data_src.lvl.hit == 1 && data_src.lvl_num == l1", AT(SAMPLE)},
    {"LOAD == data_src.op && !data_src.op.store", AT(SAMPLE)},

    /* Groups and lists. */
    {"weight == 900", AT(SAMPLE)},
    {"weight.var2_w == 8 && has(weight) && !has(weight.full)", AT(SAMPLE)},
    {"any(callchain, . in 0x400000..0x401fff)", AT(SAMPLE)},
    {"any(callchain, . == USER)", AT(SAMPLE)},
    {"all(callchain, . > 0x400000 && . != 0x401001)", AT(SAMPLE)},
    {"all(callchain, . == USER)", 0},
    {"count(callchain) == 3 && count(callchain, . < 0x402000) == 1 && any(callchain)", AT(SAMPLE)},
    {"count(callchain, . < 0x402000) + count(branch_stack) * 2 == 5", AT(SAMPLE)},
    {"5 > count(callchain) && 1 + 1 == count(branch_stack.lbr)", AT(SAMPLE)},
    {"any(branch_stack, .from == 0x10 && .to == 0x20)", AT(SAMPLE)},
    {"any(branch_stack, .from == 0x10 && .to == 0x40)", 0},
    {"any(branch_stack, .flags & MISPRED && .flags.cycles == 7)", AT(SAMPLE)},
    {"any(branch_stack, !.flags.mispred && .flags.type == IND)", AT(SAMPLE)},
    {"any(branch_stack.lbr, .from > .to || .from + 0x10 == .to && pid == 100)", AT(SAMPLE)},
    {"any(cpu_map.cpu, . == -1) || !has(cpu_map.cpu)", ALL},
    {"!any(callchain, . == 5)", ALL},
    {"!all(callchain, . == 5)", ALL},
    {"count(callchain, . == 5) == 0", AT(SAMPLE)},

    /* Order. */
    {"type == LOST || type == SAMPLE && cpu == 4", AT(LOST)},
    {"(type == LOST || type == SAMPLE) && cpu == 3", SAMPLES | AT(LOST)},
    {"!!(type == LOST) && !(!(type == LOST) || cpu == 4)", AT(LOST)},
    {"type == LOST && (cpu == 4 || (tid == 5 || !(tid == 5))) || type == FORK",
     AT(LOST) | AT(FORK)},
    {"misc & 7 == 2 && type == SAMPLE", SAMPLES},
};

static const char *whose_text;

static void check(perfile_expr *e, const scene *s, unsigned of)
{
    perfile_error err = {0};
    uint64_t bits = 0;
    assert_int_equal(pf_expr_test_run(e, s->records, s->n, &bits, &err), PERFILE_OK);
    for (unsigned i = 0; i < s->n; i++) {
        bool yes;
        assert_int_equal(perfile_expr_test(e, &s->records[i], &yes, &err), PERFILE_OK);
        if (yes != (of >> i & 1) || yes != (bits >> i & 1))
            fail_msg("%s: of record %u it is %d", whose_text, i, yes);
    }
}

static perfile_expr *compiled(const char *text, const perfile_expr_options *o)
{
    perfile_error err = {0};
    perfile_expr *e;
    whose_text = text;
    if (perfile_expr_open(text, o, &e, &err) != PERFILE_OK)
        fail_msg("%s: %s", text, err.message);
    return e;
}

static void truth(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        scene s;
        scene_make(&s, swap);
        for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
            perfile_expr *e = compiled(truths[i].text, NULL);
            check(e, &s, truths[i].of);
            perfile_expr_close(e);
        }
        scene_clear(&s);
    }
}

/* What is refused: the column, and what the message says. */
static const struct {
    const char *text;
    unsigned column;
    const char *says;
} errors[] = {
    {"", 1, "a name or value is missing at the end"},
    {"type == ", 9, "missing at the end"},
    {"perid > 5", 1, "there is no perid; did you mean period"},
    {"type == SMAPLE", 9, "did you mean SAMPLE"},
    {"type == \"FOO\"", 9, "is not a value of type"},
    {"cpumode == KERNLE", 12, "did you mean kernel"},
    {"prot & EXEX", 8, "did you mean exec"},
    {"mmap2.filenam == \"x\"", 1, "did you mean mmap2.filename"},
    {"hw_idx == 1", 1, "branch_stack.hw_idx"},
    {"any(branch_stack, .form == 1)", 19, "did you mean .from"},
    {"any(branch_stack, . == 1)", 19, "name one, as in .from"},
    {".from == 1", 1, "any(list, .from"},
    {"dso == \"libc\"", 1, "dso is not known here"},
    {"comm == \"gcc\"", 1, "comm.comm"},
    {"cgroup == \"x\"", 1, "cgroup.path"},
    {"comm.comm == gcc", 14, "write text in quotes"},
    {"callchain == 5", 1, "use any()"},
    {"weight.full ~ \"x\"", 1, "is a number"},
    {"filename > 5", 1, "is text"},
    {"filename", 1, "has(filename)"},
    {"filename < \"x\"", 1, "==, !=, ~ and in"},
    {"regs_user == 1", 1, "group of fields"},
    {"pid == \"x\"", 1, "is a number"},
    {"pid + 1 == \"x\"", 1, "cannot be compared with text"},
    {"pid + 1 in {\"x\"}", 1, "cannot be compared with text"},
    {"pid == 1 + \"x\"", 12, "text, where a number is needed"},
    {"1 < pid < 3", 9, "do not chain"},
    {"(pid == 1) == 1", 2, "join conditions"},
    {"!pid == 1", 2, "join conditions"},
    {"pid = 1", 5, "write =="},
    {"pid == 1 | pid == 2", 10, "write ||"},
    {"pid == 1 pid == 2", 10, "an operator is needed before pid"},
    {"pid == 1)", 9, "there is no ("},
    {"(pid == 1", 1, "the ) for this"},
    {"any(callchain, . == 1", 1, "the ) for this"},
    {"has(pid", 8, ") is missing"},
    {"has(7)", 5, "a name is needed"},
    {"none(callchain)", 1, "has(), any(), all() and count()"},
    {"all(callchain)", 14, "a comma and a condition"},
    {"any(pid, . == 1)", 5, "is a number"},
    {"any(callchain, any(branch_stack, .from == 1))", 16, "do not nest"},
    {"1 == 2", 1, "two constants"},
    {"1", 1, "a constant"},
    {"type == SAMPLE && 7", 19, "a constant"},
    {"\"x\"", 1, "a constant"},
    {"pid in 7", 8, "a range 1..9 or a set"},
    {"pid in {}", 9, "a number, word or text"},
    {"pid in {1, 2", 13, ", or } is missing"},
    {"pid in {1, \"x\"}", 12, "a set holds either numbers or texts"},
    {"pid in 9..1", 8, "ends before it begins"},
    {"pid in {tid}", 9, "a constant is needed"},
    {"filename in \"a\"..\"b\"", 13, "a range needs numbers"},
    {"pid == 18446744073709551616", 8, "above 2^64 - 1"},
    {"pid == 1e20", 8, "above 2^64 - 1"},
    {"pid == 17179869184G", 8, "above 2^64 - 1"},
    {"pid == 1.5", 8, "not an integer"},
    {"pid == 010", 8, "0o"},
    {"pid == 0x", 8, "digits are missing"},
    {"pid == 0b12", 8, "not a digit"},
    {"pid == 5min", 8, "unknown unit"},
    {"pid == 18446744073709551615 + 1", 8, "not between"},
    {"filename ~ \"[a\"", 12, "no ]"},
    {"filename ~ x", 12, "a pattern is needed"},
    {"filename == \"a\\q\"", 15, "unknown escape"},
    {"filename == \"abc", 13, "no closing"},
    {"pid == 1 # x", 10, "unexpected character '#'"},
    {"\xc3\xa9 == 1", 1, "byte 0xc3"},
    {"filename == \"\xc3\xa9\xc3\xa9\" && perid", 21, "perid"},
    {"data_src.oq == LOAD", 1, "there is no data_src.oq; did you mean data_src.op"},
    {"any(branch_stack, .mispred)", 19, "did you mean .flags.mispred"},
    {"switch.pid == 1", 1, "switch records have no pid"},
    {"pid == 1 or pid == 2", 10, "write ||"},
    {"PID == 1", 1, "did you mean pid"},
    {"type == PROG_LOAD", 9, "not a value of type"},
    {"misc & MMAP_BUILDID", 8, "did you mean mmap_build_id"},
    {"size == FOO", 9, "there is no FOO"},
    {"prot == zzzzzzzzzz", 9, "there is no zzzzzzzzzz"},
    {"callchain has \"main\"", 1, "names of functions are not known here"},
    {"comm.comm has main", 15, "a pattern is needed, in quotes"},
    {"sample_id.pdi == 1", 1, "did you mean sample_id.pid"},
    {"(pid == 1) in {1}", 2, "a condition cannot be in a set"},
    {"(pid == 1) + 1", 2, "a condition, where a number is needed"},
    {"pid in {-", 10, "a number, word or text is missing at the end"},
    {"pid in {-x}", 10, "a number, word or text"},
    {"pid == 0x1ffffffffffffffff", 8, "above 2^64 - 1"},
    {"pid == 1.18446744073709551616", 8, "too many digits"},
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        perfile_expr *e = NULL;
        perfile_error err = {0};
        char column[32];
        snprintf(column, sizeof column, "column %u: ", errors[i].column);
        perfile_status st = perfile_expr_open(errors[i].text, NULL, &e, &err);
        if (st != PERFILE_E_USAGE || !strstr(err.message, errors[i].says) ||
            strncmp(err.message, column, strlen(column)) != 0)
            fail_msg("%s: %d %s", errors[i].text, st, err.message);
        assert_null(e);
        /* The caret stands under the place. */
        const char *first = strchr(err.message, '\n');
        assert_non_null(first);
        const char *second = strchr(first + 1, '\n');
        assert_non_null(second);
        assert_int_equal(strlen(second + 3), errors[i].column);
        assert_int_equal(perfile_expr_open(errors[i].text, NULL, &e, NULL), PERFILE_E_USAGE);
    }
}

/* A long text is shown around the place that is meant; the message keeps its end. */
static void long_texts_are_shown_in_part(void **state)
{
    (void)state;
    char text[2000];
    perfile_error err;
    perfile_expr *e;
    size_t n = 0;
    while (n < 1500)
        n += (size_t)snprintf(text + n, sizeof text - n, "pid == 1 || ");
    snprintf(text + n, sizeof text - n,
             "a_name_that_is_rather_long_and_that_nobody_has_ever_heard_of_in_any_table == 1");
    assert_int_equal(perfile_expr_open(text, NULL, &e, &err), PERFILE_E_USAGE);
    assert_int_equal(err.offset, n);
    const char *line = strchr(err.message, '\n') + 3;
    const char *caret = strchr(line, '\n') + 3;
    assert_int_equal(strncmp(line + strlen(caret) - 1, "a_name", 6), 0);
    assert_string_equal(err.message + strlen(err.message) - 1, "^");
}

static void provider_is_asked_for_what_records_lack(void **state)
{
    (void)state;
    scene s;
    scene_make(&s, false);
    static const struct {
        const char *text;
        unsigned of;
    } cases[] = {
        {"comm ~ \"gcc*\"", SAMPLES},
        {"comm == \"a*[b]\\\\\"", AT(COMM)},
        {"comm.comm ~ \"*\"", AT(COMM)},
        {"comm in {\"gcc-12\", \"a*[b]\\\\\"}", SAMPLES | AT(COMM)},
        {"has(comm)", SAMPLES | AT(COMM)},
        /* Each name of a function by itself, as a whole. */
        {"callchain has \"spin*\" && callchain has \"main\" && callchain has \"r?n\"", SAMPLES},
        {"callchain has \"mai\" || callchain has \"main;run\" || callchain has \"\"", 0},
        {"!(callchain has \"main\")", ALL & ~SAMPLES},
        {"depth == -3 && depth < 0 && depth + 3 == 0", SAMPLES},
        {"sched_switch.prev_comm == \"gcc-12\"", SAMPLES},
        {"type == FORK && broken == 1 || type == LOST", AT(LOST)},
    };
    for (size_t i = 0; i + 1 < sizeof cases / sizeof cases[0]; i++) {
        perfile_expr *e = compiled(cases[i].text, &options);
        check(e, &s, cases[i].of);
        perfile_expr_close(e);
    }
    /* Once for each name and record. */
    perfile_expr *e = compiled("depth == 1 || depth == 2 || depth == 3", &options);
    n_asked = 0;
    check(e, &s, 0);
    perfile_expr_close(e);
    assert_true(n_asked <= 3 * 2 * s.n);

    bool yes = true;
    uint64_t bits = 5;
    perfile_error err = {0};
    e = compiled("type == FORK && broken == 1 || type == LOST", &options);
    assert_int_equal(perfile_expr_test(e, &s.records[LOST], &yes, &err), PERFILE_OK);
    assert_true(yes);
    assert_int_equal(perfile_expr_test(e, &s.records[FORK], &yes, &err), PERFILE_E_IO);
    assert_string_equal(err.message, "the provider broke");
    assert_true(yes);
    assert_int_equal(pf_expr_test_run(e, s.records, s.n, &bits, &err), PERFILE_E_IO);
    assert_int_equal(bits, 5);
    assert_int_equal(perfile_expr_test(e, &s.records[LOST], &yes, &err), PERFILE_OK);
    assert_int_equal(pf_expr_test_run(e, s.records, 65, &bits, &err), PERFILE_E_USAGE);
    perfile_expr_close(e);
    scene_clear(&s);
}

/* `head`, then `n` times `part`, then `tail`. */
static char *repeated(const char *head, const char *part, size_t n, const char *tail)
{
    size_t size = strlen(head) + n * strlen(part) + strlen(tail) + 1;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at += strlen(strcpy(at, head));
    for (size_t i = 0; i < n; i++)
        at += strlen(strcpy(at, part));
    strcpy(at, tail);
    return text;
}

static void try(perfile_status wanted, char *text)
{
    perfile_expr *e = NULL;
    perfile_error err = {0};
    perfile_status st = perfile_expr_open(text, NULL, &e, &err);
    if (st != wanted)
        fail_msg("%.60s…: %d %s", text, st, err.message);
    perfile_expr_close(e);
    free(text);
}

static void limits(void **state)
{
    (void)state;
    try(PERFILE_OK, repeated("", "(", 64,
                             "pid == 1))))))))))))))))))))))))))))))))))))))))))))))))))))"
                             "))))))))))))"));
    try(PERFILE_E_LIMIT, repeated("", "(", 65, "pid"));
    try(PERFILE_E_LIMIT, repeated("", "!", 65, "pid"));
    try(PERFILE_E_LIMIT, repeated("pid == ", "-", 65, "1"));
    try(PERFILE_OK, repeated("pid == 1", " || misc == 1", 1000, ""));
    try(PERFILE_E_LIMIT, repeated("pid == 1", " || misc == 1", 1030, ""));
    try(PERFILE_E_LIMIT, repeated("pid == 1", " + 1 * pid", 9000, ""));
    try(PERFILE_OK, repeated("pid in {1", ", 5, 77..80", 50000, "}"));
    try(PERFILE_E_LIMIT, repeated("pid == 1", " ", 1 << 20, ""));
    try(PERFILE_E_USAGE, repeated("", "a", 1000, " == 1"));
    try(PERFILE_E_USAGE, repeated("filename == ", "a", 1000, ""));
    char *deep = repeated("", "(pid == 1 || pid + 1 * (", 32, "pid");
    try(PERFILE_E_USAGE, deep);
}

/* A failed allocation is reported, leaves nothing behind and no result. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] =
        "any(branch_stack, .from in {1, 5, 7..9}) && comm in {\"a\", \"b\"} || "
        "filename ~ \"x*\" && pid + 1 == count(callchain, . > 2)";
    unsigned failures = 0;
    for (uint64_t n = 1;; n++) {
        perfile_expr *e = NULL;
        perfile_error err = {0};
        pf_alloc_count = 0;
        pf_alloc_fail_at = n;
        perfile_status st = perfile_expr_open(text, &options, &e, &err);
        pf_alloc_fail_at = 0;
        if (st == PERFILE_OK) {
            perfile_expr_close(e);
            break;
        }
        assert_int_equal(st, PERFILE_E_NOMEM);
        assert_null(e);
        failures++;
    }
    assert_true(failures > 5);
}

static void testing_allocates_nothing(void **state)
{
    (void)state;
    scene s;
    scene_make(&s, false);
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        perfile_expr *e = compiled(truths[i].text, NULL);
        pf_alloc_count = 0;
        check(e, &s, truths[i].of);
        assert_int_equal(pf_alloc_count, 0);
        perfile_expr_close(e);
    }
    scene_clear(&s);
}

/* Every name that is listed can be used. */
static unsigned n_names;

static void use_name(void *user, const perfile_expr_name *what)
{
    (void)user;
    char text[512];
    const char *dot = what->record[0] ? "." : "";
    if (what->list && (what->type & PERFILE_EXPR_NUMBER))
        snprintf(text, sizeof text, "any(%s.%s, %s == 1)", what->record, what->list, what->name);
    else if (what->list)
        snprintf(text, sizeof text, "any(%s.%s, has(%s))", what->record, what->list, what->name);
    else if (what->type & PERFILE_EXPR_NUMBER)
        snprintf(text, sizeof text, "%s%s%s == 1 && has(%s)", what->record, dot, what->name,
                 what->name);
    else if (what->type & PERFILE_EXPR_TEXT)
        snprintf(text, sizeof text, "%s%s%s == \"x\"", what->record, dot, what->name);
    else if (what->type & PERFILE_EXPR_LIST)
        snprintf(text, sizeof text, "count(%s%s%s) == 1", what->record, dot, what->name);
    else
        snprintf(text, sizeof text, "has(%s%s%s)", what->record, dot, what->name);
    perfile_expr_close(compiled(text, NULL));
    n_names++;
}

static void names_can_be_used(void **state)
{
    (void)state;
    n_names = 0;
    perfile_expr_names(use_name, NULL);
    assert_true(n_names > 300);
    perfile_expr_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth),
        cmocka_unit_test(refused),
        cmocka_unit_test(long_texts_are_shown_in_part),
        cmocka_unit_test(provider_is_asked_for_what_records_lack),
        cmocka_unit_test(limits),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(testing_allocates_nothing),
        cmocka_unit_test(names_can_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
