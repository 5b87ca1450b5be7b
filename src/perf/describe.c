/* perfile_event_parse(): makes an attr from a text such as
 *     cycles:sample_type=ip|tid|time,id=17
 * for captures that have lost their attrs.
 *
 * In front of the colon stands the name of a hardware or software event, or nothing; behind it,
 * members of the attr with numbers or names of bits.  The names are those of the vocabularies of
 * format/.  The attr is made in the byte order of the capture. */
#include <ctype.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "base/byte_order.h"
#include "perfile/field.h"
#include "perfile/recover.h"
#include "schema/attr_places.h"

enum { ATTR_SIZE = 112 }; /* PERF_ATTR_SIZE_VER5 */
_Static_assert(PERFILE_ATTR_SIZE <= sizeof((perfile_event_text){0}.attr),
               "perfile_event_text has no room for an attr");

/* A member of the attr that a description can set. */
typedef struct member {
    const char *name;
    const char *words; /* vocabulary of its bits, or NULL: numbers only */
    uint8_t at, width; /* offset in the attr and bytes */
} member;

static const member members[] = {
    {"type", NULL, 0, 4},
    {"config", NULL, 8, 8},
    {"sample_type", "sample_type", PF_ATTR_SAMPLE_TYPE_AT, 8},
    {"read_format", "read_format", PF_ATTR_READ_FORMAT_AT, 8},
    {"branch_sample_type", "branch_sample_type", PF_ATTR_BRANCH_TYPE_AT, 8},
    {"sample_regs_user", NULL, 80, 8},
    {"sample_stack_user", NULL, 88, 4},
    {"sample_regs_intr", NULL, 96, 8},
};

/* True if word[0 .. n) is `name`, without regard to case. */
static bool same(const char *name, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!name[i] || tolower((unsigned char)name[i]) != tolower((unsigned char)word[i]))
            return false;
    return name[n] == '\0';
}

/* Fails with `what` and the offending word, cut to 64 characters. */
static perfile_status wrong(perfile_error *err, const char *what, const char *word, size_t n)
{
    return pf_fail(err, PERFILE_E_USAGE, "event", "%s '%.*s'", what, (int)(n < 64 ? n : 64), word);
}

/* Reads text[0 .. n) as a number, decimal, octal or hexadecimal, without sign. */
static bool number(const char *text, size_t n, uint64_t *value)
{
    char buf[24];
    char *end;
    if (n == 0 || n >= sizeof buf || text[0] == '-' || text[0] == '+')
        return false;
    memcpy(buf, text, n);
    buf[n] = '\0';
    *value = strtoull(buf, &end, 0);
    return *end == '\0';
}

/* Reads a value: a number, or names of bits of the vocabulary `set`, joined by '|'. */
static perfile_status bits(const char *set, const char *text, size_t n, uint64_t *value,
                           perfile_error *err)
{
    const perfile_vocabulary *v = set ? perfile_vocabulary_find(set) : NULL;
    *value = 0;
    if (number(text, n, value))
        return PERFILE_OK;
    if (!v)
        return wrong(err, "not a number:", text, n);
    for (size_t at = 0; at <= n;) {
        size_t len = 0;
        while (at + len < n && text[at + len] != '|')
            len++;
        uint32_t i = 0;
        while (i < v->n && !same(v->bits[i].name, text + at, len))
            i++;
        if (i == v->n)
            return wrong(err, "unknown name of a bit:", text + at, len);
        *value |= UINT64_C(1) << v->bits[i].shift;
        at += len + 1;
    }
    return PERFILE_OK;
}

/* Stores `value` in `width` (4 or 8) bytes of the attr. */
static void put(perfile_event_text *e, unsigned at, unsigned width, uint64_t value, bool swap)
{
    uint32_t half = (uint32_t)value;
    if (swap) {
        value = pf_swap_u64(value);
        half = pf_swap_u32(half);
    }
    memcpy(e->attr + at, width == 4 ? (const void *)&half : (const void *)&value, width);
}

