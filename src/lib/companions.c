/* Copying the companion files of a capture that is a directory: kcore_dir of `perf record --kcore`.
 *
 * They have no records: every operation that writes a directory copies their bytes. */
#include "lib/registry.h"

#include "base/alloc.h"
#include "core/session.h"
#include "io/out.h"
#include "io/source.h"

enum { COPY_BYTES = 1 << 20 /* of a file, at once */ };

/* Copies all bytes of `from`, which need not stay in memory. */
static perfile_status copy_bytes(perfile_source *from, perfile_sink *to, perfile_error *err)
{
    perfile_bytes run;
    for (uint64_t at = 0;; at += run.len) {
        perfile_status st = pf_source_run(from, at, 1, &run, err);
        if (st != PERFILE_OK || !run.len)
            return st;
        run.len = run.len < COPY_BYTES ? run.len : COPY_BYTES;
        st = perfile_sink_write(to, run, err);
        if (st != PERFILE_OK)
            return st;
        pf_source_release(from, at, run.len);
    }
}

static perfile_status copy_file(const perfile_source *directory, const char *name,
                                perfile_sink *sink, perfile_error *err)
{
    perfile_source *from;
    perfile_sink *to;
    perfile_status st = pf_source_entry(directory, name, &from, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_sink_companion(sink, name, &to, err);
    if (st == PERFILE_OK)
        st = copy_bytes(from, to, err);
    perfile_source_close(from);
    return st;
}

perfile_status pf_companions_copy(const perfile_session *s, perfile_sink *sink, perfile_error *err)
{
    const perfile_source *directory = pf_session_files(s);
    char **names = NULL;
    size_t n = 0;
    if (!directory || !pf_sink_has_parts(sink))
        return PERFILE_OK;
    perfile_status st = pf_source_companions(directory, &names, &n, err);
    for (size_t i = 0; st == PERFILE_OK && i < n; i++)
        st = copy_file(directory, names[i], sink, err);
    pf_free(names);
    return st;
}
