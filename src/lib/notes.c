/* Counting notes, and the sentences that report them.
 *
 * A note is counted under (kind, number, damage), where number is a record type or a feature.  The
 * sentence is put together at the end: subject() makes the first %s of the kind's format ("3
 * records of type 200"), reason() the second (" (the first at offset 4096: …)"). */
#include "lib/copy.h"

#include <inttypes.h>
#include <stdio.h>

#include "perfile/damage.h"
#include "perfile/field.h"
#include "core/stream.h"

static const struct {
    const char *name;     /* in JSON */
    const char *sentence; /* two %s: the subject, and the reason or "" */
    bool loss;            /* something of the input is missing in the output */
} kinds[PERFILE_N_NOTES] = {
    [PERFILE_NOTE_RECORDS_LEFT_OUT] = {"records-left-out", "%s left out%s", true},
    [PERFILE_NOTE_RECORDS_KEPT] = {"records-kept",
                                   "%s kept as stored, no table describes that type%s", false},
    [PERFILE_NOTE_RECORDS_BROKEN] = {"records-broken", "%s rewritten as far as can be read%s",
                                     false},
    [PERFILE_NOTE_RECORDS_CUT] = {"records-cut", "%s left out%s", true},
    [PERFILE_NOTE_FEATURE_LEFT_OUT] = {"feature-left-out", "%s left out%s", true},
    [PERFILE_NOTE_FEATURE_KEPT] = {"feature-kept", "%s kept as stored, no table describes it%s",
                                   false},
    [PERFILE_NOTE_FEATURE_BROKEN] = {"feature-broken", "%s cannot be read%s", false},
    [PERFILE_NOTE_FEATURE_NO_PLACE] = {"feature-no-place",
                                       "%s left out: a pipe has no place for it%s", true},
    [PERFILE_NOTE_EVENT_BROKEN] = {"event-broken", "%s rewritten as far as can be read%s", false},
    [PERFILE_NOTE_DAMAGE] = {"damage", "%s%s", true},
    [PERFILE_NOTE_BYTES_LEFT_OUT] = {"bytes-left-out",
                                     "%s between or behind the parts of the file left out%s", true},
    [PERFILE_NOTE_ROUNDS_LEFT_OUT] = {"rounds-left-out",
                                      "%s left out: they are not true of several files in one%s",
                                      true},
    [PERFILE_NOTE_PARTS] = {"parts",
                            "%s one after the other: the records are not in order of time%s",
                            false},
    /* The next five are reported at once with a text of their own, and never counted here. */
    [PERFILE_NOTE_TARGET] = {"target", "%s%s", true},
    [PERFILE_NOTE_NOT_RECORDED] = {"unsaid", "%s%s", false},
    [PERFILE_NOTE_EMPTY] = {"empty", "%s%s", false},
    [PERFILE_NOTE_FORMAT] = {"format", "%s%s", true},
    [PERFILE_NOTE_ASSUMED] = {"assumed", "%s%s", false},
    [PERFILE_NOTE_UNKNOWN_FORMAT] = {"unknown-format",
                                     "%sno capture that can be read: kept as bytes%s", false},
    [PERFILE_NOTE_DECOMPRESSED] = {"decompressed", "%s decompressed%s", false},
};

/* Public functions accept any number: kinds of newer versions have no name. */
const char *perfile_note_name(uint32_t kind)
{
    return kind < PERFILE_N_NOTES && kinds[kind].name ? kinds[kind].name : "";
}

bool perfile_note_is_loss(uint32_t kind)
{
    return kind < PERFILE_N_NOTES && kinds[kind].loss;
}

/* The entry of (kind, number, damage), made if there is none; NULL if the table has no room. */
static perfile_note *find(pf_notes *notes, uint32_t kind, uint32_t number, uint32_t damage)
{
    for (uint32_t i = 0; i < notes->n; i++) {
        perfile_note *n = &notes->at[i];
        if (n->kind == kind && n->number == number && n->damage == damage)
            return n;
    }
    /* The last PERFILE_N_NOTES places are reserved for entries without a number, so that each kind
     * can still be counted when types and features have filled the others. */
    uint32_t room = number == UINT32_MAX ? PF_NOTES_MOST : PF_NOTES_MOST - PERFILE_N_NOTES;
    if (notes->n >= room)
        return NULL;
    notes->at[notes->n] =
        (perfile_note){.kind = kind, .number = number, .damage = damage, .offset = UINT64_MAX};
    return &notes->at[notes->n++];
}

void pf_notes_add(pf_notes *notes, const perfile_note *one)
{
    perfile_note *n = find(notes, one->kind, one->number, one->damage);
    if (!n)
        n = find(notes, one->kind, UINT32_MAX, 0);
    if (!n) /* full of entries without a number that differ in their damage */
        return;
    if (n->count == 0) {
        n->offset = one->offset;
        n->part = one->part;
        snprintf(notes->why[n - notes->at], sizeof notes->why[0], "%s", one->text ? one->text : "");
    }
    n->count += one->count;
    n->bytes += one->bytes;
}

