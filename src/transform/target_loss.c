/* Losses are counted while records pass, and reported at the end of the stream.
 *
 * A counter is found by kind and key.  The meaning of the key depends on the kind: a record type, a
 * feature number, the number of a bit, or the offset of an attr member.  The name and the sentence
 * for people are made only when the loss is reported. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_order.h"
#include "perfile/field.h"
#include "transform/target.h"
#include "schema/command.h"

/* Adds one to a counter. */
static void count_one(pf_loss *loss, uint64_t offset)
{
    if (loss->count++ == 0)
        loss->first = offset;
}

void pf_target_count_loss(pf_target *t, unsigned kind, uint32_t key, uint64_t offset)
{
    count_one(&t->losses[kind][key < PF_LOSS_KEYS ? key : PF_LOSS_KEYS - 1], offset);
}

void pf_target_count_lost_bits(pf_target *t, unsigned kind, uint64_t bits, uint64_t offset)
{
    for (uint32_t bit = 0; bits; bit++, bits >>= 1)
        if (bits & 1)
            pf_target_count_loss(t, kind, bit, offset);
}

/* By PF_WORD_…: the vocabulary with the names of the bits, and the name of the attr member. */
static const char *const word_names[PF_N_WORDS] = {"sample_type", "read_format",
                                                   "branch_sample_type", "attr_flags"};
static const char *const member_names[PF_N_WORDS] = {"sample_type", "read_format",
                                                     "branch_sample_type", "flags"};

/* Returns the name of a bit, or "bit 40" (in `buf`) if it has none. */
static const char *bit_name(unsigned word, uint32_t bit, char buf[24])
{
    const perfile_vocabulary *v = pf_vocabulary_find(word_names[word]);
    for (uint32_t i = 0; v && i < v->n; i++)
        if (v->bits[i].width == 1 && v->bits[i].shift == bit)
            return v->bits[i].name;
    snprintf(buf, 24, "bit %" PRIu32, bit);
    return buf;
}

/* For the walk that finds an attr member by its offset. */
typedef struct member_at {
    uint64_t offset;
    const char *name;
} member_at;

/* Visitor: notes the name of the member at m->offset. */
static void find_member(void *user, const perfile_field *f, const perfile_value *v)
{
    member_at *m = user;
    if (v->offset == m->offset)
        m->name = f->name;
}

/* Visitor: ignores the ends of structures. */
static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Returns the name of the attr member at key * 4 bytes, found by a walk over an attr of zeros. */
static const char *member_name(uint32_t key)
{
    static const perfile_visitor visitor = {sizeof visitor, find_member, find_member, ignore_end};
    uint8_t attr[PF_TARGET_ATTR] = {0};
    member_at m = {UINT64_C(4) * key, "extra"};
    pf_store_u32(attr + 4, sizeof attr, false);
    (void)!perfile_attr_walk((perfile_bytes){attr, sizeof attr}, false, 0, &visitor, &m, NULL);
    return m.name;
}

/* Returns perfile_target_loss.name: the name of `key` for this kind of loss.  It may be in
 * `buf`. */
static const char *name_of(unsigned kind, uint32_t key, char buf[24])
{
    const char *name = NULL;
    switch (kind) {
    case PERFILE_TARGET_LOSS_RECORDS:
    case PERFILE_TARGET_LOSS_UNREADABLE:
    case PERFILE_TARGET_LOSS_TOO_LONG:
        if (key == PF_LOSS_KEYS - 1)
            return "of other tools"; /* all types from 255 on share a counter */
        if (!(name = pf_record_type_name(key)))
            snprintf(buf, 24, "type %" PRIu32, key);
        break;
    case PERFILE_TARGET_LOSS_FEATURE:
        if (!(name = pf_feature_name(key)))
            snprintf(buf, 24, "feature %" PRIu32, key);
        break;
    case PERFILE_TARGET_LOSS_SAMPLE_FIELD:
        return bit_name(PF_WORD_SAMPLE_TYPE, key, buf);
    case PERFILE_TARGET_LOSS_READ_FIELD:
        return bit_name(PF_WORD_READ_FORMAT, key, buf);
    case PERFILE_TARGET_LOSS_BRANCH_FIELD:
        return bit_name(PF_WORD_BRANCH_TYPE, key, buf);
    case PERFILE_TARGET_LOSS_ATTR_MEMBER:
        return member_name(key);
    default:
        return "";
    }
    return name ? name : buf;
}

