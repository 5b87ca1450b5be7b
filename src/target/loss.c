/* What a version cannot have: counted as it is met, told at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_order.h"
#include "perfile/field.h"
#include "target/target.h"

static void add(pf_loss *loss, uint64_t offset)
{
    if (loss->count++ == 0)
        loss->first = offset;
}

void pf_target_lose(pf_target *t, unsigned kind, uint32_t key, uint64_t offset)
{
    add(&t->losses[kind][key < PF_LOSS_KEYS ? key : PF_LOSS_KEYS - 1], offset);
}

void pf_target_lose_bits(pf_target *t, unsigned kind, uint64_t bits, uint64_t offset)
{
    for (uint32_t bit = 0; bits; bit++, bits >>= 1)
        if (bits & 1)
            pf_target_lose(t, kind, bit, offset);
}

static const char *const word_names[PF_N_WORDS] = {"sample_type", "read_format",
                                                   "branch_sample_type", "attr_flags"};
static const char *const member_names[PF_N_WORDS] = {"sample_type", "read_format",
                                                     "branch_sample_type", "flags"};

static const char *bit_name(unsigned word, uint32_t bit, char buf[24])
{
    const perfile_vocabulary *v = perfile_vocabulary_find(word_names[word]);
    for (uint32_t i = 0; v && i < v->n; i++)
        if (v->bits[i].width == 1 && v->bits[i].shift == bit)
            return v->bits[i].name;
    snprintf(buf, 24, "bit %" PRIu32, bit);
    return buf;
}

/* An attr member by its place. */
typedef struct member_at {
    uint64_t offset;
    const char *name;
} member_at;

static void look_for_member(void *user, const perfile_field *f, const perfile_value *v)
{
    member_at *m = user;
    if (v->offset == m->offset)
        m->name = f->name;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const char *member_name(uint32_t key)
{
    static const perfile_visitor visitor = {sizeof visitor, look_for_member, look_for_member,
                                            ignore_end};
    uint8_t attr[PF_TARGET_ATTR] = {0};
    member_at m = {UINT64_C(4) * key, "extra"};
    pf_store_u32(attr + 4, sizeof attr, false);
    (void)!perfile_attr_walk((perfile_bytes){attr, sizeof attr}, false, 0, &visitor, &m, NULL);
    return m.name;
}

static const char *name_of(unsigned kind, uint32_t key, char buf[24])
{
    const char *name = NULL;
    switch (kind) {
    case PERFILE_TARGET_LOSS_RECORDS:
    case PERFILE_TARGET_LOSS_UNREADABLE:
    case PERFILE_TARGET_LOSS_TOO_LONG:
        if (key == PF_LOSS_KEYS - 1)
            return "of other tools";
        if (!(name = perfile_record_type_name(key)))
            snprintf(buf, 24, "type %" PRIu32, key);
        break;
    case PERFILE_TARGET_LOSS_FEATURE:
        if (!(name = perfile_feature_name(key)))
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

/* Whether the version knows a field that was cut out: then other events lack it. */
static bool knows_field(const pf_target *t, const char *name)
{
    char buf[24];
    for (uint32_t bit = 0; bit < t->release->sample_bits; bit++)
        if (strcmp(bit_name(PF_WORD_SAMPLE_TYPE, bit, buf), name) == 0)
            return true;
    return false;
}

/* "3 MMAP2 records", "1 record of type 40". */
static void say_records(char *out, size_t room, const perfile_target_loss *l)
{
    const char *s = l->count == 1 ? "" : "s";
    bool named = perfile_record_type_number(l->name) != 0;
    if (named)
        snprintf(out, room, "%" PRIu64 " %s record%s", l->count, l->name, s);
    else
        snprintf(out, room, "%" PRIu64 " record%s%s%s", l->count, s,
                 strncmp(l->name, "of ", 3) == 0 ? " " : " of ", l->name);
}

/* What is said of `count` things called `name`. */
static void say(char *out, size_t room, const pf_target *t, const perfile_target_loss *l)
{
    const char *v = t->release->name, *name = l->name, *s = l->count == 1 ? "" : "s";
    const char *were = l->count == 1 ? "was" : "were";
    const uint64_t n = l->count;
    char records[80];
    say_records(records, sizeof records, l);
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
                 "too late (held_bytes says how long they may wait) or did not fit in the record",
                 s, n, s);
        break;
    case PERFILE_TARGET_LOSS_CHAIN_MISSING:
        snprintf(out, room,
                 "the user part of the call chain%s of %" PRIu64 " sample%s is not in the capture: "
                 "its mark was taken away",
                 s, n, s);
        break;
    case PERFILE_TARGET_LOSS_CHAIN_ALONE:
        snprintf(out, room,
                 "%" PRIu64 " record%s CALLCHAIN_DEFERRED belong%s to no sample: dropped", n, s,
                 n == 1 ? "s" : "");
        break;
    case PERFILE_TARGET_LOSS_BUILD_ID:
        snprintf(out, room, "%" PRIu64 " mapping%s lost the build id: it fits no record", n, s);
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

static void tell(pf_target *t, unsigned kind, const pf_loss *loss, const char *name)
{
    char sentence[320];
    perfile_target_loss l = {
        .kind = kind, .name = name, .count = loss->count, .first_offset = loss->first};
    say(sentence, sizeof sentence, t, &l);
    l.sentence = sentence;
    t->sum.losses += l.count;
    if (t->options.loss)
        t->options.loss(t->options.user, &l);
}

/* Bits of attrs that took no field of a record with them. */
static void tell_attr_bits(pf_target *t)
{
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
            tell(t, PERFILE_TARGET_LOSS_ATTR_BIT, &t->attr_bits[word][bit], name);
        }
}

void pf_target_report(pf_target *t)
{
    char buf[24];
    for (unsigned kind = 0; kind < PERFILE_N_TARGET_LOSSES; kind++) {
        for (uint32_t key = 0; key < PF_LOSS_KEYS; key++)
            if (t->losses[kind][key].count)
                tell(t, kind, &t->losses[kind][key], name_of(kind, key, buf));
        if (kind == PERFILE_TARGET_LOSS_ATTR_BIT)
            tell_attr_bits(t);
    }
}
