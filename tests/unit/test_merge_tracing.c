/* Tracepoint formats of merged captures: joined, and the ways in which they contradict. */
#include "merging.h"

typedef struct tracepoint {
    const char *subsystem; /* NULL: of ftrace itself */
    const char *name;      /* NULL: no format that could be read */
    uint32_t id;
    const char *fields;
} tracepoint;

/* What is not about tracepoints. */
typedef struct blob {
    const char *version, *kallsyms, *cmdlines;
    uint8_t long_size;
    bool other_order;
} blob;

static const blob usual = {.version = "0.5", .long_size = 8};

static void put_file(builder *b, const char *file)
{
    build_u64(b, strlen(file));
    build_bytes(b, file, strlen(file));
}

static void put_format(builder *b, const tracepoint *t)
{
    char format[256];
    snprintf(format, sizeof format, "name: %s\nID: %" PRIu32 "\nformat:\n\t%s\n",
             t->name ? t->name : "", t->id, t->fields);
    put_file(b, t->name ? format : t->fields);
}

/* Those with the same subsystem stand together. */
static void put_formats(builder *b, const tracepoint *t, size_t n, const char *subsystem)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += t[i].subsystem == subsystem;
    build_u32(b, count);
    for (size_t i = 0; i < n; i++)
        if (t[i].subsystem == subsystem)
            put_format(b, &t[i]);
}

static void put_blob(builder *b, const blob *of, const tracepoint *t, size_t n)
{
    uint32_t subsystems = 0;
    build_bytes(b, "\x17\x08\x44tracing", 10);
    build_bytes(b, of->version, strlen(of->version) + 1);
    build_u8(b, b->swap != (bool)PF_NATIVE_BIG);
    build_u8(b, of->long_size);
    build_u32(b, 4096);
    build_bytes(b, "header_page", 12);
    put_file(b, "page\n");
    build_bytes(b, "header_event", 13);
    put_file(b, "event\n");
    put_formats(b, t, n, NULL);
    for (size_t i = 0; i < n; i++)
        subsystems += t[i].subsystem && (i == 0 || t[i].subsystem != t[i - 1].subsystem);
    build_u32(b, subsystems);
    for (size_t i = 0; i < n; i++) {
        if (!t[i].subsystem || (i && t[i].subsystem == t[i - 1].subsystem))
            continue;
        build_bytes(b, t[i].subsystem, strlen(t[i].subsystem) + 1);
        put_formats(b, t, n, t[i].subsystem);
    }
    const char *kallsyms = of->kallsyms ? of->kallsyms : "";
    build_u32(b, (uint32_t)strlen(kallsyms));
    build_bytes(b, kallsyms, strlen(kallsyms));
    build_u32(b, 0);
    if (of->cmdlines)
        put_file(b, of->cmdlines);
}

static void give(uint32_t k, const blob *of, const tracepoint *t, size_t n)
{
    BUILDER b = {.swap = m.swap != of->other_order};
    put_blob(&b, of, t, n);
    add(k, PERFILE_FEATURE_TRACING_DATA, built(&b));
}

/* The output has exactly these. */
static void is_blob(const blob *of, const tracepoint *t, size_t n)
{
    BUILDER b = {.swap = m.swap};
    const perfile_feature *f = out(PERFILE_FEATURE_TRACING_DATA);
    put_blob(&b, of, t, n);
    assert_non_null(f);
    assert_int_equal(f->payload.len, b.b.len);
    assert_memory_equal(f->payload.ptr, b.b.ptr, b.b.len);
}

static const char sched[] = "sched", irq[] = "irq";
static const tracepoint function = {NULL, "function", 1, "ip"},
                        branch = {NULL, "branch", 2, "line"};
static const tracepoint wakeup = {sched, "wakeup", 300, "pid"}, exits = {sched, "exit", 301, "pid"};
static const tracepoint entry = {irq, "entry", 50, "irq"}, odd = {irq, NULL, 0, "no format"};

static void test_joined(bool swap)
{
    const tracepoint a[] = {function, wakeup, odd}, b[] = {function, branch, entry, odd, exits};
    const tracepoint wanted[] = {function, branch, wakeup, exits, odd, entry};
    begin(3, swap);
    event(0, PERFILE_TYPE_TRACEPOINT, 300, 1, 0);
    event(2, PERFILE_TYPE_TRACEPOINT, 301, 1, 1);
    give(0, &usual, a, 3);
    give(2, &usual, b, 5);
    settle(0);
    join();
    is_blob(&usual, wanted, 6);
    assert_null(out(PERFILE_FEATURE_EVENT_DESC));
    assert_string_equal(called(0), "sched:wakeup");
    assert_string_equal(called(1), "sched:exit");
    says("0 1 -1 0 feature TRACING_DATA: joined from those of a.data, c.data");
    end();

    begin(2, swap);
    give(0, &usual, a, 3);
    give(1, &usual, a, 3);
    join();
    is_as_in(0, PERFILE_FEATURE_TRACING_DATA);
    assert_string_equal(m.told, "");
    end();

    begin(2, swap);
    give(1, &usual, a, 3);
    add(0, PERFILE_FEATURE_TRACING_DATA, text("\x17\x08\x44tracing"));
    join();
    is_as_in(1, PERFILE_FEATURE_TRACING_DATA);
    says("1 1 0 0 feature TRACING_DATA: that of a.data is damaged: left out");
    end();
}

