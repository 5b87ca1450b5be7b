/* Prints a section of the manual page perf.data(5) from the tables in format/: manual SECTION.
 * update.sh puts the sections where they belong, as it does with those of the headers (print.c). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The conditions in the layout that is printed, by the flag that the decoded struct has for each.
 */

enum { MOST_CONDITIONS = 16 };
static struct {
    const char *name, *text;
} conditions[MOST_CONDITIONS];
static unsigned n_conditions;

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Parts of the expressions in the tables that a reader of the page does not need, and words for
 * others. */
static const struct {
    const char *text, *shown;
} shown_as[] = {{" && !c->bad", ""},
                {"!k->no_hw_idx", "(nr or a sample that then ends where its last field does)"},
                {"pf_words_of_bits(o->nbits)", "(nbits + 63) / 64"},
                {"pf_at_least_0_6(o->version)", "version is at least 0.6"},
                {"PF_BUILD_ID_SIZE(size)", "size, or 20 where that is 0"},
                {"PF_GIVEN(has_nr, nr, LEFT / 16)", "nr, else to the end"},
                {"PF_UNTIL_HEADER", "to the end"},
                {"PF_UNTIL_END", "to the end"},
                {"PF_LEFT_UP_TO", "bytes left, at most "},
                {"PF_UP_TO", "at most "},
                {"PF_AT_MOST", "least of "},
                {"k->", ""},
                {"o->", ""},
                {"PERFILE_", ""},
                {"pf_", ""},
                {"(uint64_t)", ""},
                {"LEFT", "bytes left"},
                {"PEEK_U32", "next u32"}};

/* Prints the first name or character of an expression; gives its length. */
static size_t put_token(const char *text)
{
    for (size_t i = 0; i < sizeof shown_as / sizeof shown_as[0]; i++)
        if (strncmp(text, shown_as[i].text, strlen(shown_as[i].text)) == 0) {
            fputs(shown_as[i].shown, stdout);
            return strlen(shown_as[i].text);
        }
    size_t n = 0;
    while (in_word(text[n]))
        n++;
    n = n ? n : 1;
    printf("%.*s", (int)n, text);
    return n;
}

/* The flag that the text begins with: its place in conditions, n_conditions where it is none. */
static unsigned flag_at(const char *text)
{
    size_t n = 0;
    while (in_word(text[n]))
        n++;
    unsigned k = n ? 0 : n_conditions; /* some have no name */
    while (k < n_conditions &&
           (strlen(conditions[k].name) != n || strncmp(conditions[k].name, text, n) != 0))
        k++;
    return k;
}

/* Prints a condition or a length, which is a C expression in the tables.  A flag is printed as its
 * condition.  One level is enough: no condition refers to a flag with a condition that refers to
 * another flag. */
static void put_expression(const char *text)
{
    while (*text) {
        unsigned k = flag_at(text);
        if (k == n_conditions) {
            text += put_token(text);
            continue;
        }
        putchar('(');
        for (const char *inner = conditions[k].text; *inner;)
            inner += put_token(inner);
        putchar(')');
        text += strlen(conditions[k].name);
    }
}

/* roff: a backslash is \e, and a line does not begin with a dot or an apostrophe. */
static void put_text(const char *text)
{
    for (; *text; text++)
        if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
}

static unsigned depth; /* conditions around a field */

static void begin(const char *title, const char *doc)
{
    depth = n_conditions = 0;
    printf(".SS %s\n", title);
    putchar(*doc >= 'a' && *doc <= 'z' ? *doc - 'a' + 'A' : *doc);
    put_text(doc + 1);
    puts(".");
}

static void number(const char *name, long value, const char *source, const char *since,
                   const char *doc)
{
    char title[100], perf[16];
    snprintf(title, sizeof title, "%s (%ld)", name, value);
    begin(title, doc);
    /* "V3_8" is perf 3.8. */
    snprintf(perf, sizeof perf, "%s", since + (*since == 'V'));
    for (char *p = perf; *p; p++)
        if (*p == '_')
            *p = '.';
    printf("Written by %s", *source == 'K' ? "the kernel" : *source == 'P' ? "perf" : "simpleperf");
    if (*since == 'V')
        printf("; known to perf since %s", perf);
    puts(".");
}

