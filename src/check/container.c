/* Rules for the container (V-0xx): header, sections, feature table, parts of a directory.
 *
 * No bytes of the file are read here.  The driver describes the file in a perfile_container: header
 * fields, and *extents*, sorted by offset, which give the `role` of each range of bytes.  The roles
 * `gap` and `tail` are ranges that no section claims.  Damage that the driver found when opening is
 * reported with the rule that rules.def names for it.  For formats other than perf.data, only this
 * and the rules of their family are checked. */
#include <inttypes.h>
#include <stdio.h>

#include "check/check.h"
#include "core/command.h"
#include "base/command.h"
#include "schema/command.h"

enum {
    ENTRY_MIN = 80,   /* entry of the attr section: the smallest attr, offset and size of its ids */
    EVENT_TYPE = 72,  /* entry of the event types of old files */
    TABLE_ENTRY = 16, /* entry of the feature table: offset and size */
    LAST_FEATURE = 34,
    FIRST_SIMPLEPERF = 128,
    LAST_SIMPLEPERF = 134,
    PARTS_IN_DIRECTORY = 1 /* the version of DIR_FORMAT with files data.N */
};

/* Returns true if the bitmap of the header has the feature. */
static bool declared(const perfile_container *k, unsigned feature)
{
    return k->features[feature / 64] >> feature % 64 & 1;
}

/* Returns the name of an extent for messages: "the data", "feature HOSTNAME" (written into `buf`).
 */
static const char *role_name(const perfile_extent *e, char buf[40])
{
    static const char *const names[] = {
        [PERFILE_EXTENT_HEADER] = "the header",
        [PERFILE_EXTENT_ATTRS] = "the attr section",
        [PERFILE_EXTENT_EVENT_TYPES] = "the event types",
        [PERFILE_EXTENT_RECORDS] = "the data",
        [PERFILE_EXTENT_FEATURE_TABLE] = "the feature table",
    };
    const char *feature = pf_feature_name(e->number);
    if (e->role == PERFILE_EXTENT_IDS)
        snprintf(buf, 40, "the ids of event %" PRIu32, e->number);
    else if (e->role == PERFILE_EXTENT_FEATURE && feature)
        snprintf(buf, 40, "feature %s", feature);
    else if (e->role == PERFILE_EXTENT_FEATURE)
        snprintf(buf, 40, "feature %" PRIu32, e->number);
    else
        return e->role < sizeof names / sizeof names[0] && names[e->role] ? names[e->role]
                                                                          : "a part";
    return buf;
}

/* Returns the number of bytes of the file, or of `data` in a directory, that are read as records.
 */
static uint64_t bytes_of_records(const perfile_container *k)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < k->n_extents; i++)
        if (k->extents[i].role == PERFILE_EXTENT_RECORDS)
            n += k->extents[i].length;
    return n;
}

/* Checks that the data section has a size (V-007).  A recording that was killed has size 0 in its
 * header: readers that believe it see no records. */
static void check_data_size(pf_check *c, const perfile_container *k)
{
    uint64_t n = bytes_of_records(k);
    if (k->unterminated && n)
        pf_report_offset(c, PERFILE_RULE_V_007, PF_FULL, 48, "header.data.size",
                         "%s, and %" PRIu64 " bytes of records follow",
                         pf_damage_text(PERFILE_DAMAGE_UNTERMINATED), n);
    else if (k->unterminated || k->data.size == 0)
        pf_report_offset(c, PERFILE_RULE_V_007, PF_LESSER, 48, "header.data.size", "%s",
                         k->unterminated ? pf_damage_text(PERFILE_DAMAGE_UNTERMINATED)
                                         : "the data section is empty");
}

/* Checks the fields of the header.  The offsets in the findings are those of the fields in the
 * header (48: data.size). */