/* Returns true if the version knows the field: then it was cut out because other events lack it. */
static bool knows_field(const pf_target *t, const char *name)
{
    char buf[24];
    for (uint32_t bit = 0; bit < t->release->sample_bits; bit++)
        if (strcmp(bit_name(PF_WORD_SAMPLE_TYPE, bit, buf), name) == 0)
            return true;
    return false;
}

/* Writes "3 MMAP2 records" or "1 record of type 40". */
static void format_records(char *out, size_t room, const perfile_target_loss *l)
{
    const char *s = l->count == 1 ? "" : "s";
    /* A name without a number is not the name of a type: "type 40", "of other tools". */
    bool named = perfile_record_type_number(l->name) != 0;
    if (named)
        snprintf(out, room, "%" PRIu64 " %s record%s", l->count, l->name, s);
    else
        snprintf(out, room, "%" PRIu64 " record%s%s%s", l->count, s,
                 strncmp(l->name, "of ", 3) == 0 ? " " : " of ", l->name);
}

/* Writes the sentence for people, by kind. */
static void format_sentence(char *out, size_t room, const pf_target *t,
                            const perfile_target_loss *l)
{
    /* `s` is the plural ending. */
    const char *v = t->release->name, *name = l->name, *s = l->count == 1 ? "" : "s";
    const char *were = l->count == 1 ? "was" : "were";
    const uint64_t n = l->count;
    char records[80];
    format_records(records, sizeof records, l);
    switch (l->kind) {
    case PERFILE_TARGET_LOSS_RECORDS:
        snprintf(out, room, "perf %s does not know records %s: %" PRIu64 " record%s %s dropped", v,
                 name, n, s, were);
        break;
    case PERFILE_TARGET_LOSS_FEATURE:
        snprintf(out, room, "perf %s does not know feature %s: it was dropped", v, name);
        break;
    case PERFILE_TARGET_LOSS_SAMPLE_FIELD:
    case PERFILE_TARGET_LOSS_BRANCH_FIELD:
        if (strcmp(name, "READ") == 0) {
            snprintf(out, room,
                     "perf %s cannot read counter values without ids (READ without FORMAT_ID)%s: "
                     "READ was cut out of %" PRIu64 " sample%s",
                     v,
                     pf_release_needs_one_sample_type(t->release)
                         ? ", nor of some events without those of others"
                         : "",
                     n, s);
            break;
        }
        snprintf(out, room,
                 "perf %s does not know %s in samples%s: it was cut out of %" PRIu64 " sample%s", v,
                 name,
                 l->kind == PERFILE_TARGET_LOSS_SAMPLE_FIELD && knows_field(t, name)
                     ? " of some events without those of others"
                     : "",
                 n, s);
        break;
    case PERFILE_TARGET_LOSS_READ_FIELD:
        snprintf(out, room,
                 "perf %s does not know %s in counter values: it was cut out of %" PRIu64
                 " record%s",
                 v, name, n, s);
        break;
    case PERFILE_TARGET_LOSS_WEIGHT:
        snprintf(out, room,
                 "perf %s knows one weight: the second and third of %" PRIu64 " sample%s %s set to "
                 "0",
                 v, n, s, were);
        break;
    case PERFILE_TARGET_LOSS_ATTR_BIT:
        snprintf(out, room, "perf %s does not know attr.%s: it was cleared in %" PRIu64 " event%s",
                 v, name, n, s);
        break;
    case PERFILE_TARGET_LOSS_ATTR_MEMBER:
        snprintf(out, room,
                 "perf %s does not know attr.%s, which was not 0 in %" PRIu64 " event%s: it was "
                 "cut off",
                 v, name, n, s);
        break;
    case PERFILE_TARGET_LOSS_CHAIN_LIMIT:
        snprintf(out, room,
                 "the user part of the call chain%s of %" PRIu64
                 " sample%s was not merged: it came "
                 "too late (limit held_bytes) or did not fit in the record",
                 s, n, s);
        break;
    case PERFILE_TARGET_LOSS_CHAIN_MISSING:
        snprintf(out, room,
                 "the user part of the call chain%s of %" PRIu64 " sample%s is not in the capture: "
                 "its marker was removed",
                 s, n, s);
        break;
    case PERFILE_TARGET_LOSS_CHAIN_ALONE:
        snprintf(out, room,
                 "%" PRIu64 " record%s CALLCHAIN_DEFERRED belong%s to no sample: dropped", n, s,
                 n == 1 ? "s" : "");
        break;
    case PERFILE_TARGET_LOSS_BUILD_ID:
        snprintf(out, room,
                 "%" PRIu64 " mapping%s lost the build id: it cannot be a HEADER_BUILD_ID record",
                 n, s);
        break;
    case PERFILE_TARGET_LOSS_MAPPING:
        snprintf(out, room,
                 "perf %s does not know MMAP2: %" PRIu64 " mapping%s lost inode and protection", v,
                 n, s);
        break;
    case PERFILE_TARGET_LOSS_UNREADABLE:
        snprintf(out, room, "%s would have to change and cannot be read: dropped", records);
        break;
    default:
        snprintf(out, room, "%s of more than 65,535 bytes %s dropped", records, were);
    }
}

