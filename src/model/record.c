/* Queries for one record: the name of its thread, and the mapping that its sampled instruction lies
 * in. */
#include <string.h>

#include "perfile/model.h"

/* A record without pid and tid has no name. */
const char *perfile_model_record_comm(const perfile_model *m, const perfile_record *r)
{
    uint32_t pid, tid;
    if (!perfile_record_task(r, &pid, &tid))
        return NULL;
    return perfile_model_comm(m, pid, tid, perfile_record_time(r));
}

/* Only kernel and user samples of the host: guest and hypervisor addresses are not in the model. */
const perfile_mapping *perfile_model_record_mapping(const perfile_model *m, const perfile_record *r)
{
    uint32_t pid = PERFILE_NO_PID, tid;
    uint64_t ip;
    unsigned mode = r->misc & PERFILE_MISC_CPUMODE_MASK;
    if ((mode != PERFILE_MISC_CPUMODE_KERNEL && mode != PERFILE_MISC_CPUMODE_USER) ||
        !perfile_sample_field(r, PERFILE_SAMPLE_IP, &ip) ||
        (mode == PERFILE_MISC_CPUMODE_USER && !perfile_record_task(r, &pid, &tid)))
        return NULL;
    return perfile_model_mapping(m, pid, ip, perfile_record_time(r));
}

/* "[kernel.kallsyms]_text" is stored with the relocation symbol behind the bracket; perf shows the
 * name without it. */
perfile_bytes perfile_mapping_dso(const perfile_mapping *m)
{
    const char *end = m->name[0] == '[' ? strchr(m->name, ']') : NULL;
    size_t n = end && end[1] == '_' ? (size_t)(end + 1 - m->name) : strlen(m->name);
    return (perfile_bytes){(const uint8_t *)m->name, n};
}
