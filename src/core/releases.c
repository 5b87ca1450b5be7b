/* Releases of perf: format/versions.def expanded to arrays, and questions about them. */
#include "core/releases.h"

#include <string.h>

#include "base/error.h"
#include "perfile/abi.h"
#include "perfile/record.h"
#include "schema/family.h"

const pf_release pf_releases[PF_N_RELEASES] = {
#define PF_IS(id, member, value) [PF_PERF_##id].member = (value)
#define PERF(id, number, attr, last_feature)                                                       \
    PF_IS(id, name, number), PF_IS(id, attr_size, attr), PF_IS(id, feature, last_feature),
#define KNOWS(id, sample, read, branch, flag, maps, own, skips)                                    \
    PF_IS(id, sample_bits, sample), PF_IS(id, read_bits, read), PF_IS(id, branch_bits, branch),    \
        PF_IS(id, flag_bits, flag), PF_IS(id, cpu_maps, maps), PF_IS(id, own_attr, own),           \
        PF_IS(id, skips_tools, skips),
#include "format/versions.def"
};

const pf_release pf_release_any = {.name = "any",
                                   .attr_size = 256,
                                   .sample_bits = 64,
                                   .read_bits = 64,
                                   .branch_bits = 64,
                                   .flag_bits = 64,
                                   .feature = UINT32_MAX,
                                   .cpu_maps = UINT32_MAX};

static const struct {
    const char *member;
    uint32_t from;
} late[] = {
#define LATE(member, from) {#member, PF_PERF_##from},
#include "format/versions.def"
};

static const struct {
    uint32_t major, minor, number;
} ends[] = {
#define ENDS(major, minor, number) {major, minor, number},
#include "format/versions.def"
};

/* Reads the digits at the beginning of *text, at most 4, and takes them off.  False if there are
 * none. */
static bool take_number(perfile_bytes *text, uint32_t *number)
{
    enum { MOST_DIGITS = 4 };
    unsigned n = 0;
    for (*number = 0; n < MOST_DIGITS && n < text->len; n++) {
        unsigned digit = text->ptr[n] - (unsigned)'0';
        if (digit > 9)
            break;
        *number = 10 * *number + digit;
    }
    if (n == 0)
        return false; /* before anything is added to a pointer that may be NULL */
    text->ptr += n;
    text->len -= n;
    return true;
}

/* The text may be any version string: what follows major and minor number does not matter. */
uint32_t pf_end_of_features(perfile_bytes version)
{
    uint32_t major, minor, number = 0;
    if (!version.len || !take_number(&version, &major) || !version.len || version.ptr[0] != '.')
        return 0;
    version.ptr++;
    version.len--;
    if (!version.len || !take_number(&version, &minor))
        return 0;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (major > ends[i].major || (major == ends[i].major && minor >= ends[i].minor))
            number = ends[i].number;
    return number;
}

uint32_t pf_end_of_features_behind(uint32_t end, uint32_t last)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && end <= last; i++)
        if (ends[i].number > end)
            end = ends[i].number;
    return end;
}

perfile_status pf_release_find(const char *version, const pf_release **release, perfile_error *err)
{
    char known[200] = "";
    const char *name = strncmp(version, "perf-", 5) == 0 ? version + 5 : version;
    for (size_t i = 0; i < PF_N_RELEASES; i++) {
        if (strcmp(name, pf_releases[i].name) == 0) {
            *release = &pf_releases[i];
            return PERFILE_OK;
        }
        size_t n = strlen(known);
        if (n + strlen(pf_releases[i].name) + 8 < sizeof known) {
            strcat(known, n ? ", perf-" : "perf-");
            strcat(known, pf_releases[i].name);
        }
    }
    return pf_fail(err, PERFILE_E_USAGE, "version", "perf '%s' is not known: there are %s", version,
                   known);
}

/* By the column `since` of the row. */
bool pf_release_knows_type(const pf_release *r, uint32_t type)
{
    if (r == &pf_release_any || type == 0) /* perf counts records of type 0, whatever they are */
        return true;
    const pf_row *row = pf_record_row(type);
    return row && row->since <= r - pf_releases;
}

bool pf_release_knows_map_build_ids(const pf_release *r)
{
    return r->flag_bits > PERFILE_ATTR_BIT_BUILD_ID;
}

bool pf_release_knows_member(const pf_release *r, const char *member)
{
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        if (strcmp(late[i].member, member) == 0)
            return r == &pf_release_any || r >= &pf_releases[late[i].from];
    return true;
}

bool pf_release_has_trait(const pf_release *r, const char *trait)
{
    static const struct {
        const char *trait;
        uint32_t from, to;
    } traits[] = {
#define TRAIT(id, rule, from, to, form, verdict, sentence) {#id, PF_PERF_##from, PF_PERF_##to},
#include "format/versions.def"
    };
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++)
        if (strcmp(traits[i].trait, trait) == 0 && r != &pf_release_any &&
            r >= &pf_releases[traits[i].from] && r <= &pf_releases[traits[i].to])
            return true;
    return false;
}

bool pf_release_needs_one_sample_type(const pf_release *r)
{
    return pf_release_has_trait(r, "EVENTS_OF_TWO_TYPES");
}
