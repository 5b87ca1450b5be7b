/* Prints a section of the public headers as it is made of the tables of format/: print SECTION.
 * update.sh beside it puts the sections where they belong, so that a person, a debugger and a
 * binding generator read the headers as they stand. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, MOST_DEPTH = 16 };

/* Members of a struct, kept until its end: where there is ROOM, its flags come first. */

enum { MOST_MEMBERS = 128 };
static struct {
    char line[200], comment[600];
    bool is_flag;
} members[MOST_MEMBERS];
static unsigned n_members;
static bool has_room;

/* What a member is under: has_… members and bits of sample_type, innermost last. */
static const char *under[MOST_DEPTH];
static unsigned depth;

static void push(const char *what)
{
    if (depth < MOST_DEPTH)
        under[depth] = what;
    depth++;
}

static void pop(void)
{
    depth--;
}

/* `line` with a comment behind it, or above it where both are too long for a line. */
static void commented(const char *line, const char *comment)
{
    const size_t indent = strspn(line, " ");
    size_t used = indent + 2;
    if (!*comment) {
        puts(line);
        return;
    }
    if (strlen(line) + strlen(comment) + 7 <= WIDTH) {
        printf("%s /* %s */\n", line, comment);
        return;
    }
    printf("%*s/*", (int)indent, "");
    while (*comment) {
        size_t n = strcspn(comment, " ");
        if (used + n + 1 > WIDTH - 3) {
            printf("\n%*s *", (int)indent, "");
            used = indent + 2;
        }
        printf(" %.*s", (int)n, comment);
        used += n + 1;
        comment += n + strspn(comment + n, " ");
    }
    printf(" */\n%s\n", line);
}

static void keep(bool is_flag, const char *line, const char *comment)
{
    if (n_members == MOST_MEMBERS) {
        fprintf(stderr, "print: more than %d members\n", MOST_MEMBERS);
        exit(1);
    }
    members[n_members].is_flag = is_flag;
    snprintf(members[n_members].line, sizeof members->line, "%s", line);
    snprintf(members[n_members++].comment, sizeof members->comment, "%s", comment);
}

static void member_or_flag(bool is_flag, const char *type, const char *name, const char *doc)
{
    char line[200], comment[600];
    const char *only = depth ? under[depth - 1] : NULL;
    snprintf(line, sizeof line, "    %s %s;", type, name);
    snprintf(comment, sizeof comment, "%s%s%s", doc, only ? "; with " : "", only ? only : "");
    keep(is_flag, line, comment);
}

static void member(const char *type, const char *name, const char *doc)
{
    member_or_flag(false, type, name, doc);
}

static void flag(const char *name, const char *doc)
{
    member_or_flag(true, "bool", name, doc);
}

/* Words and flags that later members take.  Fewer than none left: an array that no compiler takes.
 */
static void room(const char *name, int words, int flags)
{
    char line[200];
    has_room = true;
    snprintf(line, sizeof line, "    uint64_t %s[%d];", name, words);
    if (words)
        keep(false, line, "0; for later members");
    snprintf(line, sizeof line, "    bool %s_flags[%d];", name, flags);
    if (flags)
        keep(true, line, "false; for later members");
}

static void print_members(bool flags, bool others)
{
    for (unsigned i = 0; i < n_members; i++)
        if (members[i].is_flag ? flags : others)
            commented(members[i].line, members[i].comment);
}

static void begin(const char *id, const char *doc)
{
    char line[200], comment[600];
    const bool sample = strcmp(id, "sample") == 0 || strcmp(id, "sample_id") == 0;
    depth = n_members = 0;
    has_room = false;
    snprintf(line, sizeof line, "typedef struct perfile_%s {", id);
    snprintf(comment, sizeof comment, "%s.", doc);
    if (*comment >= 'a' && *comment <= 'z')
        *comment += 'A' - 'a';
    /* Always above. */
    size_t n = strlen(comment);
    if (strlen(line) + n + 7 <= WIDTH)
        printf("/* %s */\n%s\n", comment, line);
    else
        commented(line, comment);
    if (sample)
        commented("    uint64_t present;",
                  "which fields are present: bits of sample_type, without those of weights");
    else
        commented("    uint32_t reserved0;", "0");
}

static void end(const char *id)
{
    if (has_room)
        print_members(true, false);
    print_members(!has_room, true);
    printf("} perfile_%s;\n\n", id);
}