/* Writes the subject of the sentence to `out`: how many of what, by the kind of the note. */
static void subject(const perfile_note *n, char *out, size_t size)
{
    const char *s = n->count == 1 ? "" : "s";
    const char *name;
    switch (n->kind) {
    case PERFILE_NOTE_RECORDS_LEFT_OUT:
    case PERFILE_NOTE_RECORDS_KEPT:
    case PERFILE_NOTE_RECORDS_BROKEN:
    case PERFILE_NOTE_RECORDS_CUT:
    case PERFILE_NOTE_ROUNDS_LEFT_OUT:
    case PERFILE_NOTE_DECOMPRESSED:
        name = perfile_record_type_name(n->number);
        if (name)
            snprintf(out, size, "%" PRIu64 " %s record%s", n->count, name, s);
        else if (n->number == UINT32_MAX)
            snprintf(out, size, "%" PRIu64 " record%s", n->count, s);
        else
            snprintf(out, size, "%" PRIu64 " record%s of type %" PRIu32, n->count, s, n->number);
        break;
    case PERFILE_NOTE_DAMAGE:
        if (n->bytes)
            snprintf(out, size, "%" PRIu64 " byte%s of no record", n->bytes,
                     n->bytes == 1 ? "" : "s");
        else
            snprintf(out, size, "damage");
        break;
    case PERFILE_NOTE_BYTES_LEFT_OUT:
        snprintf(out, size, "%" PRIu64 " byte%s", n->bytes, n->bytes == 1 ? "" : "s");
        break;
    case PERFILE_NOTE_UNKNOWN_FORMAT:
        out[0] = '\0';
        break;
    case PERFILE_NOTE_PARTS:
        snprintf(out, size, "%" PRIu64 " file%s", n->count, s);
        break;
    case PERFILE_NOTE_EVENT_BROKEN:
        snprintf(out, size, "%" PRIu64 " event%s", n->count, s);
        break;
    default:
        name = perfile_feature_name(n->number);
        if (name)
            snprintf(out, size, "feature %s", name);
        else if (n->number == UINT32_MAX)
            snprintf(out, size, "%" PRIu64 " feature%s", n->count, s);
        else
            snprintf(out, size, "feature %" PRIu32, n->number);
    }
}

/* Writes " (at offset N: words)" to `out`, with the parts that are known; "" if none is.  The text
 * of a damage kind goes before the words of the note. */
static void reason(const perfile_note *n, const char *words, char *out, size_t size)
{
    char where[64] = "";
    if (n->damage)
        words = perfile_damage_text(n->damage);
    if (n->offset != PERFILE_NO_OFFSET)
        snprintf(where, sizeof where, "%sat offset %" PRIu64 "%s",
                 n->count == 1 ? "" : "the first ", n->offset, words[0] ? ": " : "");
    out[0] = '\0';
    if (where[0] || words[0])
        snprintf(out, size, " (%s%s)", where, words);
}

void pf_notes_kept(pf_notes *notes, const perfile_record *r, const perfile_feature *f,
                   const perfile_error *why)
{
    const bool unknown = why->status == PERFILE_E_UNSUPPORTED;
    perfile_note note = {.kind = PERFILE_NOTE_EVENT_BROKEN,
                         .number = UINT32_MAX,
                         .damage = why->damage,
                         .count = 1,
                         .offset = why->offset};
    if (r) {
        note.kind = unknown ? PERFILE_NOTE_RECORDS_KEPT : PERFILE_NOTE_RECORDS_BROKEN;
        note.number = r->type;
        note.part = r->part;
        note.bytes = perfile_record_size(r);
        note.offset = r->offset;
    } else if (f) {
        note.kind = unknown ? PERFILE_NOTE_FEATURE_KEPT : PERFILE_NOTE_FEATURE_BROKEN;
        note.number = f->number;
        note.bytes = f->size;
        note.offset = f->offset;
    }
    pf_notes_add(notes, &note);
}

uint64_t pf_notes_report(const pf_notes *notes, void (*note)(void *user, const perfile_note *note),
                         void *user)
{
    uint64_t losses = 0;
    for (uint32_t i = 0; i < notes->n; i++) {
        perfile_note n = notes->at[i];
        char text[320], what[80], why[192];
        losses += kinds[n.kind].loss;
        if (!note)
            continue;
        subject(&n, what, sizeof what);
        reason(&n, notes->why[i], why, sizeof why);
        /* The format comes from the table above, and has two %s in all rows. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, kinds[n.kind].sentence, what, why);
#pragma GCC diagnostic pop
        n.text = text;
        note(user, &n);
    }
    return losses;
}

/* Counting bytes for progress callbacks; see lib/copy.h. */

enum { REPORT_BYTES = 8 << 20 }; /* between two reports: a few per second */

void pf_progress_begin(pf_progress *p, const perfile_container *c)
{
    *p = (pf_progress){.container = c, .total = pf_container_bytes(c)};
}

bool pf_progress_at(pf_progress *p, const perfile_record *at)
{
    for (; p->part < at->part && p->part < p->container->n_parts; p->part++)
        p->behind += p->total ? p->container->parts[p->part].size : 0;
    p->done = p->behind + at->offset;
    if (p->done < p->reported + REPORT_BYTES)
        return false;
    p->reported = p->done;
    return true;
}
