/* The default values of perfile_limits; include/perfile/base.h documents them. */
#include "base/limits.h"

#include "base/options.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static void set_default(uint64_t *limit, uint64_t value)
{
    if (!*limit)
        *limit = value;
}

perfile_status pf_limits_copy(perfile_limits *out, const perfile_limits *given, perfile_error *err)
{
    perfile_limits l;
    perfile_status st = pf_options_copy(&l, given, "limits", err);
    if (st != PERFILE_OK)
        return st;
    set_default(&l.window_bytes, 64 * MIB);
    set_default(&l.inflate_bytes, 256 * MIB);
    set_default(&l.zstd_window, 27); /* as a power of two: 128 MiB */
    set_default(&l.split_bytes, 256 * MIB);
    set_default(&l.session_bytes, 512 * MIB);
    set_default(&l.spool_bytes, 64 * GIB);
    set_default(&l.held_bytes, 64 * MIB);
    set_default(&l.model_bytes, 512 * MIB);
    set_default(&l.symbol_bytes, GIB);
    set_default(&l.inflate_ratio, 1024);
    set_default(&l.growth_ratio, 20);
    set_default(&l.profile_bytes, 512 * MIB);
    *out = l;
    return PERFILE_OK;
}