static bool has_fields; /* .EX is open */

static void line(void)
{
    if (!has_fields)
        puts(".PP\n.EX");
    has_fields = true;
    printf("%*s", (int)(2 * depth), "");
}

static void end(void)
{
    if (has_fields)
        puts(".EE");
    has_fields = false;
}

static void field(const char *type, const char *name, const char *doc)
{
    line();
    printf("%-8s ", type);
    if (*doc)
        printf("%-*s ", (int)(depth < 8 ? 24 - 2 * depth : 8), name);
    put_text(*doc ? doc : name);
    putchar('\n');
}

static void counted(const char *type, const char *name, const char *count, const char *doc)
{
    line();
    printf("%-8s %s[", type, name);
    put_expression(count);
    fputs("]  ", stdout);
    put_text(doc);
    putchar('\n');
}

static void when(const char *name, const char *condition)
{
    line();
    fputs("if ", stdout);
    put_expression(condition);
    puts(":");
    depth++;
    if (n_conditions < MOST_CONDITIONS) {
        conditions[n_conditions].name = name;
        conditions[n_conditions++].text = condition;
    }
}

static void otherwise(void)
{
    depth--;
    line();
    puts("else:");
    depth++;
}

static void print_samples(void)
{
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    number(#name, value, #source, #since, doc);
#define STRUCT(id, doc) begin("Trailer", doc);
#include "schema/headers/manual.inc"
#include "format/sample.def"
}

static void print_structs(void)
{
#define STRUCT(id, doc) begin("struct " #id, doc);
#include "schema/headers/manual.inc"
#include "format/structs.def"
}

static void print_records(void)
{
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    number(#name, value, #source, #since, doc);
#define STRUCT(id, doc) begin("struct " #id, doc);
#include "schema/headers/manual.inc"
#include "format/records.def"
}

static void print_features(void)
{
#define FEATURE(id, value, name, source, contract, doc) number(#name, value, #source, "", doc);
#define STRUCT(id, doc)                                 begin("struct " #id, doc);
#include "schema/headers/manual.inc"
#include "format/features.def"
}

#define PERFILE_RECORD_SIMPLEPERF 32768

static void print_simpleperf(void)
{
#define RECORD(id, value, name, source, fixed, contract, role, since, marks, doc)                  \
    number(#name, value, #source, #since, doc);
#define STRUCT(id, doc) begin("struct " #id, doc);
#include "schema/headers/manual.inc"
#include "format/simpleperf.def"
}

/* The bits of the words of an attr that decide what a record has, named as conditions name them. */

static void bit(const char *set, const char *of, const char *prefix, const char *id, unsigned shift,
                const char *doc)
{
    char value[64], name[96];
    if (strcmp(of, set) != 0)
        return;
    snprintf(value, sizeof value, "1 << %u", shift);
    snprintf(name, sizeof name, "%s%s", prefix, id);
    field(value, name, doc);
}

static void bits(const char *set, const char *prefix)
{
    printf(".SS %s\n", set);
#define BITS(of, id, shift, width, values, name, doc) bit(set, #of, prefix, #id, shift, doc);
#include "format/words.def"
    end();
}

static void print_bits(void)
{
    bits("attr_flags", "");
    bits("sample_type", "SAMPLE_");
    bits("read_format", "FORMAT_");
    bits("branch_sample_type", "BRANCH_");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } sections[] = {{"structs", print_structs},       {"samples", print_samples},
                    {"records", print_records},       {"features", print_features},
                    {"simpleperf", print_simpleperf}, {"bits", print_bits}};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (argc == 2 && strcmp(argv[1], sections[i].name) == 0) {
            sections[i].print();
            return ferror(stdout) != 0;
        }
    }
    fprintf(stderr, "usage: manual SECTION\n");
    return 2;
}