#define TYPE_u8      "uint8_t"
#define TYPE_u16     "uint16_t"
#define TYPE_u32     "uint32_t"
#define TYPE_u64     "uint64_t"
#define TYPE_s32     "int32_t"
#define TYPE_s64     "int64_t"
#define TYPE_string  "perfile_bytes"
#define TYPE_cstr    "perfile_bytes"
#define WORDS_u16    "perfile_words"
#define WORDS_u32    "perfile_words"
#define WORDS_s32    "perfile_words"
#define WORDS_u64    "perfile_words"
#define WORDS_ulong  "perfile_words"
#define WORDS_string "perfile_strings"

static void print_structs(void)
{
#include "schema/headers/structs.inc"
#include "format/structs.def"
#include "schema/headers/structs.inc"
#include "format/sample.def"
#include "schema/headers/structs.inc"
#include "format/records.def"
#include "schema/headers/structs.inc"
#include "format/simpleperf.def"
#include "schema/headers/structs.inc"
#include "format/features.def"
}

/* Enumerators. */

static void number(const char *prefix, const char *name, long value, const char *doc)
{
    char line[200];
    snprintf(line, sizeof line, "    %s%s = %ld,", prefix, name, value);
    commented(line, doc);
}

/* Enumerators are ints: a bit above 30 is a macro. */
static void mask(const char *prefix, const char *name, uint64_t value)
{
    if (value <= INT32_MAX)
        printf("    %s%s = 0x%llx,\n", prefix, name, (unsigned long long)value);
    else
        printf("#define %s%s UINT64_C(0x%llx)\n", prefix, name, (unsigned long long)value);
}

static void bit(const char *prefix, const char *name, unsigned shift, bool is_number,
                const char *doc)
{
    char line[200];
    if (!is_number && shift > 30) {
        printf("#define %s%s (UINT64_C(1) << %u)\n", prefix, name, shift);
        return;
    }
    snprintf(line, sizeof line, is_number ? "    %s%s = %u," : "    %s%s = 1 << %u,", prefix, name,
             shift);
    commented(line, doc);
}

/* Bits of each set that the tables know. */
static uint64_t sample_known, read_known, branch_known;

/* Sets with a prefix of their own; others have PERFILE_SET_. */
static const struct {
    const char *set, *prefix;
    uint64_t *known; /* NULL: numbers of bits */
} own_prefix[] = {{"sample_type", "PERFILE_SAMPLE_", &sample_known},
                  {"read_format", "PERFILE_FORMAT_", &read_known},
                  {"branch_sample_type", "PERFILE_BRANCH_", &branch_known},
                  {"attr_flags", "PERFILE_ATTR_BIT_", NULL}};

enum { N_OWN_PREFIX = sizeof own_prefix / sizeof own_prefix[0] };

static size_t own_prefix_of(const char *set)
{
    size_t i = 0;
    while (i < N_OWN_PREFIX && strcmp(own_prefix[i].set, set) != 0)
        i++;
    return i;
}

static void bit_of(const char *set, const char *id, unsigned shift, const char *doc)
{
    const size_t i = own_prefix_of(set);
    if (i == N_OWN_PREFIX)
        return;
    bit(own_prefix[i].prefix, id, shift, !own_prefix[i].known, doc);
    if (own_prefix[i].known)
        *own_prefix[i].known |= UINT64_C(1) << shift;
}

/* "mem_op" to "PERFILE_MEM_OP_". */
static void prefix_of(const char *set, char prefix[64])
{
    snprintf(prefix, 64, "PERFILE_%s_", set);
    for (char *p = prefix; *p; p++)
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
}

/* A bit, or the position of a part of several bits. */
static void part_of(const char *set, const char *id, unsigned shift, unsigned width,
                    const char *doc)
{
    char prefix[64], name[64];
    if (own_prefix_of(set) < N_OWN_PREFIX)
        return;
    prefix_of(set, prefix);
    if (width == 1) {
        bit(prefix, id, shift, false, doc);
        return;
    }
    snprintf(name, sizeof name, "%s_SHIFT", id);
    number(prefix, name, (long)shift, doc);
    snprintf(name, sizeof name, "%s_WIDTH", id);
    number(prefix, name, (long)width, "");
}

static void value_of(const char *set, const char *id, uint64_t value, const char *doc)
{
    char prefix[64];
    prefix_of(set, prefix);
    if (value <= INT32_MAX)
        number(prefix, id, (long)value, doc);
    else
        printf("#define %s%s UINT64_C(0x%llx)\n", prefix, id, (unsigned long long)value);
}

