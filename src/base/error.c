/* Fills in perfile_error.  Also has the texts of statuses and kinds of damage, and the version of
 * the library. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perfile/damage.h"
#include "base/command.h"

enum {
    LONGEST = 4608, /* bytes of a message before it is shortened; a path has at most 4096 */
    REASON = 256    /* bytes of these for the text of errno */
};

static bool continues_character(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* Copies a message.  A message that is too long loses its middle, where the names are: its
 * beginning says what happened, its end says why.  No UTF-8 character is cut. */
static void put_message(char *out, size_t size, const char *text, size_t n)
{
    static const char dots[] = "\xe2\x80\xa6"; /* U+2026 */
    if (n < size) {
        memcpy(out, text, n + 1);
        return;
    }
    const size_t room = size - sizeof dots; /* without the dots and the NUL */
    size_t head = room / 2, tail = n - (room - head);
    while (head && continues_character(text[head]))
        head--;
    while (tail < n && continues_character(text[tail]))
        tail++;
    memcpy(out, text, head);
    memcpy(out + head, dots, sizeof dots - 1);
    memcpy(out + head + sizeof dots - 1, text + tail, n - tail + 1);
}

/* Overwrites all of *err (may be NULL).  If `sys`, an errno, is not 0, its text is appended to the
 * message.  Returns `status`. */
static perfile_status fill_error(perfile_error *err, perfile_status status, int sys,
                                 const char *where, const char *format, va_list args)
    __attribute__((format(printf, 5, 0)));

static perfile_status fill_error(perfile_error *err, perfile_status status, int sys,
                                 const char *where, const char *format, va_list args)
{
    if (!err)
        return status;
    memset(err, 0, sizeof *err);
    err->status = status;
    err->sys = sys;
    err->offset = PERFILE_NO_OFFSET;
    err->where = where;
    char text[LONGEST];
    int n = vsnprintf(text, sizeof text, format, args);
    if (n < 0)
        return status;
    if (n > LONGEST - REASON) {
        for (n = LONGEST - REASON; n && continues_character(text[n]);)
            n--;
        text[n] = '\0';
    }
    if (sys)
        snprintf(text + n, REASON, ": %s", strerror(sys));
    put_message(err->message, sizeof err->message, text, strlen(text));
    return status;
}

perfile_status pf_fail(perfile_error *err, perfile_status status, const char *where,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill_error(err, status, 0, where, format, args);
    va_end(args);
    return status;
}

perfile_status pf_fail_nomem(perfile_error *err, const char *where)
{
    return pf_fail(err, PERFILE_E_NOMEM, where, "out of memory");
}

perfile_status pf_fail_damage(perfile_error *err, unsigned damage, const char *where,
                              uint64_t offset)
{
    perfile_status st = pf_damage_status(damage);
    if (err) {
        pf_fail(err, st, where, "%s", pf_damage_text(damage));
        err->damage = (uint16_t)damage;
        err->offset = offset;
    }
    return st;
}

perfile_status pf_fail_io(perfile_error *err, int sys, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill_error(err, PERFILE_E_IO, sys, where, format, args);
    va_end(args);
    return PERFILE_E_IO;
}

void pf_error_at(perfile_error *err, uint64_t offset)
{
    /* The innermost caller knows best, and it is the first to set the offset. */
    if (err && err->offset == PERFILE_NO_OFFSET)
        err->offset = offset;
}

const char *pf_status_text(perfile_status status)
{
    switch (status) {
    case PERFILE_OK:
        return "done";
    case PERFILE_END:
        return "end of input";
    case PERFILE_E_NOMEM:
        return "out of memory";
    case PERFILE_E_IO:
        return "input or output failed";
    case PERFILE_E_TRUNCATED:
        return "truncated input";
    case PERFILE_E_CORRUPT:
        return "corrupt input";
    case PERFILE_E_UNSUPPORTED:
        return "not supported";
    case PERFILE_E_LIMIT:
        return "over a limit";
    case PERFILE_E_USAGE:
        return "wrong usage";
    }
    return "unknown status";
}

/* Two steps, so that a macro argument is expanded before it becomes a string. */
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *pf_version(void)
{
    return TEXT(PERFILE_VERSION_MAJOR) "." TEXT(PERFILE_VERSION_MINOR) "." TEXT(
        PERFILE_VERSION_PATCH);
}

/* Names, texts and statuses of the kinds of damage, from format/damage.def. */

typedef struct pf_damage_row {
    const char *name;
    const char *text;
    perfile_status status;
} pf_damage_row;

static const pf_damage_row rows[PERFILE_N_DAMAGES] = {
    {"", "", PERFILE_E_CORRUPT}, /* for 0, and for numbers that are no damage */
#define DAMAGE(id, number, name, status, text) [number] = {name, text, PERFILE_E_##status},
#include "perfile/format/damage.def"
};

static const pf_damage_row *row(unsigned damage)
{
    return &rows[damage < PERFILE_N_DAMAGES ? damage : 0];
}

const char *pf_damage_name(unsigned damage)
{
    return row(damage)->name;
}

const char *pf_damage_text(unsigned damage)
{
    return row(damage)->text;
}

perfile_status pf_damage_status(unsigned damage)
{
    return row(damage)->status;
}