static void check_header(pf_check *c, const perfile_container *k)
{
    if (k->header_size > 104)
        pf_report_offset(c, PERFILE_RULE_V_002, PF_LESSER, 8, "header.size",
                         "a header of %" PRIu64 " bytes, 104 are known", k->header_size);
    if (k->version == 1)
        pf_report_offset(c, PERFILE_RULE_V_015, PF_FULL, 0, "header.magic", "a file of version 1");
    if (!k->has_sections)
        return;
    if (k->attr_size < ENTRY_MIN || k->attr_size % 8)
        pf_report_offset(c, PERFILE_RULE_V_003, PF_FULL, 16, "header.attr_size",
                         "entries of %" PRIu64 " bytes, not a multiple of 8 from %d on",
                         k->attr_size, ENTRY_MIN);
    else if (k->attrs.size % k->attr_size)
        pf_report_offset(c, PERFILE_RULE_V_004, PF_FULL, 32, "header.attrs.size",
                         "%" PRIu64 " bytes are not a multiple of the entry, %" PRIu64,
                         k->attrs.size, k->attr_size);
    if (k->attrs.size == 0)
        pf_report_offset(c, PERFILE_RULE_V_005, PF_FULL, 32, "header.attrs.size",
                         "there are no events");
    check_data_size(c, k);
    if (k->data.offset % 8)
        pf_report_offset(c, PERFILE_RULE_V_016, PF_FULL, 40, "header.data.offset",
                         "the data begin at offset %" PRIu64 ", not a multiple of 8",
                         k->data.offset);
}

/* Checks that only known features are declared (V-011), and that HOSTNAME is one of them (V-012):
 * readers infer byte order and word size of the bitmap from its bit. */
static void check_bitmap(pf_check *c, const perfile_container *k)
{
    for (unsigned i = 0; i < PERFILE_N_FEATURES; i++)
        if (declared(k, i) &&
            (i == 0 || (i > LAST_FEATURE && i < FIRST_SIMPLEPERF) || i > LAST_SIMPLEPERF))
            pf_report_offset(c, PERFILE_RULE_V_011, PF_FULL, 72 + i / 8, "header.features",
                             "feature %u is not known", i);
    if (!declared(k, PERFILE_FEATURE_HOSTNAME))
        pf_report_offset(c, PERFILE_RULE_V_012,
                         k->byte_order == PERFILE_BYTE_ORDER_BIG ? PF_FULL : PF_LESSER, 72,
                         "header.features", "there is no HOSTNAME");
}

/* Reports damage that the driver found when it opened the file: sections that are outside the file
 * or unreadable. */
static void check_damages(pf_check *c, const perfile_container *k)
{
    char buf[40];
    const pf_check_family *own = pf_check_family_of(k->family);
    for (uint32_t i = 0; i < k->n_damages; i++) {
        const perfile_container_damage *d = &k->damages[i];
        unsigned rule =
            d->damage < PERFILE_N_DAMAGES ? pf_rule_of_damage[d->damage] : PERFILE_RULE_V_006;
        /* V-007, V-003 and V-004 report these. */
        if (d->damage == PERFILE_DAMAGE_UNTERMINATED)
            continue;
        if (d->damage == PERFILE_DAMAGE_BAD_ATTRS &&
            (k->attr_size < ENTRY_MIN || k->attr_size % 8 || d->offset > k->attrs.offset))
            continue;
        if (d->damage == PERFILE_DAMAGE_TRUNCATED_HEADER)
            rule = PERFILE_RULE_V_001;
        if (d->damage == PERFILE_DAMAGE_BAD_VERSION && own)
            rule = own->bad_version;
        perfile_extent as = {.role = d->role};
        bool outside = d->damage == PERFILE_DAMAGE_OUT_OF_BOUNDS;
        pf_report_offset(c, rule, PF_FULL, d->offset, NULL, "%s%s%s",
                         outside ? role_name(&as, buf) : "", outside ? ": " : "",
                         pf_damage_text(d->damage));
    }
}