static void print_words(void)
{
#define BITS(set, id, shift, width, values, name, doc) part_of(#set, #id, shift, width, doc);
#define ENUM(set, id, value, name, doc)                value_of(#set, #id, (uint64_t)(value), doc);
#include "format/words.def"
#define REG(arch, bit, name) value_of("reg_" #arch, name, bit, "");
#include "format/regs.def"
}

/* Bytes of an attr that has all members: of two that are told apart by a flag, one counts. */
static long attr_size(void)
{
    enum {
        BYTES_u8 = 1,
        BYTES_u16 = 2,
        BYTES_u32 = 4,
        BYTES_s32 = 4,
        BYTES_u64 = 8,
        BYTES_s64 = 8
    };
    enum { BYTES_string = 0, BYTES_cstr = 0 };
    long bytes = 0;
    bool is_attr = false, counts = true;
#define STRUCT(id, doc)                  is_attr = strcmp(#id, "attr") == 0;
#define FIELD(id, type, name, kind, doc) bytes += is_attr && counts ? BYTES_##type : 0;
#define ATTR(id, type, name, kind, doc)  FIELD(id, type, name, kind, doc)
#define ELSE(id, name)                   counts = false;
#define END_WHEN(id)                     counts = true;
#include "format/structs.def"
    return bytes;
}

static void print_bits(void)
{
#define BITS(set, id, shift, width, values, name, doc) bit_of(#set, #id, shift, doc);
#include "format/words.def"
    long bits = 0;
    while (bits < 64 && sample_known >> bits)
        bits++;
    number("PERFILE_SAMPLE_", "BITS", bits, "of sample_type that have a row in format/words.def");
    mask("PERFILE_SAMPLE_", "KNOWN", sample_known);
    mask("PERFILE_FORMAT_", "KNOWN", read_known);
    mask("PERFILE_BRANCH_", "KNOWN", branch_known);
    number("PERFILE_ATTR_", "SIZE", attr_size(), "bytes of an attr with all members of the tables");
}

static void print_records(void)
{
#define NUMBER(name, value, doc) number("PERFILE_RECORD_", #name, value, doc);
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    NUMBER(name, value, doc)
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    NUMBER(name, value, doc)
#include "format/records.def"
#define PERFILE_RECORD_SIMPLEPERF 32768
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    NUMBER(name, value, doc)
#include "format/simpleperf.def"
}

