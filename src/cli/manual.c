/* The OPTIONS section of a manual page as roff, made of the option table.  man/update.sh inserts it
 * into the pages.
 *
 * The texts of the table have no markup.  Option names ("--by") and words that the option accepts
 * are recognized and printed bold, the placeholder of the value ("KEY") italic. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/print.h"
#include "cli/spec.h"

enum { WIDTH = 110 }; /* columns of a line of roff source, without markup */

/* A line of roff that is filled word by word. */
typedef struct line {
    char text[4 * WIDTH];
    size_t used; /* bytes in `text` */
    size_t wide; /* columns without markup */
} line;

/* Prints the line, if there is something in it. */
static void end_line(line *l)
{
    if (!l->used)
        return;
    cli_print_help(false, l->text);
    cli_print_help(false, "\n");
    l->used = l->wide = 0;
}

/* Adds roff source; what does not fit into the buffer is left out. */
static void add_raw(line *l, const char *text)
{
    int n = snprintf(l->text + l->used, sizeof l->text - l->used, "%s", text);
    l->used += n > 0 && l->used + (size_t)n < sizeof l->text ? (size_t)n : 0;
}

/* Adds plain text: backslashes and dashes are escaped (an unescaped dash is a hyphen), and so is a
 * dot or apostrophe at the start of a line, where it would begin a request. */
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

/* Adds text in font B (bold) or I (italic), and returns to roman. */
static void add_font(line *l, char font, const char *text, size_t n)
{
    const char begin[] = {'\\', 'f', font, '\0'};
    add_raw(l, begin);
    add_escaped(l, text, n);
    add_raw(l, "\\fR");
}

/* True if `text` is one of the words that the option accepts. */
static bool is_word_of(const cli_option *o, const char *text, size_t n)
{
    const char *word;
    for (size_t i = 0; o->word && (word = o->word(i)); i++)
        if (strlen(word) == n && memcmp(word, text, n) == 0)
            return true;
    return false;
}

/* True if `text` is a name in capitals from the option's value placeholder: "KEY" in
 * "KEY[,KEY ...]". */
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

/* Adds one word of a text.  Punctuation around it is split off, so that "--by," is recognized. */
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

/* Prints the sentence of --help as a full sentence, with capital and full stop, and the further
 * sentences behind it.  The first word keeps its case if it is a word of the option, or the name of
 * something that is explained ("stop: …", "little, big …"). */
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

/* Prints one option: a tagged paragraph with its names, the value, and the text. */
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