/* Reports sections that end after the end of the file (V-006). */
static void check_outside(pf_check *c, const perfile_container *k)
{
    char buf[40];
    for (uint32_t i = 0; i < k->n_extents; i++) {
        const perfile_extent *e = &k->extents[i];
        /* V-009 reports a cut feature table; damage of features and attrs is reported elsewhere. */
        if (!e->outside || e->role == PERFILE_EXTENT_FEATURE_TABLE ||
            e->role == PERFILE_EXTENT_FEATURE || e->role == PERFILE_EXTENT_ATTRS)
            continue;
        pf_report_offset(c, PERFILE_RULE_V_006,
                         e->role == PERFILE_EXTENT_RECORDS ? PF_LESSER : PF_FULL, e->offset,
                         "header", "%s (%" PRIu64 " bytes) end after the file", role_name(e, buf),
                         e->length);
    }
}

static uint64_t end_of(const perfile_extent *e)
{
    return e->length > UINT64_MAX - e->offset ? UINT64_MAX : e->offset + e->length;
}

/* Checks that no two sections share bytes (V-008), and no two events share ids (V-019).  Extents
 * are sorted by offset, so each is compared with the earlier one that ends last. */
static void check_overlaps(pf_check *c, const perfile_container *k)
{
    char first[40], second[40];
    const perfile_extent *reach = NULL;
    for (uint32_t i = 0; i < k->n_extents; i++) {
        const perfile_extent *e = &k->extents[i];
        if (e->role == PERFILE_EXTENT_IDS && e->length % 8)
            pf_report_offset(c, PERFILE_RULE_V_019, PF_FULL, e->offset, "attr.ids",
                             "%" PRIu64 " bytes of ids, not a multiple of 8", e->length);
        if (e->role == PERFILE_EXTENT_GAP || e->role == PERFILE_EXTENT_TAIL)
            continue;
        if (reach && e->offset < end_of(reach)) {
            bool ids = e->role == PERFILE_EXTENT_IDS && reach->role == PERFILE_EXTENT_IDS;
            pf_report_offset(
                c, ids ? PERFILE_RULE_V_019 : PERFILE_RULE_V_008, ids ? PF_LESSER : PF_FULL,
                e->offset, NULL, "%s begin%s inside %s", role_name(e, second),
                e->role == PERFILE_EXTENT_IDS || e->role == PERFILE_EXTENT_RECORDS ? "" : "s",
                role_name(reach, first));
        }
        if (!reach || end_of(e) > end_of(reach))
            reach = e;
    }
}

/* Reports a feature that cannot be decoded: it is outside the file, or its table entry is cut. */
static void check_feature_damage(pf_check *c, const perfile_feature *f)
{
    char buf[40];
    perfile_extent as = {.role = PERFILE_EXTENT_FEATURE, .number = f->number};
    unsigned rule =
        f->damage < PERFILE_N_DAMAGES ? pf_rule_of_damage[f->damage] : PERFILE_RULE_V_006;
    c->found.flags = PERFILE_FINDING_UNDECODABLE;
    pf_report_feature(c, rule, PF_FULL, f, NULL, "%s (%" PRIu64 " bytes): %s", role_name(&as, buf),
                      f->size, pf_damage_text(f->damage));
}