/* The first that has texts counts, and the newer version when it is needed. */
static void test_texts(bool swap)
{
    const blob old = {.version = "0.5", .long_size = 8};
    const blob newer = {.version = "0.6", .long_size = 8, .kallsyms = "a", .cmdlines = "7 sh\n"};
    const blob other = {.version = "0.6", .long_size = 8, .kallsyms = "b", .cmdlines = "8 ls\n"};
    const tracepoint all[] = {wakeup, exits, entry};
    begin(3, swap);
    give(0, &old, all, 1);
    give(1, &newer, all, 2);
    give(2, &other, all, 3);
    join();
    is_blob(&newer, all, 3);
    says("1 1 2 0 feature TRACING_DATA: the kernel symbols of c.data differ from those of an "
         "earlier input");
    says("1 1 2 0 feature TRACING_DATA: the names of threads of c.data differ from those of an "
         "earlier input");
    end();
}

static void contradicts(const blob *of, const tracepoint *other, const char *wanted)
{
    const bool swap = m.swap;
    const tracepoint here[] = {function, wakeup}, last[] = {exits};
    for (int drop = 0; drop < 2; drop++) {
        begin(3, swap);
        m.x.options.flags = drop ? PERFILE_MERGE_DROP_CONFLICTING : 0;
        give(0, &usual, here, 2);
        give(1, of, other, 1);
        give(2, &usual, last, 1);
        perfile_status st = pf_merge_features(&m.x, &m.err);
        if (drop) {
            const tracepoint left[] = {function, wakeup, exits};
            assert_int_equal(st, PERFILE_OK);
            is_blob(&usual, left, 3);
            says("2 1 1 1 ");
            says(wanted);
        } else {
            assert_int_equal(st, PERFILE_E_USAGE);
            assert_non_null(strstr(m.err.message, wanted));
        }
        end();
    }
}

static void test_contradicted(bool swap)
{
    const tracepoint renumbered = {sched, "wakeup", 400, "pid"};
    const tracepoint reshaped = {sched, "wakeup", 300, "pid comm"};
    const tracepoint renamed = {irq, "wakeup", 300, "pid"};
    const tracepoint own = {NULL, "func", 1, "ip"};
    const blob narrow = {.version = "0.5", .long_size = 4};
    const blob turned = {.version = "0.5", .long_size = 8, .other_order = true};
    m.swap = swap;
    contradicts(&usual, &renumbered,
                "tracepoint sched:wakeup has number 300 in a.data and 400 in b.data");
    contradicts(&usual, &reshaped,
                "tracepoint sched:wakeup has other fields in b.data than in a.data");
    contradicts(&usual, &renamed,
                "tracepoint 300 is sched:wakeup in a.data and irq:wakeup in b.data");
    contradicts(&usual, &own, "tracepoint 1 is :function in a.data and :func in b.data");
    contradicts(&narrow, &entry, "formats of a.data have long size 8, those of b.data 4");
    contradicts(&turned, &entry, "have byte order");
}

/* What one input says twice is no contradiction between inputs. */
static void test_twice(bool swap)
{
    const tracepoint again = {sched, "wakeup", 300, "other"};
    const tracepoint a[] = {wakeup, again}, b[] = {entry}, all[] = {wakeup, again, entry};
    begin(2, swap);
    give(0, &usual, a, 2);
    give(1, &usual, b, 1);
    join();
    is_blob(&usual, all, 3);
    end();
}

/* Every cut of a blob is read as far as it goes, and refused or joined. */
static void test_truncated(bool swap)
{
    const tracepoint a[] = {function, wakeup, entry}, b[] = {branch, exits};
    const blob newer = {.version = "0.6", .long_size = 8, .kallsyms = "a", .cmdlines = "7 sh\n"};
    size_t len = 1;
    for (size_t n = 0; n < len; n++) {
        begin(2, swap);
        BUILDER whole = {.swap = swap};
        put_blob(&whole, &newer, a, 3);
        len = whole.b.len;
        uint8_t *cut = exact(whole.b.ptr, n);
        add(0, PERFILE_FEATURE_TRACING_DATA, (perfile_bytes){cut, n});
        free(cut);
        give(1, &usual, b, 2);
        join();
        is_as_in(1, PERFILE_FEATURE_TRACING_DATA);
        says("1 1 0 0 feature TRACING_DATA: that of a.data is damaged: left out");
        end();
    }
    assert_true(len > 100);
}

static void fill(void)
{
    const tracepoint a[] = {function, wakeup, odd}, b[] = {function, branch, entry, odd, exits};
    give(0, &usual, a, 3);
    give(1, &usual, b, 5);
}

static void without_memory(void **state)
{
    (void)state;
    fails_without_memory(fill);
}

IN_BOTH_ORDERS(joined)
IN_BOTH_ORDERS(texts)
IN_BOTH_ORDERS(contradicted)
IN_BOTH_ORDERS(twice)
IN_BOTH_ORDERS(truncated)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined), cmocka_unit_test(texts),     cmocka_unit_test(contradicted),
        cmocka_unit_test(twice),  cmocka_unit_test(truncated), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