static void print_features(void)
{
#define FEATURE(id, value, name, source, contract, doc)                                            \
    number("PERFILE_FEATURE_", #name, value, doc);
#include "format/features.def"
}

static void print_damage(void)
{
#define DAMAGE(id, value, name, status, text) number("PERFILE_DAMAGE_", #id, value, text);
#include "format/damage.def"
}

static void print_rules(void)
{
#define RULE(id, name, severity, lesser, where, sentence, why, effect)                             \
    number("PERFILE_RULE_", #id, (unsigned)strtoul(name + strlen("V-"), NULL, 10), sentence);
#include "format/rules.def"
}

static void print_kinds(void)
{
    long n = 0;
#define KIND(id, value, name, base, words, doc)                                                    \
    number("PERFILE_KIND_", #id, value, doc);                                                      \
    n++;
#include "format/kinds.def"
    number("PERFILE_N_", "KINDS", n, "of this version");
}

/* FNV-1a of the name, in 31 bits: the number of a struct does not depend on what other structs
 * there are, nor on their order.  If two had the same, schema/decode.c would not compile. */
static void list_number(const char *id)
{
    uint32_t hash = 0x811c9dc5;
    for (const char *p = id; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 0x01000193;
    number("PERFILE_LIST_", id, (long)(hash & INT32_MAX), "");
}

static void print_lists(void)
{
#define STRUCT(id, doc) list_number(#id);
#include "format/structs.def"
#define STRUCT(id, doc) list_number(#id);
#include "format/features.def"
}

/* Functions: one line or two of C each, which call the function that knows all types. */

/* `head` is the declaration; `call` its body. */
static void function(const char *head, const char *call)
{
    printf("static inline perfile_status %s\n{\n    return %s;\n}\n", head, call);
}

static void decoder(const char *id, const char *name, bool is_feature)
{
    char head[300], call[300];
    const char *of = is_feature ? "feature" : "record";
    snprintf(head, sizeof head,
             "perfile_%s_decode(const perfile_%s *%s, perfile_%s *out,\n"
             "    size_t size, perfile_error *err)",
             id, of, of, id);
    snprintf(call, sizeof call, "perfile_decode%s(%s, PERFILE_%s_%s, out, size, err)",
             is_feature ? "_feature" : "", of, is_feature ? "FEATURE" : "RECORD", name);
    function(head, call);
}

static void next(const char *id)
{
    char head[300], call[300];
    snprintf(head, sizeof head, "perfile_%s_next(perfile_list *list, perfile_%s *out, size_t size)",
             id, id);
    snprintf(call, sizeof call, "perfile_next(list, PERFILE_LIST_%s, out, size)", id);
    function(head, call);
}

static void list(const char *id)
{
    printf("static inline perfile_list perfile_%s_list(const perfile_%s *items, size_t n, size_t "
           "size)\n"
           "{\n    return perfile_list_of(items, n, size);\n}\n",
           id, id);
}

static void encoder(const char *id, const char *name, bool is_feature)
{
    char head[300], call[300];
    snprintf(head, sizeof head,
             "perfile_%s_encode(const perfile_%s *in, size_t size,\n"
             "    const perfile_encode_options *how, void *out, size_t room, size_t *len,\n"
             "    perfile_error *err)",
             id, id);
    snprintf(call, sizeof call, "perfile_encode(%s_%s, in, size, how, out, room, len, err)",
             is_feature ? "PERFILE_TYPE_FEATURE + (uint32_t)PERFILE_FEATURE" : "PERFILE_RECORD",
             name);
    function(head, call);
}

static void setter(const char *id, const char *name)
{
    char head[300], call[300];
    snprintf(head, sizeof head,
             "perfile_writer_set_%s(perfile_writer *w, const perfile_%s *in, size_t size,\n"
             "    perfile_error *err)",
             id, id);
    snprintf(call, sizeof call, "perfile_writer_set(w, PERFILE_FEATURE_%s, in, size, err)", name);
    printf("PERFILE_MUST_USE ");
    function(head, call);
}

static void putter(const char *id, const char *name)
{
    char head[300], call[300];
    snprintf(head, sizeof head,
             "perfile_writer_put_%s(perfile_writer *w, const perfile_%s *in, size_t size,\n"
             "    const perfile_put_options *how, perfile_error *err)",
             id, id);
    snprintf(call, sizeof call,
             "perfile_writer_put_struct(w, PERFILE_RECORD_%s, in, size, how, err)", name);
    printf("PERFILE_MUST_USE ");
    function(head, call);
}

static void print_decoders(void)
{
#define STRUCT(id, doc) next(#id);
#include "format/structs.def"
#define STRUCT(id, doc)                                 next(#id);
#define FEATURE(id, value, name, source, contract, doc) decoder(#id, #name, true);
#include "format/features.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    decoder(#id, #name, false);
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    decoder(#id, #name, false);
#include "format/records.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    decoder(#id, #name, false);
#include "format/simpleperf.def"
}

static void print_encoders(void)
{
#define STRUCT(id, doc) list(#id);
#include "format/structs.def"
#define STRUCT(id, doc)                                 list(#id);
#define FEATURE(id, value, name, source, contract, doc) encoder(#id, #name, true);
#include "format/features.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    encoder(#id, #name, false);
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    encoder(#id, #name, false);
#include "format/records.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    encoder(#id, #name, false);
#include "format/simpleperf.def"
}

static void print_setters(void)
{
#define FEATURE(id, value, name, source, contract, doc) setter(#id, #name);
#include "format/features.def"
}

static void print_putters(void)
{
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    putter(#id, #name);
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    putter(#id, #name);
#include "format/records.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    putter(#id, #name);
#include "format/simpleperf.def"
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } sections[] = {
        {"bits", print_bits},         {"record numbers", print_records},
        {"damage", print_damage},     {"feature numbers", print_features},
        {"rules", print_rules},       {"kinds", print_kinds},
        {"structs", print_structs},   {"decoders", print_decoders},
        {"encoders", print_encoders}, {"setters", print_setters},
        {"putters", print_putters},   {"lists", print_lists},
        {"words", print_words},
    };
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (argc == 2 && strcmp(argv[1], sections[i].name) == 0) {
            sections[i].print();
            return ferror(stdout) != 0;
        }
    }
    fprintf(stderr, "usage: print SECTION\n");
    return 2;
}