/* Checks that features follow the table in the order of their numbers (V-010). */
static void check_features_place(pf_check *c, const perfile_container *k)
{
    uint64_t end = 0; /* end of the data, the table, or the last feature that was in order */
    uint64_t n = 0;   /* entries of the table */
    char buf[40];
    const perfile_session *s = c->session;
    for (unsigned i = 0; i < PERFILE_N_FEATURES; i++)
        n += declared(k, i);
    /* False if the numbers of the header overflow: then the order is not checked. */
    bool ordered = !__builtin_add_overflow(k->data.offset, k->data.size, &end) &&
                   !__builtin_add_overflow(end, n * TABLE_ENTRY, &end);
    for (uint32_t i = 0; i < pf_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        perfile_extent as = {.role = PERFILE_EXTENT_FEATURE, .number = f->number};
        if (f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        if (f->damage && f->damage != PERFILE_DAMAGE_OVERLAP)
            check_feature_damage(c, f);
        else if (ordered && f->size && f->offset < end)
            pf_report_feature(c, PERFILE_RULE_V_010, PF_FULL, f, NULL,
                              "%s is before what should precede it", role_name(&as, buf));
        else if (f->size)
            end = f->offset + f->size;
    }
}

static void check_tail(pf_check *c, const perfile_container *k)
{
    for (uint32_t i = 0; i < k->n_extents; i++)
        if (k->extents[i].role == PERFILE_EXTENT_TAIL)
            pf_report_offset(c, PERFILE_RULE_V_013, PF_FULL, k->extents[i].offset, NULL,
                             "%" PRIu64 " bytes after the last part", k->extents[i].length);
}

/* Checks the event types of old files: one per event, in the same order, with its config (V-014).
 */
static void check_event_types(pf_check *c, const perfile_container *k)
{
    const perfile_session *s = c->session;
    uint64_t n = k->event_types.size / EVENT_TYPE;
    if (k->event_types.size == 0)
        return;
    if (k->event_types.size % EVENT_TYPE || n != pf_session_n_events(s)) {
        pf_report_offset(c, PERFILE_RULE_V_014, PF_FULL, k->event_types.offset, "event_types",
                         "%" PRIu64 " bytes of event types for %" PRIu32 " events",
                         k->event_types.size, pf_session_n_events(s));
        return;
    }
    for (uint32_t i = 0; i < n && i < pf_session_n_event_types(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (pf_session_event_type(s, i)->event_id != e->attr->config)
            pf_report_offset(c, PERFILE_RULE_V_014, PF_FULL,
                             k->event_types.offset + (uint64_t)i * EVENT_TYPE, "event_types",
                             "event type %" PRIu32 " is not that of event %" PRIu32, i, i);
    }
}

/* Checks that a directory has DIR_FORMAT, and files data.N only with version 1 (V-018). */
static void check_directory(pf_check *c, const perfile_container *k)
{
    perfile_dir_format v;
    const perfile_feature *f = perfile_session_feature(c->session, PERFILE_FEATURE_DIR_FORMAT);
    if (!k->directory)
        return;
    bool has = f && perfile_dir_format_decode(f, &v, sizeof v, NULL) == PERFILE_OK;
    if (has && v.version > PARTS_IN_DIRECTORY)
        pf_report_feature(c, PERFILE_RULE_V_018, PF_FULL, f, "dir_format.version",
                          "a directory of form %" PRIu64, v.version);
    else if (has && v.version != PARTS_IN_DIRECTORY && k->n_parts > 1)
        pf_report_feature(c, PERFILE_RULE_V_018, PF_FULL, f, "dir_format.version",
                          "a directory of form %" PRIu64 " with %" PRIu32 " files data.N",
                          v.version, k->n_parts - 1);
    else if (!has && k->n_parts > 1)
        pf_report_offset(c, PERFILE_RULE_V_018, PF_FULL, 72, "header.features",
                         "%" PRIu32 " files data.N, and no DIR_FORMAT", k->n_parts - 1);
}

/* Called once, before the first batch. */
void pf_check_container(pf_check *c)
{
    const perfile_container *k = perfile_stream_container(&c->base);
    c->times.first_sample = UINT64_MAX; /* least time so far; set here, as this runs first */
    check_damages(c, k);
    if (k->form == PERFILE_FORM_NONE)
        return;
    const pf_check_family *own = pf_check_family_of(k->family);
    if (own)
        own->container(c, k);
    if (k->family != PERFILE_FAMILY_PERF)
        return; /* the rest is about perf.data */
    check_header(c, k);
    if (k->form == PERFILE_FORM_FILE && k->has_sections) {
        check_bitmap(c, k);
        check_outside(c, k);
        check_overlaps(c, k);
        check_features_place(c, k);
        check_tail(c, k);
        check_event_types(c, k);
    }
    check_directory(c, k);
}
