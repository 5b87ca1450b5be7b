#include "core/releases.h"

#include <string.h>

#include "base/error.h"
#include "perfile/abi.h"
#include "perfile/record.h"

const pf_release pf_releases[PF_N_RELEASES] = {
#define PERF(id, name, attr_size, sample_bits, read_bits, branch_bits, flag_bits, kernel_type,     \
             user_type, feature, cpu_maps, own_attr, lost_payloads)                                \
    {name,        attr_size, sample_bits, read_bits, branch_bits, flag_bits,                       \
     kernel_type, user_type, feature,     cpu_maps,  own_attr,    lost_payloads},
#include "format/versions.def"
};

static const struct {
    const char *member;
    uint32_t from;
} late[] = {
#define LATE(member, from) {#member, PF_PERF_##from},
#include "format/versions.def"
};

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

bool pf_release_knows_type(const pf_release *r, uint32_t type)
{
    return type < PERFILE_RECORD_USER ? type <= r->kernel_type : type <= r->user_type;
}

bool pf_release_knows_map_build_ids(const pf_release *r)
{
    return r->flag_bits > PERFILE_ATTR_BIT_BUILD_ID;
}

bool pf_release_knows_member(const pf_release *r, const char *member)
{
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        if (strcmp(late[i].member, member) == 0)
            return r >= &pf_releases[late[i].from];
    return true;
}