/* Appends an id of the event. */
static perfile_status set_id(perfile_event_text *e, const char *text, size_t n, bool swap,
                             perfile_error *err)
{
    uint64_t id;
    if (!number(text, n, &id) || e->n_ids == sizeof e->ids / sizeof e->ids[0])
        return wrong(err, "not an id, or one too many:", text, n);
    e->ids[e->n_ids++] = swap ? pf_swap_u64(id) : id;
    return PERFILE_OK;
}

/* Sets what one NAME=VALUE says. */
static perfile_status set(perfile_event_text *e, const char *text, size_t n, bool swap,
                          perfile_error *err)
{
    size_t name = 0;
    while (name < n && text[name] != '=')
        name++;
    if (name == n)
        return wrong(err, "needed NAME=VALUE, found", text, n);
    const char *value = text + name + 1;
    size_t left = n - name - 1;
    if (same("id", text, name))
        return set_id(e, value, left, swap, err);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint64_t v;
        if (!same(members[i].name, text, name))
            continue;
        perfile_status st = bits(members[i].words, value, left, &v, err);
        if (st == PERFILE_OK)
            put(e, members[i].at, members[i].width, v, swap);
        return st;
    }
    return wrong(err, "an event has no member", text, name);
}

/* Short names that `perf list` also accepts. */
static const struct {
    const char *name, *word;
} aliases[] = {
    {"cycles", "cpu-cycles"},  {"branches", "branch-instructions"}, {"cs", "context-switches"},
    {"faults", "page-faults"}, {"migrations", "cpu-migrations"},
};

/* Sets type and config by the name of an event; an empty name sets nothing.  False: unknown. */
static bool set_name(perfile_event_text *e, const char *text, size_t n, bool swap)
{
    static const char *const sets[] = {"hardware", "software"};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (same(aliases[i].name, text, n)) {
            text = aliases[i].word;
            n = strlen(text);
            break;
        }
    }
    for (unsigned type = 0; type < 2; type++) {
        const perfile_vocabulary *v = perfile_vocabulary_find(sets[type]);
        for (uint32_t i = 0; v && v->words && i < v->n; i++) {
            if (!same(v->words[i].name, text, n))
                continue;
            put(e, 0, 4, type, swap);
            put(e, 8, 8, v->words[i].value, swap);
            return true;
        }
    }
    return n == 0;
}

perfile_status perfile_event_parse(const char *text, uint32_t byte_order, perfile_event_text *event,
                                   perfile_error *err)
{
    perfile_status st = pf_byte_order_check(byte_order, "event.byte_order", err);
    if (st != PERFILE_OK)
        return st;
    bool swap = pf_byte_order_swaps(byte_order);
    bool big_endian = swap != (bool)PF_NATIVE_BIG;
    perfile_event_text e = {.attr_size = ATTR_SIZE};
    size_t n = strcspn(text, ":");
    if (!set_name(&e, text, n, swap))
        return wrong(err, "unknown event name", text, n);
    put(&e, PF_ATTR_SIZE_AT, 4, ATTR_SIZE, swap);
    /* sample_id_all, which perf always sets: kernel records have trailers.  In big-endian attrs
     * the bits of the flags are mirrored. */
    uint64_t all = UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
    put(&e, PF_ATTR_FLAGS_AT, 8,
        big_endian ? UINT64_C(1) << (63 - PERFILE_ATTR_BIT_SAMPLE_ID_ALL) : all, swap);
    for (const char *at = text + n; *at && st == PERFILE_OK; at += n) {
        at++;
        n = strcspn(at, ",");
        st = set(&e, at, n, swap, err);
    }
    if (st == PERFILE_OK && !(pf_load_u64(e.attr + 24, swap)))
        st = pf_fail(err, PERFILE_E_USAGE, "event",
                     "'%.80s' has no sample_type: the fields of its samples are unknown", text);
    if (st == PERFILE_OK)
        *event = e;
    return st;
}
