/* Versions of perf that captures are written for. */
#include "base/error.h"
#include "perf/write.h"

static const pf_write_version versions[] = {
#define PERF(id, name, attr_size, kernel_type, user_type, feature, lost_payloads)                  \
    {name, attr_size, user_type, feature},
#include "format/versions.def"
};

perfile_status pf_write_find_version(const char *name, const pf_write_version **version,
                                     perfile_error *err)
{
    static const char prefix[] = "perf-";
    const char *bare =
        strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(versions[i].name, bare) == 0) {
            *version = &versions[i];
            return PERFILE_OK;
        }
    return pf_fail(err, PERFILE_E_USAGE, "writer.target",
                   "'%s' is no perf that is known; the newest is perf-%s", name,
                   versions[sizeof versions / sizeof versions[0] - 1].name);
}
