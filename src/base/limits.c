#include "base/limits.h"

#include "base/options.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static void default_to(uint64_t *limit, uint64_t value)
{
    if (!*limit)
        *limit = value;
}

perfile_status pf_limits_take(perfile_limits *out, const perfile_limits *given, perfile_error *err)
{
    perfile_limits l;
    perfile_status st = pf_options_take(&l, sizeof l, given, "limits", err);
    if (st != PERFILE_OK)
        return st;
    default_to(&l.window_bytes, 64 * MIB);
    default_to(&l.inflate_bytes, 256 * MIB);
    default_to(&l.zstd_window, 27);
    default_to(&l.split_bytes, 256 * MIB);
    default_to(&l.session_bytes, 512 * MIB);
    default_to(&l.spool_bytes, 64 * GIB);
    default_to(&l.held_bytes, 64 * MIB);
    default_to(&l.model_bytes, 512 * MIB);
    default_to(&l.inflate_ratio, 1024);
    default_to(&l.growth_ratio, 20);
    *out = l;
    return PERFILE_OK;
}
