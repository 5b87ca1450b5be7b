/* Spooling: a stream is copied to a temporary file, so that it can be read more than once. */
#include "io/source.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/error.h"
#include "io/source_kind.h"
#include "io/temporary.h"

/* Copies all of `s` to `fd`; *size is the length. limits.spool_bytes bounds it. */
static perfile_status copy_to_file(perfile_source *s, int fd, uint64_t *size, perfile_error *err)
{
    uint64_t limit = s->limits.spool_bytes;
    for (uint64_t at = 0;;) {
        perfile_bytes run;
        perfile_status st = pf_source_run(s, at, 1, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (!run.len) {
            *size = at;
            return PERFILE_OK;
        }
        if (run.len > limit - at)
            return pf_fail(err, PERFILE_E_LIMIT, "spool_bytes",
                           "'%s' is longer than the limit for temporary files, %" PRIu64 " bytes",
                           s->name, limit);
        st = pf_temporary_write(fd, NULL, at, run, "spool", err);
        if (st != PERFILE_OK)
            return st;
        at += run.len;
    }
}

/* The new source names the same inputs as the stream, although it reads from the temporary file. */
perfile_status pf_source_spool(perfile_source *from, perfile_source **spooled, perfile_error *err)
{
    if (pf_source_has_entries(from)) /* a directory has no bytes to copy */
        return pf_fail_io(err, EISDIR, "spool", "cannot read '%s'", from->name);
    int fd = -1;
    perfile_status st = pf_temporary_open(NULL, "spool", &fd, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t size = 0;
    pf_inputs inputs = {0};
    st = copy_to_file(from, fd, &size, err);
    if (st == PERFILE_OK && !pf_inputs_join(&inputs, &from->inputs))
        st = pf_fail_nomem(err, "spool");
    if (st == PERFILE_OK)
        st = pf_source_map(fd, true, size, from->name, &from->options, spooled, err);
    if (st == PERFILE_OK) {
        (*spooled)->inputs = inputs;
        (*spooled)->origin = pf_source_origin_join(from->origin);
    } else {
        /* pf_source_map() owns `fd` from success on; until then it is closed here. */
        pf_inputs_free(&inputs);
        close(fd);
    }
    return st;
}
