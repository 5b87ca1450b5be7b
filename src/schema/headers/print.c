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
        commented("    uint64_t present;", "what is there: bits of sample_type");
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

#define KNOWN(known, shift) known |= UINT64_C(1) << (shift)
#define BIT_sample_type(id, shift, doc)                                                            \
    bit("PERFILE_SAMPLE_", #id, shift, false, doc);                                                \
    KNOWN(sample_known, shift);
#define BIT_read_format(id, shift, doc)                                                            \
    bit("PERFILE_FORMAT_", #id, shift, false, doc);                                                \
    KNOWN(read_known, shift);
#define BIT_branch_sample_type(id, shift, doc)                                                     \
    bit("PERFILE_BRANCH_", #id, shift, false, doc);                                                \
    KNOWN(branch_known, shift);
#define BIT_attr_flags(id, shift, doc) bit("PERFILE_ATTR_BIT_", #id, shift, true, doc);
#define BIT_branch_flags(id, shift, doc)
#define BIT_data_src(id, shift, doc)
#define BIT_mem_op(id, shift, doc)
#define BIT_mem_lvl(id, shift, doc)
#define BIT_mem_snoop(id, shift, doc)
#define BIT_mem_lock(id, shift, doc)
#define BIT_mem_tlb(id, shift, doc)
#define BIT_mem_snoopx(id, shift, doc)
#define BIT_mem_blk(id, shift, doc)
#define BIT_transaction(id, shift, doc)
#define BIT_bp_type(id, shift, doc)
#define BIT_aux_action(id, shift, doc)
#define BIT_aux_flags(id, shift, doc)
#define BIT_prot(id, shift, doc)
#define BIT_map_flags(id, shift, doc)
#define BIT_ksym_flags(id, shift, doc)
#define BIT_perfmon_flags(id, shift, doc)

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
#define BITS(set, id, shift, width, values, name, doc) BIT_##set(id, shift, doc)
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

/* Functions. */

static void decoder(const char *id, const char *of, const char *name)
{
    printf("PERFILE_API perfile_status perfile_%s_decode(const perfile_%s *%s, perfile_%s *out,\n"
           "    size_t size, perfile_error *err);\n",
           id, of, name, id);
}

static void next(const char *id)
{
    printf("PERFILE_API perfile_status perfile_%s_next(perfile_list *list, perfile_%s *out,\n"
           "    size_t size);\n",
           id, id);
}

static void list(const char *id)
{
    printf("PERFILE_API perfile_list perfile_%s_list(const perfile_%s *items, size_t n,\n"
           "    size_t size);\n",
           id, id);
}

static void encoder(const char *id)
{
    printf("PERFILE_API perfile_status perfile_%s_encode(const perfile_%s *in, size_t size,\n"
           "    const perfile_encode_options *how, void *out, size_t room, size_t *len,\n"
           "    perfile_error *err);\n",
           id, id);
}

static void setter(const char *id)
{
    printf("PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_set_%s(perfile_writer *w,\n"
           "    const perfile_%s *in, size_t size, perfile_error *err);\n",
           id, id);
}

static void putter(const char *id)
{
    printf("PERFILE_API PERFILE_MUST_USE perfile_status perfile_writer_put_%s(perfile_writer *w,\n"
           "    const perfile_%s *in, size_t size, const perfile_put_options *how, "
           "perfile_error *err);\n",
           id, id);
}

static void print_decoders(void)
{
#define STRUCT(id, doc) next(#id);
#include "format/structs.def"
#define STRUCT(id, doc)                                 next(#id);
#define FEATURE(id, value, name, source, contract, doc) decoder(#id, "feature", "feature");
#include "format/features.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    decoder(#id, "record", "record");
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    decoder(#id, "record", "record");
#include "format/records.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    decoder(#id, "record", "record");
#include "format/simpleperf.def"
}

static void print_encoders(void)
{
#define STRUCT(id, doc) list(#id);
#include "format/structs.def"
#define STRUCT(id, doc)                                 list(#id);
#define FEATURE(id, value, name, source, contract, doc) encoder(#id);
#include "format/features.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc) encoder(#id);
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc) encoder(#id);
#include "format/records.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc) encoder(#id);
#include "format/simpleperf.def"
}

static void print_setters(void)
{
#define FEATURE(id, value, name, source, contract, doc) setter(#id);
#include "format/features.def"
}

static void print_putters(void)
{
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc) putter(#id);
#include "format/sample.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc) putter(#id);
#include "format/records.def"
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc) putter(#id);
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
        {"putters", print_putters},
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
