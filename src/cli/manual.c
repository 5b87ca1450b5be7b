/* The OPTIONS of a manual page, made of the table of options: man/update.sh puts them there.
 *
 * The texts of the table have no markup.  Names of options and words that the option takes become
 * bold, the name of its value italic. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/print.h"
#include "cli/spec.h"

enum { WIDTH = 110 };

/* A line of roff that is filled word by word. */
typedef struct line {
    char text[4 * WIDTH];
    size_t used; /* bytes */
    size_t wide; /* without markup */
} line;

static void end_line(line *l)
{
    if (!l->used)
        return;
    cli_print_help(false, l->text);
    cli_print_help(false, "\n");
    l->used = l->wide = 0;
}

static void add_raw(line *l, const char *text)
{
    int n = snprintf(l->text + l->used, sizeof l->text - l->used, "%s", text);
    l->used += n > 0 && l->used + (size_t)n < sizeof l->text ? (size_t)n : 0;
}

/* As roff shows it: no escape, no dash that is a hyphen, and at the start of a line no request. */
static void add_escaped(line *l, const char *text, size_t n)
{
    if (l->used == 0 && n && (text[0] == '.' || text[0] == '\''))
        add_raw(l, "\\&");
    for (size_t i = 0; i < n; i++) {
        const char one[] = {text[i], '\0'};
        if (strncmp(text + i, "…", 3) == 0) { /* three bytes, which not every roff takes */
            add_raw(l, "...");
            i += 2;
            continue;
        }
        add_raw(l, text[i] == '\\' ? "\\e" : text[i] == '-' ? "\\-" : one);
    }
}

static void add_font(line *l, char font, const char *text, size_t n)
{
    const char begin[] = {'\\', 'f', font, '\0'};
    add_raw(l, begin);
    add_escaped(l, text, n);
    add_raw(l, "\\fR");
}

static bool is_word_of(const cli_option *o, const char *text, size_t n)
{
    const char *word;
    for (size_t i = 0; o->word && (word = o->word(i)); i++)
        if (strlen(word) == n && memcmp(word, text, n) == 0)
            return true;
    return false;
}

/* Whether `text` is a name in `value`: "KEY" of "KEY[,KEY ...]". */
static bool is_value_of(const cli_option *o, const char *text, size_t n)
{
    const char *at = o->value;
    while (at && n && isupper((unsigned char)text[0]) && *at) {
        size_t len = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (len == n && memcmp(at, text, n) == 0)
            return true;
        at += len ? len : 1;
    }
    return false;
}

/* One word of a text with the punctuation around it. */
static void add_word(line *l, const cli_option *o, const char *text, size_t n)
{
    size_t head = 0, tail = n;
    while (head < n && strchr("(`\"", text[head]))
        head++;
    while (tail > head && strchr(").,;:`\"", text[tail - 1]))
        tail--;
    const char *core = text + head;
    const size_t len = tail - head;
    if (l->used && l->wide + 1 + n > WIDTH)
        end_line(l);
    add_raw(l, l->used ? " " : "");
    l->wide += n + 1;
    add_escaped(l, text, head);
    if ((len > 2 && strncmp(core, "--", 2) == 0) || is_word_of(o, core, len))
        add_font(l, 'B', core, len);
    else if (is_value_of(o, core, len))
        add_font(l, 'I', core, len);
    else
        add_escaped(l, core, len);
    add_escaped(l, text + tail, n - tail);
}

static void add_words(line *l, const cli_option *o, const char *text)
{
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        add_word(l, o, text, n);
    }
}

/* The sentence of --help, with a capital and a full stop, and the sentences behind it. */
static void print_text(const cli_option *o)
{
    char sentence[1024];
    line l = {.used = 0};
    int n = snprintf(sentence, sizeof sentence, "%s.", o->help);
    const size_t first = strcspn(sentence, " ,:;");
    if (n > 0 && (size_t)n < sizeof sentence && sentence[first] != ':' && sentence[first] != ',' &&
        !is_word_of(o, sentence, first))
        sentence[0] = (char)toupper((unsigned char)sentence[0]);
    add_words(&l, o, sentence);
    end_line(&l);
    if (o->more)
        add_words(&l, o, o->more);
    end_line(&l);
}

static void print_option(const cli_option *o)
{
    char name[48];
    line l = {.used = 0};
    cli_print_help(false, ".TP\n");
    if (o->letter) {
        const char letter[] = {'-', o->letter, '\0'};
        add_font(&l, 'B', letter, 2);
        add_raw(&l, ", ");
    }
    int n = snprintf(name, sizeof name, "--%s", o->name);
    add_font(&l, 'B', name, n > 0 ? (size_t)n : 0);
    if (o->value) {
        add_raw(&l, o->value[0] == '[' ? "" : " ");
        add_font(&l, 'I', o->value, strlen(o->value));
    }
    end_line(&l);
    print_text(o);
}

void cli_manual(const cli_spec *spec)
{
    cli_rows rows = cli_rows_of(spec);
    for (const cli_option *o; (o = cli_next_row(&rows));) {
        if (o->heading && o->heading[0]) {
            line l = {.used = 0};
            add_raw(&l, ".SS ");
            add_escaped(&l, o->heading, strcspn(o->heading, ":"));
            end_line(&l);
        } else if (o->help) {
            print_option(o);
        }
    }
}