/* Reports one loss: adds it to the summary and calls options.loss. */
static void report(pf_target *t, unsigned kind, const pf_loss *loss, const char *name)
{
    char sentence[320];
    perfile_target_loss l = {
        .kind = kind, .name = name, .count = loss->count, .first_offset = loss->first};
    format_sentence(sentence, sizeof sentence, t, &l);
    l.message = sentence;
    t->sum.losses += l.count;
    if (t->options.loss)
        t->options.loss(t->options.user, &l);
}

/* Reports bits that were cleared in attrs, unless a loss of fields in records reports the same
 * bit. */
static void report_attr_bits(pf_target *t)
{
    /* The kinds that report the same bits by their fields; flags have no fields. */
    static const unsigned fields[PF_N_WORDS] = {
        PERFILE_TARGET_LOSS_SAMPLE_FIELD, PERFILE_TARGET_LOSS_READ_FIELD,
        PERFILE_TARGET_LOSS_BRANCH_FIELD, PERFILE_N_TARGET_LOSSES};
    char buf[24], name[64];
    for (unsigned word = 0; word < PF_N_WORDS; word++)
        for (uint32_t bit = 0; bit < 64; bit++) {
            if (!t->attr_bits[word][bit].count ||
                (fields[word] < PERFILE_N_TARGET_LOSSES && t->losses[fields[word]][bit].count))
                continue;
            snprintf(name, sizeof name, "%s.%s", member_names[word], bit_name(word, bit, buf));
            report(t, PERFILE_TARGET_LOSS_ATTR_BIT, &t->attr_bits[word][bit], name);
        }
}

void pf_target_report(pf_target *t)
{
    char buf[24];
    for (unsigned kind = 0; kind < PERFILE_N_TARGET_LOSSES; kind++) {
        for (uint32_t key = 0; key < PF_LOSS_KEYS; key++)
            if (t->losses[kind][key].count)
                report(t, kind, &t->losses[kind][key], name_of(kind, key, buf));
        if (kind == PERFILE_TARGET_LOSS_ATTR_BIT)
            report_attr_bits(t);
    }
}
