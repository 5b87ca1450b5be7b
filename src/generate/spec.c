/* Reads a description; see spec.h.
 *
 * A line is divided into words at spaces outside of quotes.  What the words say is in
 * statement.c. */
#include "generate/statement.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "io/source.h"
#include "undump/undump.h"

enum {
    MOST_BYTES = 4 << 20,   /* of a description */
    MOST_LINE = 64 << 10,   /* bytes of a line */
    ARENA_BYTES = 64 << 20, /* for paths and values */
    READ_BYTES = 64 << 10
};

/* The bytes of the description. */

static perfile_status read_all(perfile_source *from, pf_buffer *text, perfile_error *err)
{
    for (;;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(from, text->len, READ_BYTES, &run, err);
        if (st != PERFILE_OK || run.len == 0)
            return st;
        if (text->len + run.len > MOST_BYTES)
            return pf_fail(err, PERFILE_E_LIMIT, "spec", "a description has at most %d MiB",
                           MOST_BYTES >> 20);
        if (!pf_buffer_append(text, run.ptr, run.len))
            return pf_fail_nomem(err, "spec");
    }
}

/* Divides a line into words.  Returns NULL, or what is wrong. */
static const char *divide(pf_statement *s, char *at)
{
    s->n = 0;
    for (;;) {
        at += strspn(at, " \t\r");
        if (!*at || *at == '#')
            return NULL;
        if (s->n == PF_STATEMENT_WORDS)
            return "too many words";
        s->words[s->n++] = at;
        bool quoted = false;
        for (; *at && (quoted || !strchr(" \t\r", *at)); at++) {
            quoted = quoted != (*at == '"');
            at += quoted && *at == '\\' && at[1];
        }
        if (quoted)
            return "a quote is not closed";
        if (*at)
            *at++ = '\0';
    }
}

/* Reads the lines of `text`, which has a NUL at its end and is divided in place. */
static perfile_status read_lines(pf_spec *spec, char *text, size_t len, perfile_error *err)
{
    pf_statement *s = pf_alloc(1, sizeof *s);
    perfile_status st = s ? PERFILE_OK : pf_fail_nomem(err, "spec");
    if (s)
        *s = (pf_statement){.spec = spec, .err = err};
    for (char *end = text + len, *next; st == PERFILE_OK && text < end; text = next) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        next = newline ? newline + 1 : end;
        const size_t n = (size_t)((newline ? newline : end) - text);
        s->line++;
        text[n] = '\0';
        const char *why = n > MOST_LINE       ? "a line of more than 64 KiB"
                          : strlen(text) != n ? "a NUL byte"
                                              : divide(s, text);
        if (why)
            st = pf_spec_fail(s->line, err, "%s", why);
        else if (s->n)
            st = pf_statement_read(s);
    }
    pf_free(s);
    return st;
}

perfile_status pf_spec_read(perfile_source *from, pf_spec **spec, perfile_error *err)
{
    pf_buffer bytes = {0};
    void *text;
    pf_spec *made = pf_alloc(1, sizeof *made);
    if (!made)
        return pf_fail_nomem(err, "spec");
    pf_arena_init(&made->arena, ARENA_BYTES, "spec");
    perfile_status st = read_all(from, &bytes, err);
    if (st == PERFILE_OK)
        st = pf_arena_get(&made->arena, bytes.len + 1, &text, err);
    if (st == PERFILE_OK && bytes.len)
        memcpy(text, bytes.ptr, bytes.len);
    if (st == PERFILE_OK)
        st = read_lines(made, text, bytes.len, err);
    pf_buffer_free(&bytes);
    if (st == PERFILE_OK)
        *spec = made;
    else
        pf_spec_free(made);
    return st;
}

perfile_status pf_spec_kind(perfile_source *from, unsigned *kind, perfile_error *err)
{
    enum { MAP = 0xa0, AFTER_MAP = 0xc0 /* the first byte of an object in CBOR */ };
    perfile_bytes run;
    perfile_status st = pf_source_run(from, 0, 1, &run, err);
    if (st != PERFILE_OK)
        return st;
    const uint8_t first = run.len ? run.ptr[0] : 0;
    *kind = first >= MAP && first < AFTER_MAP ? PF_SPEC_CBOR
            : first == '{'                    ? PF_SPEC_JSON
                                              : PF_SPEC_TEXT;
    return PERFILE_OK;
}

perfile_status pf_generate_dumped(perfile_source *from,
                                  void (*note)(void *user, const perfile_note *note), void *user,
                                  perfile_sink *sink, perfile_error *err)
{
    return pf_undump_to(from, note, user, sink, err);
}

uint32_t pf_spec_form(const pf_spec *spec)
{
    return spec->said.form;
}

uint64_t pf_spec_records(const pf_spec *spec)
{
    return spec->n_records;
}

void pf_spec_free(pf_spec *spec)
{
    if (!spec)
        return;
    pf_free(spec->events.at);
    pf_free(spec->records.at);
    pf_free(spec->features.at);
    pf_arena_free(&spec->arena);
    pf_free(spec);
}
