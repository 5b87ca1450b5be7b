/* Feature sections: each can be decoded (V-601 or a rule of its own), nothing follows its content
 * (V-602), and its strings are well-formed (V-603). facts.c compares their content with the rest of
 * the capture.
 *
 * A walk (perfile_feature_walk()) shows all fields, so this file does not depend on the layout of
 * any feature. */
#include "check/check.h"

#include <inttypes.h>
#include <string.h>

#include "base/byte_order.h"
#include "base/command.h"
#include "schema/command.h"
#include "core/command.h"

/* perf pads strings to 64 bytes.  The features of simpleperf begin with FILE and have strings in
 * another form. */
enum { STRING_UNIT = 64, FIRST_FOREIGN = PERFILE_FEATURE_FILE };

/* State of the walk over a feature. */
typedef struct feature_walk {
    pf_check *c;
    const perfile_feature *f;
    const char *last; /* the last field that could be read */
    uint64_t left;    /* bytes after the content */
    bool strings;     /* strings have perf's form: a length, NUL, padding to 64 bytes */
} feature_walk;

/* Returns the fault of a string as the end of a sentence, NULL if there is none. */
static const char *string_fault(perfile_bytes b)
{
    if (b.len == 0)
        return "has no bytes";
    const uint8_t *nul = memchr(b.ptr, 0, b.len);
    if (!nul)
        return "has no NUL";
    for (const uint8_t *p = nul; p < b.ptr + b.len; p++)
        if (*p)
            return "has padding that is not 0";
    return b.len % STRING_UNIT ? "has a length that is not a multiple of 64" : NULL;
}

/* Checks a string; `b` is the bytes after its length field. */
static void check_string(const feature_walk *s, const char *field, perfile_bytes b)
{
    const char *fault = string_fault(b);
    if (fault)
        pf_report_feature(s->c, PERFILE_RULE_V_603, PF_FULL, s->f, field,
                          "string '%s' (%zu bytes) %s", field, b.len, fault);
}

static bool is_swapped(const perfile_feature *f)
{
    return f->flags & PERFILE_REC_SWAPPED;
}

/* Called for each field.  Padding at the end of the section is bytes after the content.  A string
 * has a length of 4 bytes before its text, which is read again here because the walk shows only the
 * text. */
static void on_value(void *user, const perfile_field *field, const perfile_value *v)
{
    feature_walk *s = user;
    perfile_bytes all = s->f->payload;
    if (field->flags & PERFILE_FIELD_PAD) {
        s->left = v->offset + v->width == all.len ? v->width : 0;
        return;
    }
    s->last = field->name;
    if (!s->strings || v->width < 4 || v->offset > all.len || v->width > all.len - v->offset)
        return;
    if (field->type == PERFILE_STORED_TEXT) {
        const uint8_t *at = all.ptr + v->offset;
        if (pf_load_u32(at, is_swapped(s->f)) == v->width - 4)
            check_string(s, field->name, (perfile_bytes){at + 4, (size_t)v->width - 4});
    } else if (field->type == PERFILE_STORED_STRINGS) {
        perfile_bytes b = v->u.strings.bytes;
        for (size_t at = 0; at + 4 <= b.len;) {
            uint32_t n = pf_load_u32(b.ptr + at, is_swapped(s->f));
            check_string(s, field->name, (perfile_bytes){b.ptr + at + 4, n});
            at += 4 + (size_t)n;
        }
    }
}

static void on_begin(void *user, const perfile_field *field, const perfile_value *v)
{
    (void)user, (void)field, (void)v;
}

static void on_end(void *user, const perfile_field *field)
{
    (void)user, (void)field;
}

/* Decodes a feature and checks its form.  If it cannot be decoded, reports that and returns false.
 */
static bool check_content(pf_check *c, const perfile_feature *f)
{
    static const perfile_visitor visitor = {sizeof visitor, on_value, on_begin, on_end};
    const char *name = pf_feature_name(f->number);
    perfile_error why;
    bool foreign = f->number >= FIRST_FOREIGN || f->number == PERFILE_FEATURE_TRACING_DATA ||
                   f->number == PERFILE_FEATURE_BUILD_ID;
    feature_walk s = {.c = c, .f = f, .strings = !foreign};
    /* perf writes an empty section for a value that it could not determine, and for flags. */
    bool empty = f->payload.len == 0 && f->number != PERFILE_FEATURE_EVENT_DESC;
    if (perfile_feature_walk(f, PERFILE_WALK_ALL | PERFILE_WALK_PADDING, &visitor, &s, &why) < 0) {
        c->found.flags = PERFILE_FINDING_UNDECODABLE;
        pf_report_feature(c, pf_rule_of_feature(f->number), empty ? PF_LESSER : PF_FULL, f, s.last,
                          "feature %s (%zu bytes): %s%s%s%s", name ? name : "without name",
                          f->payload.len, pf_damage_text(why.damage),
                          s.last ? ", after its field '" : "", s.last ? s.last : "",
                          s.last ? "'" : "");
        if (why.damage == PERFILE_DAMAGE_BAD_VERSION)
            pf_report_feature(c, PERFILE_RULE_V_616, PF_FULL, f, "version",
                              "feature %s has a version that is not known",
                              name ? name : "without name");
        return false;
    }
    if (s.left)
        pf_report_feature(
            c, f->number == PERFILE_FEATURE_CPU_TOPOLOGY ? PERFILE_RULE_V_615 : PERFILE_RULE_V_602,
            PF_FULL, f, NULL, "%" PRIu64 " bytes after the content of %s", s.left,
            name ? name : "a feature");
    return true;
}

void pf_check_features(pf_check *c)
{
    const perfile_session *s = c->session;
    for (uint32_t i = 0; i < pf_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        if (f->damage || !pf_feature_name(f->number))
            continue;
        if (check_content(c, f))
            pf_check_facts(c, f);
    }
    pf_check_flags(c);
}
